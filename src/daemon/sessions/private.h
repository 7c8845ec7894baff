/* The inside of a session, which the files of this folder share:
 *   rows.c        what is in the database, and its changes
 *   events.c      its transcript
 *   sessions.c    what clients ask for
 *   process.c     the agent's process: start, end, and what happens then
 *   stream.c      its output and its input
 *   lines.c, rpc.c  reading them
 *   acp.c         what vivd asks the agent
 *   options.c     modes, models and options of the agent
 *   turn.c        prompts
 *   serve.c       what the agent asks vivd: files.c, terminals.c, permission.c
 *   search.c      the index of transcripts
 *   launch.c      what to run */
#ifndef VIV_DAEMON_SESSIONS_PRIVATE_H
#define VIV_DAEMON_SESSIONS_PRIVATE_H

#include "daemon/cells/life.h"
#include "daemon/keepers/follow.h"
#include "daemon/keepers/link.h"
#include "daemon/sessions/lines.h"
#include "daemon/sessions/rpc.h"
#include "daemon/sessions/sessions.h"
#include "daemon/state/fields.h"

#define SESSION_ID_LEN 18 /* "s_" and 16 digits */

enum session_state {
	SESSION_STARTING,
	SESSION_IDLE,
	SESSION_RUNNING,
	SESSION_WAITING, /* for an answer to the agent's question */
	SESSION_CLOSED,
	SESSION_FAILED,
};

/* How far the agent is. The numbers are in the database. */
enum phase {
	PHASE_NONE = 0, /* it has no process */
	PHASE_CELL = 1, /* its cell is being started, or its process */
	PHASE_INIT = 2, /* initialize was sent */
	PHASE_NEW = 3, /* session/new, load or resume, or authenticate before it */
	PHASE_SETUP = 4, /* mode and model */
	PHASE_READY = 5,
	PHASE_ENDING = 6, /* it was asked to end */
};

struct session {
	struct list link;
	struct daemon *d;
	int64_t row;
	char id[SESSION_ID_LEN + 1], cell[CELL_ID_LEN + 1];
	json_t *spec; /* as it was created */
	/* What survives vivd, besides numbers: acp (the agent's id of the session), caps, auth,
	 * calls (ours that are open, by id), asked (the agent's permission requests), terminals,
	 * and what is shown: title, mode, modes, model, models, config_options, usage, error. */
	json_t *live;
	bool live_dirty;
	bool hard; /* something else than events was written: a change that has to be on the disk */
	int64_t now; /* of the record that is being read; 0: none */
	enum session_state state;
	enum phase phase;
	int64_t created, updated;
	int64_t seq, first, bytes; /* the last event, the oldest that is kept, their size */
	int64_t indexed; /* the last event whose text can be searched */
	int64_t run; /* of the cell's keeper: when it started; 0: there is no process */
	uint32_t proc; /* 0: none */
	uint64_t taken; /* of its output: all before it is stored */
	uint64_t err_at; /* the same for its standard error */
	uint64_t skip; /* bytes of a line that is too long */
	uint64_t put_end; /* of its input, with what is still to be written */
	int64_t calls, prompts; /* last numbers that were used */
	int64_t running; /* the prompt whose turn it is; 0: none */
	unsigned queue; /* prompts that wait */
	/* ---- from here on: only while vivd runs ---- */
	struct cell_wait wait; /* for its cell */
	bool waits;
	struct keeper_link *keeper; /* whom it asked something; NULL: nobody */
	/* The link that told that its process has ended: to compare, it may be gone. */
	const void *ended_by;
	bool starting; /* it wants a process as soon as its cell runs */
	bool cell_tried; /* ... which was started for it */
	bool orphans; /* a vivd before us may have started a process that it did not note */
	bool asked; /* a question about its process is on its way */
	bool attached; /* its output is followed */
	bool exited; /* the process has; what it wrote is still read */
	bool cell_over; /* ... because its cell has */
	int status; /* its wait status */
	bool stepping; /* its output is being read */
	bool changed; /* events were added */
	bool removing;
	bool holds; /* its cell does not fall asleep meanwhile */
	struct follow *follow;
	struct lines lines;
	uint64_t line_at; /* where in the output the line that is not complete begins */
	uint64_t told, told_at; /* what the keeper knows as taken, and since when */
	bool putting; /* input is on its way */
	uint64_t replies; /* bytes of answers that the agent has not read */
	unsigned restarts; /* in a row */
	bool serving; /* serve_asks is at work */
	int64_t last_ask; /* the last row of a request that is served, or was */
	unsigned nops; /* requests of the agent that are being served */
	struct list ops; /* struct agent_op */
	struct list setters; /* struct setter: who waits for a change of mode or model */
	struct list watches;
	uv_timer_t *timer; /* of what is waited for; NULL: none */
	void (*timer_fn)(struct session *s);
	uv_timer_t *again; /* the stream has more; NULL: never used */
};

/* ---- rows.c ---- */
/* All changes of a session are made between these two, which are one transaction, and so may be
 * nested. -1: nothing was written, and s is as it was before. */
void session_begin(struct session *s);
int session_end(struct session *s, struct err *e);
/* The same for what was read of the output. soft: if only events were added, they may be written to
 * the disk a moment later. */
int session_end_stream(struct session *s, bool soft);
/* A change was written: what follows from it outside of the database. */
void session_follow(struct session *s);
/* What live says. Takes v; NULL: it is removed. */
void live_set(struct session *s, const char *name, json_t *v);
json_t *live_get(const struct session *s, const char *name);
/* The same for an object or a list, which is made. It counts as changed. */
json_t *live_object(struct session *s, const char *name);
json_t *live_list(struct session *s, const char *name);
/* A new one with its row. Takes spec. NULL: an error. */
struct session *session_add(struct cell *c, json_t *spec, struct err *e);
void session_rows_delete(struct session *s);
void sessions_read(struct daemon *d);
void session_free(struct session *s);
struct list *sessions_all(void);
void state_set(struct session *s, enum session_state state, const char *reason);
const char *state_name(enum session_state state);
/* The state that follows from what is open. */
void state_follow(struct session *s);
/* Lines for the agent. Takes the line. reply: an answer, of which only so many may wait. */
void outbox_add(struct session *s, char *line, bool reply);
void outbox_clear(struct session *s);
/* Prompts that wait. */
void queue_add(struct session *s, int64_t prompt, const json_t *content);
/* The next one, which is removed; NULL: none. */
json_t *queue_take(struct session *s, int64_t *ret_prompt);
/* One of them; NULL: it does not wait. */
json_t *queue_take_one(struct session *s, int64_t prompt);
/* One timer for each session; ms < 0: off. */
void session_timer(struct session *s, int64_t ms, void (*fn)(struct session *s));

/* ---- events.c ---- */
/* data: taken, a whole object. time: nanoseconds since 1970; 0: now. */
void event_put(struct session *s, const char *type, json_t *data, int64_t time);
void event_put_raw(struct session *s, const char *type, const char *data, size_t n, int64_t time);
/* An error, which is also shown with the session if it stays. */
void event_error(struct session *s, const struct err *e);
#define EVENTS_MAX_BYTES (64l << 20)

/* ---- process.c ---- */
/* Within a transaction: wants an agent that runs, in a moment. */
void session_start(struct session *s);
/* Within a transaction: whatever this process of the cell and those that it makes do is the
 * session's, for the journal. */
void process_note(struct session *s, int32_t pid);
/* At once; what follows from its end follows. */
void process_kill(struct session *s);
/* The process has ended, and all that it wrote is read. */
void process_ended(struct session *s);
/* Within a transaction: ends it, and then the session is closed, or failed. */
void process_end(struct session *s, enum session_state then);
/* It is being closed by a client. */
bool session_is_closing(const struct session *s);
/* It has no process, and cannot go on. */
void session_fail(struct session *s, const struct err *e);
/* Its cell is used while a prompt runs or waits, or its agent asks something; and as long as an
 * agent lives that could not go on with its session after a sleep. */
void session_use(struct session *s);
struct keeper_link *session_keeper(const struct session *s);
/* That of its process, which may have ended; NULL: it is gone. */
struct keeper_link *process_keeper(const struct session *s);
/* Its cell may run now, or not any more. */
void session_cell_changed(struct session *s, struct cell *c);
void on_cell(struct cell_wait *w, struct cell *c, bool gone);

/* ---- stream.c ---- */
void stream_open(struct session *s);
void stream_close(struct session *s);
void stream_step(struct session *s);
void put_step(struct session *s);
/* Whether no more of the agent's output is read for now. */
bool stream_is_held(const struct session *s);
void stream_kick(struct session *s);
void stream_later(struct session *s); /* it is opened and read again in a moment */
/* Before cells are known: what can be read of the output of a process that may be gone. */
void stream_drain(struct session *s);

/* ---- acp.c ---- */
bool session_is_acp(const struct session *s);
void acp_begin(struct session *s); /* its process runs */
void acp_watch(struct session *s); /* the same, of one that is met again: its start has an end */
void acp_line(struct session *s, const char *line, size_t n, int64_t time);
/* Sends a request; extra, which is taken, comes back with its answer. */
void acp_call(struct session *s, const char *what, const char *method, json_t *params,
	      json_t *extra);
void acp_notify(struct session *s, const char *method, json_t *params);
bool acp_can_load(const struct session *s);
const char *acp_id(const struct session *s); /* the agent's name of the session; NULL: none */
void acp_update(struct session *s, const json_t *update, const char *raw, size_t n, int64_t time);

/* ---- options.c ---- */
/* Those who wait for this one of our requests (0: for any) are told. */
void setters_end(struct session *s, int64_t call, const struct err *e);
void setters_drop(struct session *s); /* the agent is gone */
/* What a notification or an answer says of mode, model and options. */
void acp_state_take(struct session *s, const json_t *o);
/* Within a transaction: sends a change. what: mode, model or config. */
int option_send(struct session *s, const char *what, const char *option, const json_t *value,
		struct err *e);
/* A value of the agent's that is kept, if it is not too large; else NULL. */
json_t *kept_json(const json_t *v);

/* ---- turn.c ---- */
/* The next prompt, if it is time for it. */
void turn_next(struct session *s);
void turn_end(struct session *s, const char *reason, const json_t *usage);
/* The prompts that wait are dropped. */
void turn_drop(struct session *s, const char *reason);
/* One of them, if it does wait. */
void turn_drop_one(struct session *s, int64_t prompt, const char *reason);
/* Of an agent that does not speak ACP. */
void oneshot_output(struct session *s, const char *p, size_t n, int64_t time);
void oneshot_ended(struct session *s);

/* ---- serve.c ---- */
/* A request of the agent. */
void serve_request(struct session *s, const struct rpc *m, const char *line, size_t n,
		   int64_t time);
/* Those that are kept are served. */
void serve_asks(struct session *s);
void serve_drop(struct session *s); /* the agent is gone */
void serve_detach(
	struct session *s); /* the session is about to be freed; they stay in the database */
#define SERVE_OPS 8 /* at once */

/* Something that is done for a request of the agent, outside of a transaction. */
struct agent_op {
	struct list link;
	struct session *s; /* NULL: gone */
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	int64_t ask; /* its row */
	json_t *id;
	uint32_t proc;
	struct follow *follow;
	int fd; /* -1 */
	struct buf b;
	size_t line, limit;
	char key[24];
	bool stop;
};
struct agent_op *op_new(struct session *s, int64_t ask, const json_t *id);
/* Answers, and frees it. result: taken; NULL: an error. */
void op_result(struct agent_op *op, json_t *result);
void op_error(struct agent_op *op, int code, const char *message);

/* ---- files.c ---- */
void files_read(struct session *s, struct agent_op *op, const json_t *params);
void files_write(struct session *s, struct agent_op *op, const json_t *params);
/* Files of the cell that are needed before its agent starts: path -> content. What is there already
 * stays, but for a description of the cell that vivd wrote before. fn once, later. */
void files_give(struct session *s, const json_t *files,
		void (*fn)(struct session *s, const struct err *f));

/* ---- terminals.c ---- */
void terminal_create(struct session *s, struct agent_op *op, const json_t *params);
void terminal_output(struct session *s, struct agent_op *op, const json_t *params);
/* Within a transaction; they answer at once. */
void terminal_wait(struct session *s, const struct rpc *m);
void terminal_kill(struct session *s, const struct rpc *m, bool release);
void terminals_follow(struct session *s); /* a new vivd has met the agent */
void terminals_end(struct session *s);

/* ---- permission.c ---- */
void permission_ask(struct session *s, const struct rpc *m, int64_t time);
/* All that are open get "cancelled"; gone: nobody hears that. */
void permission_drop(struct session *s, bool gone);
void permission_open(void);
unsigned permission_count(const struct session *s);

/* ---- search.c ---- */
void search_forget(struct session *s, int64_t upto);

/* ---- launch.c ---- */
struct launch {
	json_t *command; /* words */
	json_t *env; /* an object; NULL: none */
	json_t *files; /* path -> content, which it finds in the cell; NULL: none */
	const char *workdir, *user; /* NULL: the cell's */
	bool acp;
	char *prompt; /* what the agent is told about its computer; NULL: nothing */
	/* how: as a file, as the value of an option at the end of its words, as a variable, in
	 * session/new, or as the beginning of the first prompt */
	enum { PROMPT_FILE, PROMPT_OPTION, PROMPT_ENV, PROMPT_META, PROMPT_FIRST } how;
	char *where; /* of a file, an option, a variable; NULL: none */
};
/* What the session runs. launch_free in any case. */
int launch_make(struct session *s, struct cell *c, struct launch *ret, struct err *e);
void launch_free(struct launch *l);

#endif
