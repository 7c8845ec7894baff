/* Processes that something outside is attached to. Their streams are pipes whose other ends the
 * cell has (pipeend.h), and they are hung up when the client goes; or they outlive it: then their
 * output goes to a log of the keeper's (follow.h), and only their input is a pipe, which others may
 * write to as well.
 *
 * exec_new, exec_start, and then, by way of the ops: failed (it is freed), or started, and ready as
 * often as one of its ends was waited for and once when the process has ended. Who goes away calls
 * exec_hangup and exec_free. */
#ifndef VIV_API_EXEC_EXEC_H
#define VIV_API_EXEC_EXEC_H

#include "api/cells.h"
#include "daemon/keepers/follow.h"
#include "api/http/pipeend.h"

struct exec;

/* Whom it is attached to. */
struct exec_ops {
	void (*started)(struct exec *x);
	void (*failed)(struct exec *x, const struct err *f); /* x is freed after it */
	void (*ready)(struct exec *x); /* its output can be read, or it has ended; it runs */
	/* its input is written, or it reads no more; NULL: nobody wants to know */
	void (*drained)(struct exec *x);
};

struct exec {
	struct op op; /* first: of a request, until it has started */
	const struct exec_ops *ops;
	struct daemon *d;
	struct list entry; /* among all */
	struct keeper_link *link; /* NULL: the cell has ended */
	char cell[CELL_ID_LEN + 1];
	uint32_t proc;
	int pid;
	struct pipe_end end[3];
	struct buf input; /* that is still to be written, from input_at on */
	size_t input_at;
	bool input_ends; /* after it */
	unsigned resizing; /* window sizes that are not set yet: input that came after them waits */
	bool input_over; /* another client ended it */
	void (*input_done)(struct exec *x); /* who waits for that; once */
	struct op *input_op;
	/* where the output of one that outlives its client is; NULL: it is in the pipes */
	struct follow *log;
	uint64_t cursor; /* where that was begun with */
	bool outlives; /* its client, and vivd */
	bool attached; /* somebody else started it */
	bool tty; /* of an attached one */
	bool detached, running, exited, lost, timed_out;
	int status; /* wait status */
	int turn; /* which of its streams is read next */
	/* A request's (exec.c) */
	struct request *r; /* the stream; NULL: not yet */
	bool framed; /* bytes in frames, not lines of JSON */
	bool told_start, told_exit;
	struct {
		char bytes[4];
		size_t n;
	} kept[3]; /* of each stream: the begin of a character */
	/* A WebSocket's (execws.c) */
	struct wsexec *ws; /* NULL: gone */
};

/* GET .../attach, as a stream (exec.c) and over a WebSocket (websocket.c; proc 0: the client's
 * first message says what to start). */
void exec_attach_stream(struct request *r, struct cell *c, uint32_t proc, uint64_t cursor);
void exec_attach_socket(struct request *r, struct cell *c, uint32_t proc, uint64_t cursor);

/* What its description may have. */
extern const struct field exec_fields[];
extern const unsigned nexec_fields;

struct exec *exec_new(struct daemon *d, struct cell *c, const struct exec_ops *ops);
/* Begins to start it in c, which has a keeper. o: checked by exec_fields. On failure it stays the
 * caller's to free. */
int exec_start(struct exec *x, struct cell *c, const json_t *o, struct err *f);
/* Begins to attach to a process that outlives its clients, instead; the output begins at the cursor
 * (LOG_OLDEST; EXEC_NOW: what it writes from now on). */
#define EXEC_NOW (UINT64_MAX - 1)
int exec_attach(struct exec *x, struct cell *c, uint32_t proc, uint64_t cursor, struct err *f);
/* The same for its input only: exec_input_step() follows, and then drained(). */
int exec_attach_input(struct exec *x, struct cell *c, uint32_t proc, struct err *f);
void exec_free(struct exec *x);
/* One that runs; NULL: none. */
struct exec *exec_find(const struct cell *c, uint32_t proc);

/* Writes what can be written of the input. */
void exec_input_step(struct exec *x);
/* Adds to the input; -1: not base64. */
int exec_input_decode(struct exec *x, const char *coded);

/* Lines of JSON with their newline. */
ssize_t exec_start_line(const struct exec *x, char *buf, size_t size);
/* Bytes are missing in the log: a line that says so, or 0. */
ssize_t exec_dropped_line(struct exec *x, char *buf, size_t size);
ssize_t exec_exit_line(const struct exec *x, char *buf, size_t size);

/* Asks its keeper for something about it; nobody waits for the answer. */
void exec_tell(struct exec *x, struct keep_msg m);
/* A window size, which is set before input that comes later is read. */
void exec_resize(struct exec *x, int rows, int cols);
/* SIGHUP and SIGCONT, if it still runs and does not outlive its client. */
void exec_hangup(struct exec *x);

#endif
