/* A run: what was asked for, and what starting and keeping a cell share. */
#ifndef VIV_KEEPER_RUN_H
#define VIV_KEEPER_RUN_H

#include <sys/types.h>

#include "base/base.h"
#include "base/err.h"

#define EXIT_TIMEOUT 124
#define EXIT_OWN 125 /* viv itself failed: bad usage, or the cell could not start */

/* Prints "viv: MESSAGE" and returns EXIT_OWN. A message says what to do, after "; ". */
int fail(const char *fmt, ...) printf_like(1, 2);
void warn(const char *fmt, ...) printf_like(1, 2);
/* The same for a failure of a kind, whose code it has as JSON; returns the kind, which is the exit status. */
int fail_as(enum err_kind kind, const char *fmt, ...) printf_like(2, 3);
/* From here on failures are printed as {"code","message","remedy"}, one object for each line. */
void say_json(bool on);
bool say_is_json(void);

/* An option of a verb, as it is parsed, explained and completed. */
struct opt {
	char letter; /* 0: none */
	const char *name; /* without the dashes */
	const char *value; /* what its value is called; NULL: a switch */
	const char *help; /* NULL: not for people */
};

/* Another program of the project ("viv-kernel"), as a descriptor to be executed; -1, with the message
 * printed (program.c). */
int program_open(const char *program);

/* ---- values (values.c) ---- */

/* 64M, 1G, 1.5g, 4096, 512KiB: bytes. False: not a size, or zero. */
bool value_size(const char *s, uint64_t *ret);
/* 500ms, 10s, 5m, 1h, 2.5 (seconds): nanoseconds. */
bool value_duration(const char *s, int64_t *ret);
/* An instant, in nanoseconds since 1970: as RFC 3339 has it (2026-01-31T12:00:00.5Z, or with +01:00), in seconds since 1970, or a duration with its
 * unit before now ("10m"). */
bool value_instant(const char *s, int64_t now, int64_t *ret);
/* A decimal fraction as thousandths: 1.5 is 1500. */
bool value_milli(const char *s, uint64_t *ret);
bool value_u32(const char *s, uint32_t *ret);
/* TERM, SIGTERM, sigterm or 15. 0: there is none of that name. */
int value_signal(const char *text);
/* The word of words (n of them, stride bytes apart) that s was probably meant to be, or NULL. */
const char *value_similar(const char *s, const void *words, unsigned n, size_t stride);

/* ---- a run ---- */

struct host_mount;
struct cgroup;
struct isolated;

struct run_options {
	const char *image; /* NULL: the named cell's, else "host" */
	const char *name; /* of a cell that stays; NULL: it goes with the command */
	const char *entrypoint; /* instead of the image's; "": none */
	uint32_t cpu_milli; /* 0: not asked for */
	uint64_t memory;
	uint32_t pids;
	uint64_t disk_bytes, disk_inodes; /* 0: not asked for */
	int64_t timeout_ns;
	bool trace, quiet, changes;
	uint32_t fast; /* enum fast_mode */
	bool tty; /* a terminal was asked for */
	bool interactive; /* -i: of a detached cell, its input stays open */
	bool detach;
	bool json; /* what viv itself says */
	const char *restart, *stop_timeout,
		*idle_timeout; /* vivd's business; NULL: not asked for */
	struct run_health { /* likewise; command NULL: none */
		const char *command, *interval, *timeout, *start_period;
		uint32_t retries;
	} health;
	const char *labels[64]; /* K=V */
	unsigned nlabels;
	bool keeper; /* we are a viv-keeper, which has options of its own */
	bool idle; /* of viv-keeper: no command */
	bool pool; /* of viv-keeper: it waits for somebody who takes it */
	bool leave; /* of viv-keeper: its logs and the record of the end stay */
	bool visit; /* of viv-keeper: for who started it alone, and as long as that stays */
	bool merge; /* of viv-keeper: no cell; only the room is given back that the disk need not take */
	const char *id; /* of viv-keeper; NULL: it chooses */
	const char *workdir, *hostname; /* workdir NULL: the image's, else "/" */
	bool workdir_make; /* it is the image's: as docker has it, it need not be there */
	const char *user_text; /* as given; NULL: the image's, else root */
	const char *wasm; /* runs WebAssembly modules; NULL: node */
	uint32_t uid, gid; /* of one of the host image's users */
	const char *user_name, *home;
	const char **env_given; /* by --env-file and --env, for the end */
	unsigned nenv_given, nenv_file; /* the first so many are of files */
	int stop_signal; /* the image's, for the first process; 0: SIGTERM */
	bool rm;
	char **env; /* K=V, all that the command gets; NULL-terminated */
	char **kept; /* texts that were made for these options and stay as long as they */
	size_t nkept;
	struct run_mount {
		const char *src; /* of the host; or s3://BUCKET/PREFIX */
		const char *volume; /* or a volume's name; neither: a tmpfs */
		char *dst;
		bool readonly;
		uint64_t size;
	} mounts[32];
	unsigned nmounts;
	const char *s3_endpoint; /* NULL: as the environment says */
	char **argv; /* NULL: the image's */
	struct run_tell { /* instead of running a command: what is in a disk */
		uint32_t mode; /* enum spec_mode */
		uint32_t from_layers;
		bool whole, objects;
		int out;
		int log; /* of MODE_MERGE: for the log of layer number */
		uint32_t number;
		int64_t most_ns; /* how long it may take; 0: as long as it takes */
	} tell;
};

struct place;

/* Fills o from the command line. 0, or an exit status; -1: help was asked for and printed. */
int run_options_parse(struct run_options *o, int argc, char **argv);
/* The options of run, for help and completion. */
#define RUN_NOPTS 41
extern const struct opt run_opts[];
const char *run_fast_name(uint32_t mode);
/* The name of an option that was given and is vivd's business, or NULL. */
const char *run_vivds_option(const struct run_options *o);
/* Reads a file of variables (envfile.c) and gives each, K=V or K, to take. 0, or the exit status, with the message printed. */
int env_file_read(const char *path, int (*take)(void *arg, const char *text), void *arg);
/* Sets K=V; text is copied. */
int run_env_set(struct run_options *o, const char *text);
/* Frees what o holds. */
void run_options_fini(struct run_options *o);
/* What the command line and the image left open. */
int run_options_finish(struct run_options *o, bool stored);
/* Starts the cell and stays with it to its end: the exit status. */
int run_cell(const struct run_options *o, struct place *p);
/* All of it: opens what the options name, completes them, starts the cell and stays with it. */
int run_command(struct run_options *o);
/* S3 mounts (s3.c): is src one; starts its viv-s3, whose socket the cell gets. 0 or an exit status. */
bool s3_is_url(const char *src);
int s3_start(const struct run_options *o, const char *src, bool readonly, int *ret_sock);
/* The time with a cell (watch.c). First what comes before its kernel is there: 0 or an exit status. */
int watch_prepare(const struct run_options *o, struct place *place);
/* From the first message to the exit status. Takes control and signals, borrows the others. */
int watch(const struct isolated *kernel, int control, int signals, struct cgroup *cg);
/* The signals that viv forwards to the cell, blocked, as a descriptor; -1 on failure. */
int watch_signals(void);

#endif
