/* /run/viv/denials: what was refused lately, and why, for the programs of a cell and those who read
 * what they print. Only a cell that is granted a network has it. */
#ifndef VIV_KERNEL_NET_DENIALS_H
#define VIV_KERNEL_NET_DENIALS_H

#include <stddef.h>

struct fs;

/* Adds a line: the time and the text, of which nothing is believed. One like the last is counted.
 */
void denials_add(const char *text, size_t n);
/* The file system of /run/viv; returns ref, or NULL. */
struct fs *denials_fs_new(void);

#endif
