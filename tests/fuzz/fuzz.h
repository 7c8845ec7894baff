/* What a fuzzer is: a function that takes bytes. driver.c makes the bytes and knows how to stop.
 *
 * A fuzzer links the kernel's own objects (sanitized). What it gives them must look as a guest or
 * an operator could make it: a crash that needs more is no find. An input that crashed stays in
 * tests/fuzz/corpus/NAME for ever. */
#ifndef VIV_TESTS_FUZZ_H
#define VIV_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

extern const char fuzz_name[]; /* of its folder in the corpus */
extern const size_t fuzz_max; /* bytes of an input */
void fuzz_init(void);
void fuzz_one(const uint8_t *data, size_t size);

/* Ends the run as a find: what must hold after a parse does not. */
#define FUZZ_CHECK(cond) ((cond) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #cond))
_Noreturn void fuzz_fail(const char *file, int line, const char *what);

/* ---- world.c: a small cell with one process, which is this one, so that guest addresses are our
 * own ---- */
struct task;
struct sysargs;
/* The task; its root is an empty tmpfs, its numbers are ours. The first call makes it. */
struct task *world_task(void);
/* Runs a handler as its call; one that would wait is dropped and -EAGAIN. */
int64_t world_call(int64_t (*handler)(struct task *t, const struct sysargs *a), uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		   uint64_t a4, uint64_t a5);
/* Notes how many files, sockets and packets there are; they must be as many later. */
void world_mark(void);
void world_check(void);

#endif
