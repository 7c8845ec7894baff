/* What the verbs of viv share. A verb is one file and one row of the table in main.c. */
#ifndef VIV_CLI_CLI_H
#define VIV_CLI_CLI_H

#include <sys/types.h>

#include "base/base.h"

#define EXIT_TIMEOUT 124
#define EXIT_OWN 125 /* viv itself failed: bad usage, or the cell could not start */

struct verb {
	const char *name;
	const char *summary;
	int (*main)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
	void (*help)(void);
};

extern const struct verb verbs[];
extern const unsigned nverbs;

int run_main(int argc, char **argv);
void run_help(void);
int image_main(int argc, char **argv);
void image_help(void);

/* Prints "viv: MESSAGE" and returns EXIT_OWN. A message says what to do. */
int fail(const char *fmt, ...) printf_like(1, 2);
void warn(const char *fmt, ...) printf_like(1, 2);

/* Another program of the project ("viv-kernel"), as a descriptor to be executed; -1, with the message
 * printed (program.c). */
int program_open(const char *program);

/* ---- values (values.c) ---- */

/* 64M, 1G, 1.5g, 4096, 512KiB: bytes. False: not a size, or zero. */
bool value_size(const char *s, uint64_t *ret);
/* 500ms, 10s, 5m, 1h, 2.5 (seconds): nanoseconds. */
bool value_duration(const char *s, int64_t *ret);
/* A decimal fraction as thousandths: 1.5 is 1500. */
bool value_milli(const char *s, uint64_t *ret);
bool value_u32(const char *s, uint32_t *ret);
/* The word of words (n of them, stride bytes apart) that s was probably meant to be, or NULL. */
const char *value_similar(const char *s, const void *words, unsigned n, size_t stride);

/* ---- a run ---- */

struct host_mount;
struct cgroup;
struct isolated;

struct run_options {
	const char *image;
	const char *disk_dir; /* --disk; NULL: none */
	const char *disk_tell; /* no command: what is in it goes to standard output */
	uint32_t cpu_milli; /* 0: not asked for */
	uint64_t memory;
	uint32_t pids;
	int64_t timeout_ns;
	bool trace, quiet, changes;
	uint32_t fast; /* enum fast_mode */
	bool tty; /* a terminal was asked for */
	const char *workdir, *hostname;
	const char *wasm; /* runs WebAssembly modules; NULL: node */
	uint32_t uid, gid;
	const char *user_name, *home;
	char **env; /* K=V, all that the command gets; NULL-terminated */
	struct run_mount {
		const char *src; /* NULL: a tmpfs */
		const char *dst;
		bool readonly;
		uint64_t size;
	} mounts[32];
	unsigned nmounts;
	char **argv;
};

/* --disk: adds the disk in directory dir to the spec. With uids of their own, the cell gets that of the disk. The descriptor of its
 * layers in *ret_fd (its number in the cell is the caller's to set). 0 or an exit status. */
struct bootspec;
int disk_dir_prepare(const char *dir, const char *tell_or_NULL, struct bootspec *spec, uid_t *uid,
		     gid_t *gid, int *ret_fd);

/* Fills o from the command line. 0, or an exit status; -1: help was asked for and printed. */
int run_options_parse(struct run_options *o, int argc, char **argv);
/* Starts the cell and stays with it to its end: the exit status. */
int run_cell(const struct run_options *o);
/* From the first message to the exit status (supervise.c). Borrows all. */
int supervise(const struct run_options *o, const struct isolated *kernel, int control, int signals,
	      const struct cgroup *cg);
/* The signals that viv forwards to the cell, blocked, as a descriptor; -1 on failure. */
int supervise_signals(void);

#endif
