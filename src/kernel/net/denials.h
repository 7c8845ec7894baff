/* /run/viv/denials: what was refused lately, and why, for the programs of a cell and those who read
 * what they print. A cell that is granted a network or tools has it. */
#ifndef VIV_KERNEL_NET_DENIALS_H
#define VIV_KERNEL_NET_DENIALS_H

#include <stddef.h>

struct pinode;
struct task;
struct textbuf;

/* Adds a line: the time and the text, of which nothing is believed. One like the last is counted.
 */
void denials_add(const char *text, size_t n);
/* The file, as pnode.show. */
int denials_show(struct pinode *pi, struct task *t, struct textbuf *b);

#endif
