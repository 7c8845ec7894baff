/* The inside of a keeper: what the process that runs a cell knows of it. One for each process,
 * either a viv-keeper or the viv of 'viv run'. The files of this folder that include this share it:
 *   watch.c   its life: the kernel's messages, deadlines, the end (the loop: stay.c)
 *   serve.c   clients: the socket, and what is sent to them
 *   requests.c  what they ask for
 *   pending.c   what the kernel answers of that
 *   procs.c   processes that clients started
 *   snapshots.c  snapshots that are made, forgotten, or gone back to
 *   events.c  numbered events, the last of which are kept
 *   log.c     output that is kept
 *   ports.c   connections from the host into the cell
 *   door.c    connections from the cell to vivd */
#ifndef VIV_KEEPER_KEEPER_H
#define VIV_KEEPER_KEEPER_H

#include "wire/bootspec.h"
#include "keeper/client.h"
#include "keeper/rootfs.h"
#include "keeper/stay.h"

struct client;
struct log;
struct isolated;

struct keeper {
	const struct run_options *o;
	struct rootfs *rootfs;
	const struct isolated *kernel;
	struct cgroup *cgroup;
	struct stay stay;
	struct channel control;
	struct source pidfd;
	struct source memory; /* the host killed something for lack of it */
	unsigned long oom_kills; /* that were told of */
	int ready; /* who started us waits here for one struct keep_msg; -1: nobody */
	bool detached; /* a viv-keeper: nobody sits at a terminal */
	bool alone; /* of a 'viv run' without a name: no other process can be started in it */
	bool killed;
	bool finishing; /* CTL_END was sent */
	int end_wanted; /* the last signal by which somebody wanted it to end */
	int64_t end_until; /* for so long */
	enum keep_state state;
	enum keep_reason reason; /* 0: not known yet */
	struct err failure; /* why it failed; kind 0: it did not */
	int64_t started; /* nanoseconds since 1970 */
	int64_t began; /* the same by the monotonic clock */
	char id[KEEP_ID_LEN + 1];
	bool pooled; /* it waits in a pool, for its first request */
	bool idle; /* it goes on without a first process */
	bool leave; /* its logs and the record of its end stay */
	bool word; /* the record does, as somebody asked for it (KEEP_WORD) */
	struct client *leash; /* whose end is the cell's; NULL: nobody's */
	struct source listening; /* fd -1: nobody is listened to */
	struct list clients;
	unsigned nclients;
	struct list procs;
	unsigned nprocs;
	uint32_t last_proc, last_request;
	struct list pending; /* requests that the kernel has yet to answer */
	unsigned npending;
	struct client *sealing; /* who asked for a seal; NULL: nobody, or gone */
	bool seal_runs;
	uint32_t seal_id, seal_layer;
	char seal_name[DISK_NAME_MAX + 1];
	char rollback[DISK_NAME_MAX + 1]; /* snapshot that is gone back to at the end; "": none */
	struct client *rolling; /* who asked for that; NULL: nobody, or gone */
	uint32_t rollback_id;
};

extern struct keeper keeper;

/* ---- watch.c ---- */
void state_set(enum keep_state state);
/* The command of our own options. */
void first_start(void);
/* The cgroup is there: what the host kills in it is told. */
void memory_follow(void);
/* To the kernel. Takes fds. False: it does not read. */
bool control_put(const struct ctl_msg *m, const int *fds, unsigned nfds);
void kernel_kill(void);
void cell_stop(int64_t grace);
/* Text from the cell's side as an error: what follows the mark REMEDY is its remedy. */
void text_err(const struct ctl_msg *m, enum err_kind kind, struct err *e);
/* For a warning or a failure of the cell: shown to who sits at the terminal, or kept as an
 * event. */
void text_tell(bool is_result, const char *text, size_t size);

/* ---- cell.c ---- */
/* An id for a cell that has none of its own. 0, or -1 with a message. */
int id_random(struct err *e);

/* ---- serve.c ---- */
/* Listens for the cell's id. 0, or -1 with a message. */
int serve_open(struct err *e);
/* The same for a cell in the foreground without a name, when it has started: it is found by those
 * who look for cells, and vivd is not woken for it. If that is not possible it is not found. */
void serve_listed(void);
/* The first client of a cell in a pool, whose end is the cell's. Takes fd. */
int serve_leash(int fd);
/* The first process is over, and whoever has the cell on the leash goes when he hears it: he may
 * remove the image then. */
void leash_over(void);
/* CTL_STOP, for who asked for it. */
void leash_suspend(void);
/* The cell is gone: those who end with it (KEEP_LEASE) see it at once. */
void serve_leases_end(void);
/* The only client of a visited cell, likewise. Takes fd. */
void serve_visitor(int fd);
/* No more clients; those that are there get what waits for them, for a second. */
void serve_close(void);
void client_send(struct client *c, uint32_t id, struct keep_msg *m, const int *fds, unsigned nfds);
void client_err(struct client *c, uint32_t id, int status, const struct err *e);
void client_fail(struct client *c, uint32_t id, enum err_kind kind, int status, const char *fmt,
		 ...) printf_like(5, 6);
void client_ok(struct client *c, uint32_t id, uint64_t n);
void clients_events(void); /* there are new ones */
/* KEEP_SUBSCRIBE. */
void client_subscribe(struct client *c, const struct keep_msg *in);
/* KEEP_LEASE: it ends with the cell. */
void client_lease(struct client *c);

/* ---- requests.c ---- */
/* Of a client. Takes fds; in is changed. */
void client_request(struct client *c, struct keep_msg *in, const int *fds, unsigned nfds);

/* ---- pending.c ---- */
/* To the kernel, whose answer comes to pending_answer. Takes fds. False: it does not take it, which
 * was answered. */
bool pass_on(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
	     unsigned nfds);
/* The same, and fd is kept until then (inbound_done). It stays the caller's on failure. */
bool pass_on_kept(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
		  unsigned nfds, int kept);
/* An answer to a request that was passed on. */
void pending_answer(const struct ctl_msg *m);
void pending_client_gone(const struct client *c);
/* The cell has ended: those that wait are told. */
void pending_end(void);

/* ---- ports.c ---- */
/* Before the cell starts: listens at the ports that o publishes. */
int must_check ports_open(const struct run_options *o, struct err *e);
/* From now on connections are handed to the kernel. */
int must_check ports_follow(struct err *e);
void ports_close(void);
bool ports_are_open(void);
/* When the last connection came, nanoseconds since 1970; 0: none did. */
int64_t ports_used(void);
/* Gives the client the sockets in KEEP_PORTS messages; those who come from now on are for whoever
 * has them. */
void ports_leave(struct client *c, uint32_t id);
/* The kernel has taken the connection (0), or -errno. Takes fd, our copy of it. */
void inbound_done(int fd, int err);
/* KEEP_DIAL. Takes fds. */
void dial_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds);
/* KEEP_PORTS. */
void ports_request(struct client *c, const struct keep_msg *in);

/* ---- door.c ---- */
/* Before the cell starts: its tools, the descriptor of the program behind them, and that of viv
 * itself if it may make cells; -1: it has none. The names are o's to keep. */
int must_check door_prepare(struct run_options *o, const char **ret_tools, int *ret_program,
			    int *ret_viv, struct err *e);
void door_message(const struct ctl_msg *m); /* CTL_DOOR */
/* KEEP_DOOR, KEEP_TOOLS. */
void door_request(struct client *c, const struct keep_msg *in);
void tools_request(struct client *c, const struct keep_msg *in);
void door_client_gone(const struct client *c);
void door_close(void);
bool door_is_open(void);
bool door_has_cells(void); /* it may lead to the API */

/* ---- lease.c ---- */
/* The cell ends with the one that made it. 0, or -1: that one does not run. */
int must_check lease_open(const char *parent, struct err *e);

/* ---- snapshots.c ---- */
/* KEEP_SEAL. */
void seal_request(struct client *c, const struct keep_msg *in);
/* The kernel has made it (0), or -errno. */
void seal_end(int err);
/* KEEP_FORGET. */
void forget_request(struct client *c, const struct keep_msg *in);
/* KEEP_ROLLBACK. */
void rollback_request(struct client *c, const struct keep_msg *in);
/* The kernel is gone: does it, if it was asked for. */
void rollback_end(void);

/* ---- limits.c ---- */
/* Before the start: what the spec has of them, and the cgroup. */
int limits_prepare(const struct run_options *o, struct bootspec *s, struct cgroup *cg,
		   struct err *e);
/* KEEP_LIMITS. */
void limits_request(struct client *c, const struct keep_msg *in);
/* The kernel has taken them (0), or -errno. c NULL: who asked is gone. */
void limits_answer(struct client *c, uint32_t id, int err);
/* For a cell in which nothing ran yet: the cgroup is made, and m is what the kernel is to be
 * told. */
int limits_fresh(const struct run_options *o, struct ctl_msg *m, struct err *e);

/* ---- rules.c ---- */
/* The compiled form of rules for the kernel, as a sealed memory file; *ret_fd -1: it has none to
 * decide by. */
int rules_compile(char *const *lines, int *ret_fd, struct err *e);
/* The spec of a process (wire/execspec.h) without such variables. Takes it, returns it or another;
 * -1: it cannot be used. */
int rules_exec(char *const *lines, int spec);
/* Could they allow a cell in the cell? */
bool rules_may_have_cells(char *const *lines);
/* Is one of the rules about the network? Without any the cell has none while it runs. */
bool rules_have_net(char *const *lines);

/* ---- asks.c ---- */
bool asks_are_open(void);
void asks_message(const struct ctl_msg *m); /* CTL_ASK, CTL_WITHDRAW */
/* KEEP_ASKS, KEEP_ANSWER. */
void asks_request(struct client *c, const struct keep_msg *in);
void answer_request(struct client *c, const struct keep_msg *in);

/* ---- pooled.c ---- */
/* The words of a sealed memory file as an argv whose first is "run"; NULL: they are damaged, or
 * there is no memory. */
char **words_read(int fd, int *ret_n);
/* The first request to a cell of a pool. False: it cannot be used, which was answered. */
bool pool_leave(struct client *c, const struct keep_msg *in);
/* KEEP_TAKE. Takes fds. */
void take_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds);
/* The kernel has done its part (0), or -errno. */
void take_answer(struct client *c, uint32_t id, int err);

/* ---- gatectl.c ---- */
/* KEEP_POLICY. Takes fds. */
void policy_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds);
void policy_client_gone(const struct client *c);
/* The kernel has taken its part of it (0), or -errno. */
void policy_taken(int err);

/* ---- procs.c ---- */
struct kproc {
	struct list link;
	uint32_t num;
	int pid; /* in the cell; 0: not started yet */
	uint32_t flags; /* KEEP_X_ */
	uint64_t tag; /* of struct keep_exec */
	bool ended;
	int status; /* wait status */
	int64_t started;
	int64_t deadline; /* then SIGTERM, then SIGKILL; 0: none */
	bool termed; /* it passed, and SIGTERM was sent */
	struct client *owner; /* NULL: nobody */
	uint32_t owner_id;
	struct list waiters;
	struct log *log; /* NULL: its output is not kept */
	int input; /* what it reads from, held open; -1 */
	bool forgotten; /* nobody wants its output any more */
	bool leaving; /* it has ended, but its output is not written yet; status is set */
	struct put *put; /* the input of one with KEEP_X_WHOLE; NULL: none */
	char command[160];
};

struct kproc *proc_by_num(uint32_t num);
/* KEEP_EXEC. Takes fds. c NULL: the keeper's own, detached. */
void proc_start(struct client *c, uint32_t id, const struct keep_exec *x, const int *fds,
		unsigned nfds);
/* The first process of the spec, which the kernel starts by itself. */
void proc_first(void);
void proc_wait(struct client *c, uint32_t id, struct kproc *p);
/* KEEP_ATTACH. */
void proc_attach(struct client *c, uint32_t id, struct kproc *p);
/* KEEP_CLOSE_INPUT. */
void proc_close_input(struct kproc *p);
/* KEEP_TAKEN. */
void proc_taken(struct kproc *p, uint64_t position);
/* ---- put.c ---- */
/* KEEP_PUT. Takes fds. */
void put_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds);
void put_client_gone(const struct client *c);
/* Its process has ended, or its input is closed. */
void put_end(struct kproc *p);

void procs_message(const struct ctl_msg *m); /* CTL_STARTED, CTL_EXEC_FAIL, CTL_PROC_EXIT */
void procs_client_gone(struct client *c);
void procs_signal_all(int sig);
bool procs_are_running(void);
/* One that somebody runs: not the first process, no agent of a session, no check of vivd's. */
bool procs_are_used(void);
int64_t procs_deadline(void); /* the next one; 0: none */
void procs_time(void); /* deadlines that have passed */
/* CTL_EXIT. */
void procs_first_ended(int wait_status);
/* The cell is gone, and with it all of them. */
void procs_end(void);
void procs_free(void);

/* ---- events.c ---- */
/* The last one. e: why it failed; kind 0: it did not. */
void event_end(int status, enum keep_reason reason, const struct err *e);
void event_add(enum keep_event_kind kind, const struct kproc *p, int a, int b, const char *text);
uint64_t events_next(void); /* the number of the next one */
uint64_t events_first(void); /* the oldest one that is kept */
const struct keep_msg *event_get(uint64_t n); /* of those that are kept */
/* The last one becomes RUN/cells/ID.end, if it is to be left. Locked until we are gone, and with us
 * the locks of our disks. */
void event_leave(void);

/* ---- result.c ---- */

void result_message(const struct ctl_msg *m);
/* What came becomes RUN/cells/ID.result, under the same condition. */
void result_leave(void);

/* ---- log.c ---- */
/* Takes the reading ends; -1: none. NULL: it cannot be made, and they are closed. whole: nothing is
 * dropped (KEEP_X_WHOLE). */
struct log *log_new(uint32_t proc, int out, int err, bool whole);
/* KEEP_TAKEN. */
void log_taken(struct log *l, uint64_t position);
/* When log_time() is to be called; 0: not. */
int64_t log_deadline(const struct log *l);
void log_time(struct log *l);
/* Of a whole one: some of its output is not written yet, for the disk is full. */
bool log_is_stuck(const struct log *l);
/* Reads what is left, without waiting, and stops reading; one that is stuck is not at its end. */
void log_end(struct log *l);
/* The same, and its files go, unless they were to be left; forget: in any case. */
void log_free(struct log *l, bool forget);
/* How many bytes went to it. */
uint64_t log_position(const struct log *l);
/* Read-only descriptors of the files, newest first: how many (0 to 2). */
unsigned log_open(uint32_t proc, int fds[2]);

#endif
