/* Processes that are attached to requests; see exec.c. */
#ifndef VIV_API_EXEC_H
#define VIV_API_EXEC_H

#include "api/cells.h"

struct exec_end {
	int fd; /* ours of the pipe; -1: closed */
	uv_poll_t *poll;
	struct exec *x;
	char kept[4]; /* the begin of a character */
	size_t nkept;
};

struct exec {
	struct op op; /* first: until it has started */
	struct daemon *d;
	struct list entry; /* among all */
	struct keeper_link *link; /* NULL: the cell has ended */
	char cell[CELL_ID_LEN + 1];
	struct request *r; /* the stream; NULL: not yet */
	uint32_t proc;
	int pid;
	struct exec_end end[3];
	struct buf input; /* that is still to be written, from input_at on */
	size_t input_at;
	bool input_ends; /* after it */
	void (*input_done)(struct exec *x); /* who waits for that; once */
	struct op *input_op;
	bool framed; /* bytes in frames, not lines of JSON */
	bool detached, told_start, told_exit, exited, lost;
	int status; /* wait status */
	int turn;
};

/* One that runs; NULL: none. */
struct exec *exec_find(const struct cell *c, uint32_t proc);
/* Writes what can be written of the input. */
void exec_input_step(struct exec *x);
/* Adds to the input; -1: not base64. */
int exec_input_decode(struct exec *x, const char *coded);
void exec_poll(struct exec *x, int end, int events);
/* An answer that nobody wants. */
void exec_ignore(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);

#endif
