/* Our end of a pipe whose other end a process in a cell has, for what a client of vivd sends to
 * that process or gets from it.
 *
 * Nothing is kept in between, and that is all the back-pressure there is: whoever serves the client
 * reads when it takes more, and takes more of it when there was room; otherwise pipe_end_wait() has
 * it told once that another try is worth it. */
#ifndef VIV_API_HTTP_PIPEEND_H
#define VIV_API_HTTP_PIPEEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

struct pipe_end {
	int fd; /* -1: closed, or not opened yet */
	bool reads; /* what the process writes */
	uv_loop_t *loop;
	uv_poll_t *poll; /* NULL: it was never waited for */
	void (*ready)(struct pipe_end *e); /* once for each pipe_end_wait() */
	void *owner;
};

void pipe_end_init(struct pipe_end *e, uv_loop_t *loop, void (*ready)(struct pipe_end *e),
		   void *owner);
/* Makes the pipe. Returns the process's end, which is the caller's, or -errno. */
int pipe_end_open(struct pipe_end *e, bool reads);
/* Makes it the end of a pipe that is there already. Takes fd, which does not block. */
void pipe_end_adopt(struct pipe_end *e, int fd, bool reads);
/* Gives it more room than usual. That pays for much data only, and such pages of a user are counted
 * (pipe-user-pages-soft in proc(5)). */
void pipe_end_widen(struct pipe_end *e);
/* Also one that is closed. ready() is not called any more. */
void pipe_end_close(struct pipe_end *e);

/* How many bytes; 0: none now. -1: nor ever, and it is closed. */
ssize_t pipe_end_read(struct pipe_end *e, void *buf, size_t size);
ssize_t pipe_end_write(struct pipe_end *e, const void *data, size_t size);
/* ready() follows. False: it cannot be waited for, and is closed. */
bool pipe_end_wait(struct pipe_end *e);

#endif
