/* viv mcp: an MCP server through which an agent uses cells. How the parts fit:
 *
 *   message   reads and writes messages
 *   server    answers what needs no cell by itself; everything else becomes a call
 *   call      a call is a process of its own: it asks vivd, one request at a time, and can be
 *             cancelled by a signal, whatever it waits for
 *   tools     the table of tools, their schemas, and the check of arguments
 *   tool_*    what they do
 *   turn      follows an agent in a cell until it has answered
 *   resources files and logs as resources
 *   stdio, http   how messages come and go
 *
 * The server itself never waits for a cell. */
#ifndef VIV_CLI_MCP_MCP_H
#define VIV_CLI_MCP_MCP_H

#include <stdio.h>

#include "cli/mcp/message.h"
#include "spec/options.h"

/* ---- what the operator said ---- */

struct mcp_options {
	bool read_only;
	const char *cell; /* the only cell there is; NULL: all */
	struct run_options *create; /* what every new cell has */
};
extern struct mcp_options mcp;

/* ---- the loop (loop.c) ---- */

/* Calls fn when fd has one of the events of poll(2); events 0: never. Replaces what was set for
 * fd. */
void watch_set(int fd, short events, void (*fn)(void *arg, short revents), void *arg);
void watch_drop(int fd);
/* Until loop_stop(), or SIGINT or SIGTERM. tick is called at least once a second. */
void loop_run(void (*tick)(void));
void loop_stop(void);

/* ---- sessions (server.c) ---- */

/* Where the answers to messages go: a stream of messages. */
struct sink {
	void (*send)(struct sink *k, const char *message, size_t n);
	/* A request that came through it is answered, or never will be. */
	void (*done)(struct sink *k);
};

struct session {
	bool initialized;
	bool batches; /* its version has lists of messages */
};

/* A message, or a list of them, that is not parsed yet; NULL: one that was too long. */
void session_take(struct session *s, struct sink *k, const char *text, size_t n);
/* Cancels all its calls. */
void session_end(struct session *s);

/* ---- calls (call.c) ---- */

struct task;
/* What a call does, in its own process: writes the result, an object of JSON, to out. 0; or -1 with
 * either an error of vivd's or of the protocol. */
typedef int (*task_fn)(struct task *t, FILE *out);

struct task {
	const void *what; /* the tool, for tools/call */
	const struct json *params; /* of the request; NULL: none */
	struct err e;
	struct rpc_error rpc; /* its text is set: this is the error */
	int fd; /* to the server */
	bool progress; /* the client wants to know how far it is */
};

/* k is told when it has ended. */
void call_start(struct session *s, struct sink *k, const char *id, const struct json *params,
		task_fn fn, const void *what);
/* By the id of its request, as JSON: nobody hears of it again. */
void call_cancel(struct session *s, const char *id);
/* Nobody listens to k any more; its calls go on. */
void calls_forget(struct sink *k);
/* Cancels all of a session (NULL: all there are). */
void calls_cancel(struct session *s);
bool calls_any(void);
void calls_tick(void);

/* Of a task: tells the client a line about what happens, if it wants to know, and not too often.
 * force: whenever it was. */
void task_tell(struct task *t, const char *text, size_t n, bool force);
/* From here on, cancelling sets a bit of *flags instead of ending the process and, if something has
 * started that is to be ended with it, breaks the request to vivd off. */
#define TASK_CANCELLED 1
#define TASK_STARTED 2 /* set by the task */
void task_hold(volatile int *flags);

/* ---- tools (tools.c) ---- */

struct answer {
	FILE *text; /* for the model */
	FILE *data; /* the same for programs: an object of JSON; empty: none */
};

enum arg_type { ARG_TEXT, ARG_TEXTS, ARG_MAP, ARG_COUNT, ARG_NUMBER, ARG_BOOL, ARG_CHOICE };

struct tool_arg {
	const char *name;
	enum arg_type type;
	bool required;
	double min, max; /* of a number; of a text the most bytes (0: any) */
	const char *about;
	const char *choices[4];
};

#define TOOL_WRITES 1 /* not with --read-only */
#define TOOL_CELLS 2 /* about cells in general: not with --cell */
#define TOOL_DESTROYS 4
#define TOOL_REPEATABLE 8 /* twice is as once */
#define TOOL_OUTSIDE 16 /* what it runs may reach the outside */

struct tool {
	const char *name, *title, *about;
	int (*run)(struct task *t, const struct json *args, struct answer *a, struct err *e);
	const struct tool_arg *args;
	unsigned nargs;
	unsigned flags;
	const char *output; /* schema of its data; NULL: not described */
};

/* NULL: there is none, or it is not for this server. */
const struct tool *tool_find(const char *name);
/* {"tools":[...]} */
void tools_write(FILE *to);
/* Are these arguments what the tool takes? -1 with an error that says which is not. */
int must_check tool_check(const struct tool *tool, const struct json *args, struct err *e);
/* The result of a tool, errors included. */
int tool_call(struct task *t, FILE *out);

/* The cell that arguments name, which has been checked. */
const char *arg_cell(const struct json *args);
/* Is this a cell that the server may use? Else -1. */
int must_check cell_is_ours(const char *cell, struct err *e);
bool arg_flag(const struct json *args, const char *name);
uint64_t arg_count(const struct json *args, const char *name, uint64_t otherwise);

/* ---- what tools share (bounded.c) ---- */

/* The beginning and the end of what may be endless. */
struct bounded {
	char *head, *tail;
	size_t max; /* of each half */
	size_t nhead;
	uint64_t total, ntail; /* bytes that came; those of them that went to the tail */
};
void bounded_init(struct bounded *b, size_t max);
void bounded_add(struct bounded *b, const char *data, size_t n);
/* All that is kept, with a note where something is missing; free() it. */
char *bounded_text(const struct bounded *b, size_t *ret_len);
bool bounded_is_cut(const struct bounded *b);
void bounded_fini(struct bounded *b);

/* An entry of a stream of vivd's: its bytes, text or base64, decoded in place. */
const char *entry_bytes(const struct json *entry, size_t *ret_len);
/* A GET of vivd whose answer is bytes: skips the first, gives up to max of the rest to b;
 * ret_more: there is more. 0 or -1. */
int must_check bytes_get(const char *path, uint64_t skip, size_t max, struct buf *b, bool *ret_more,
			 struct err *e);

/* ---- resources (resources.c) ---- */

void templates_write(FILE *to);
int resources_list(struct task *t, FILE *out);
int resources_read(struct task *t, FILE *out);

/* ---- the tools ---- */

extern const struct tool cell_tools[], exec_tools[], file_tools[], disk_tools[], agent_tools[],
	session_tools[];
extern const unsigned ncell_tools, nexec_tools, nfile_tools, ndisk_tools, nagent_tools,
	nsession_tools;

/* ---- transports ---- */

void stdio_begin(void);
void stdio_end(void);

#endif
