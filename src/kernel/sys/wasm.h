/* WebAssembly modules as programs. */
#ifndef VIV_KERNEL_SYS_WASM_H
#define VIV_KERNEL_SYS_WASM_H

#include "base/base.h"

#define WASM_WORDS 16

/* Does a file that begins like this hold a module? */
bool wasm_is_module(const void *head, size_t n);
/* The words in front of the module's path that run it with command (NULL: the default, which is
 * found at interp). They point into static memory. Returns how many, at most WASM_WORDS. */
unsigned wasm_words(const char *command, const char *interp, const char **words);
/* Places where the default is looked for; NULL behind the last. */
extern const char *const wasm_default_places[];
/* Said once, when a module is executed and there is nothing to run it with; may be NULL. */
extern void (*wasm_missing)(const char *text);
void wasm_say_missing(const char *module, const char *command);

#endif
