/* Tools: programs and MCP servers of the operator's that cells can call (docs/tools.md).
 *
 *   store.c    what tools there are: rows of the database
 *   schema.h   what arguments a tool takes
 *   door.c     connections of cells (wire/tools.h)
 *   request.c  what is said on them
 *   grants.c   what a cell may call
 *   call.c     one call, from the request to the exit status
 *   hosted.h   a program that runs for a cell
 *   mcp.c      MCP servers: their tools are subcommands
 *
 * A tool is an object of JSON: name, description, kind ("command" or "mcp"), command (its words),
 * timeout (seconds), max_output (bytes), and schema, or subcommands: objects with name, description
 * and schema; of an MCP server also skipped: those that cannot be used, with name and reason. */
#ifndef VIV_DAEMON_TOOLS_TOOLS_H
#define VIV_DAEMON_TOOLS_TOOLS_H

#include <jansson.h>

#include "daemon/cells/cells.h"

#define TOOLS_MAX 256
#define TOOL_TIMEOUT 60 /* seconds, by default */
#define TOOL_TIMEOUT_MAX 86400
#define TOOL_OUTPUT (1 << 20) /* bytes, by default */
#define TOOL_OUTPUT_MAX (1 << 30)
#define TOOL_SUBCOMMANDS 256
#define TOOL_TEXT_MAX 4096 /* of a description */

/* At the start, with the database open and before cells are. */
void tools_open(struct daemon *d);

/* ---- store.c ---- */

/* All, by name: a list, the caller's. */
json_t *tools_all(struct daemon *d);
/* One; the caller's. NULL: there is none (ERR_NOT_FOUND). */
json_t *tool_load(struct daemon *d, const char *name, struct err *e);
/* Adds it, or replaces the one of that name; with its event. */
int must_check tool_save(struct daemon *d, const json_t *tool, bool *ret_new, struct err *e);
int must_check tool_remove(struct daemon *d, const char *name, struct err *e);
/* What a cell is told of it: without its command. shown: subcommands for which this is true. */
json_t *tool_shown(const json_t *tool, bool schemas, bool (*shown)(void *arg, const char *sub),
		   void *arg);
/* Its subcommand; NULL: it has none of that name. Borrowed. */
const json_t *tool_sub(const json_t *tool, const char *name);
bool tool_is_mcp(const json_t *tool);
/* "NAME" or "NAME/SUBCOMMAND", as rules have it. */
struct tool_path {
	char str[160];
};
struct tool_path tool_path(const char *tool, const char *sub);

/* ---- door.c ---- */

struct door;

/* A request, checked but for what it names (request.c); the caller's. NULL: an error. */
json_t *door_request(const char *text, size_t n, struct err *e);

/* A line for the program in the cell. Takes it. */
void door_say(struct door *c, json_t *line);
/* The same, and then the connection ends: c is the door's alone. */
void door_finish(struct door *c, json_t *line);
void door_fail(struct door *c, const struct err *e, int status);
/* Bytes that the program has not read yet. */
size_t door_unread(const struct door *c);
struct cell *door_cell(const struct door *c); /* NULL: it is gone */
struct daemon *door_daemon(const struct door *c);
const char *door_program(const struct door *c);
/* May its cell make another approval now? */
bool door_may_ask(struct door *c);
bool cell_may_ask(struct daemon *d, const char *cell);
/* An event of a cell's call. Of those that are too many, the next one says how many. Takes data. */
void door_event(struct daemon *d, const char *type, const char *cell, json_t *data);

/* ---- grants.c ---- */

/* What a cell may call, as its keeper said. */
struct grants;
void grants_free(struct grants *g);
struct grants *grants_read(int fd); /* NULL: it cannot be read */
/* Could its rules allow any cell in it? */
bool grants_may_have_cells(const struct grants *g);
/* May there be one more cell of this image below the one whose rules these are, which has count of
 * them? depth: how far below. max, depth_max: what counts where the rule has no bounds. */
struct grants_cells {
	const char *image;
	unsigned count, depth;
	unsigned max, depth_max;
};
/* The rules of a cell in it that has these of its own (NULL: none); NULL: an error. */
json_t *grants_within(const struct grants *g, const json_t *own, struct err *e);
/* Of rules about the network, the hosts that they allow and the cell's rules deny: a list. */
json_t *grants_denied(const struct grants *g, const json_t *rules);
/* Its rules in force; borrowed. */
const json_t *grants_rules(const struct grants *g);
/* What the cell was started with; NULL: its keeper is of an older version. */
const json_t *grants_settings(const struct grants *g);
/* rule (may be NULL): as text, the caller's to free; NULL: none. */
enum tool_verdict { TOOL_DENY, TOOL_ALLOW, TOOL_ASK };
enum tool_verdict grants_cells(const struct grants *g, const struct grants_cells *q,
			       char **ret_rule);
enum tool_verdict grants_decide(const struct grants *g, const char *path, char **ret_rule);

/* ---- call.c ---- */

struct call;

/* Begins a call for a connection. Takes tool and arguments. NULL: it was answered. */
struct call *call_begin(struct door *c, const struct grants *g, json_t *tool, const char *sub,
			json_t *arguments);
/* The program in the cell is gone: so is the call. */
void call_cancel(struct call *x);
/* It has read what was written: there is room. */
void call_room(struct call *x);
/* At the start: answers to questions of calls are call.c's. */
void calls_open(struct daemon *d);

/* ---- mcp.c ---- */

struct mcp_call;

struct mcp_ops {
	/* The answer to tools/call, borrowed; NULL: none, e says why. The call is over. */
	void (*done)(void *arg, const json_t *result, const struct err *e);
};

/* Calls a tool of the server that runs for this cell, which is started if need be. Borrows
 * everything. NULL: e says why. */
struct mcp_call *mcp_call(struct cell *c, const json_t *tool, const char *sub,
			  const json_t *arguments, const struct mcp_ops *ops, void *arg,
			  struct err *e);
/* The server is told that nobody waits; done() is not called. */
void mcp_cancel(struct mcp_call *x);

/* Asks a server for its tools: fn gets subcommands and skipped (the callee's), or e. */
typedef void (*mcp_listed_fn)(void *arg, json_t *subs, json_t *skipped, const struct err *e);
int must_check mcp_list(struct daemon *d, char *const *argv, const char *name, mcp_listed_fn fn,
			void *arg, struct err *e);

#endif
