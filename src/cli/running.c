/* Verbs for running cells, by way of their keepers: ps, stop, kill, pause, resume, wait, stats. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/target.h"

static const char usage_ps[] = "viv ps [--json] [-q]";
static const char usage_stop[] = "viv stop [-t SECONDS] CELL...";
static const char usage_kill[] = "viv kill [-s SIGNAL] CELL[:PROCESS]...";
static const char usage_pause[] = "viv pause CELL...";
static const char usage_resume[] = "viv resume CELL...";
static const char usage_wait[] = "viv wait CELL[:PROCESS]...";
static const char usage_stats[] = "viv stats [--json] [CELL...]";

static int usage_failed(const char *usage)
{
	fail("usage: %s", usage);
	return ERR_USAGE;
}

/* Does one thing to each; the first failure decides the status, but all are tried. */
static int each(int argc, char **argv, int at, const char *usage,
		int (*fn)(struct target *t, const char *text, void *arg, struct err *e), void *arg)
{
	int status = 0;

	if (at < 0)
		return ERR_USAGE;
	if (at >= argc)
		return usage_failed(usage);
	for (; at < argc; at++) {
		struct target t;
		struct err e;
		int r = target_open(argv[at], &t, &e);

		if (r == 0)
			r = fn(&t, argv[at], arg, &e);
		if (r < 0) {
			int kind = verb_failed(&e);

			status = status ? status : kind;
		}
		target_close(&t);
	}
	return status;
}

/* ---- ps ---- */

static const char *const states[] = { [0] = "?",
				      [KEEP_STARTING] = "starting",
				      [KEEP_IDLE] = "idle",
				      [KEEP_RUNNING] = "running",
				      [KEEP_PAUSED] = "paused",
				      [KEEP_STOPPING] = "stopping",
				      [KEEP_STOPPED] = "stopped" };

struct listing {
	bool json, quiet;
	struct keep_hello *list;
	unsigned n;
};

static const char *state_name(uint32_t state)
{
	return states[state < ARRAY_LEN(states) ? state : 0];
}

/* A cell that ends meanwhile is left out. */
static bool listing_add(void *arg, const char *id)
{
	struct listing *l = arg;
	struct keep_hello *more;
	struct err e;
	int fd = keep_connect(id, &e);

	if (fd < 0)
		return true;
	more = realloc(l->list, (l->n + 1) * sizeof(*more));
	if (more) {
		l->list = more;
		if (keep_hello(fd, &more[l->n], &e) == 0)
			l->n++;
	}
	close(fd);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct keep_hello *x = a, *y = b;

	return x->started < y->started ? -1 : x->started > y->started;
}

/* Text of others in a JSON string, or in a table. */
static void text_put(const char *s, bool json)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (json && (c == '"' || c == '\\'))
			printf("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			printf(json ? "\\u%04x" : "?", c);
		else
			putchar(c);
	}
}

static void hello_print(const struct keep_hello *h, const struct listing *l)
{
	char when[32] = "-";
	time_t started = (time_t)(h->started / NSEC_PER_SEC);
	struct tm tm;

	if (gmtime_r(&started, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (l->quiet && !l->json) {
		printf("%s\n", h->name[0] ? h->name : h->id);
	} else if (l->json) {
		printf("{\"id\":\"%s\",\"name\":\"%s\",\"image\":\"%s\",\"state\":\"%s\",\"pid\":%"
		       "d,"
		       "\"started\":\"%s\",\"command\":\"",
		       h->id, h->name, h->image, state_name(h->state), h->keeper_pid, when);
		text_put(h->command, true);
		printf("\"}\n");
	} else {
		printf("%-12.12s  %-20s %-14.12s %-9s %-20s  ", h->id, h->name[0] ? h->name : "-",
		       h->image, state_name(h->state), when);
		text_put(h->command, false);
		putchar('\n');
	}
}

int ps_main(int argc, char **argv)
{
	struct listing l = { 0 };
	const struct verb_option list[] = { { 0, "json", .on = &l.json },
					    { 'q', "quiet", .on = &l.quiet } };
	int at = options_take(argc, argv, list, ARRAY_LEN(list), usage_ps);
	struct err e;

	if (at < 0)
		return ERR_USAGE;
	if (at < argc)
		return usage_failed(usage_ps);
	if (keep_each(listing_add, &l, &e) < 0)
		return verb_failed(&e);
	qsort(l.list, l.n, sizeof(*l.list), by_start);
	if (!l.json && !l.quiet)
		printf("%-12s  %-20s %-14s %-9s %-20s  %s\n", "ID", "NAME", "IMAGE", "STATE",
		       "STARTED", "COMMAND");
	for (unsigned i = 0; i < l.n; i++)
		hello_print(&l.list[i], &l);
	free(l.list);
	return 0;
}

void ps_help(void)
{
	printf("Usage: %s\n\nLists the running cells that have a keeper (viv run -d) or a name.\n",
	       usage_ps);
}

/* ---- ending and pausing ---- */

/* Until its keeper is gone. */
static void end_wait(struct target *t)
{
	struct keep_msg m;

	while (keep_recv(t->fd, &m, NULL, NULL, 0) == 0)
		;
}

static int stop_one(struct target *t, const char *text, void *arg, struct err *e)
{
	if (keep_stop(t->fd, *(int64_t *)arg, e) < 0)
		return -1;
	end_wait(t);
	printf("%s\n", text);
	return 0;
}

int stop_main(int argc, char **argv)
{
	const char *time = NULL;
	const struct verb_option list[] = { { 't', "time", .value = &time } };
	int at = options_take(argc, argv, list, ARRAY_LEN(list), usage_stop);
	int64_t grace = 10 * NSEC_PER_SEC;

	if (at >= 0 && time && strcmp(time, "0") && !value_duration(time, &grace))
		return usage_failed(usage_stop);
	if (time && !strcmp(time, "0"))
		grace = 0;
	return each(argc, argv, at, usage_stop, stop_one, &grace);
}

void stop_help(void)
{
	printf("Usage: %s\n\nSends SIGTERM to the first process of each cell, and ends the cell "
	       "when it has not gone after 10 seconds, or\nthe time given with -t.\n",
	       usage_stop);
}

static const struct {
	const char *name;
	int sig;
} signals[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },	  { "QUIT", SIGQUIT },	 { "ILL", SIGILL },
	{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT }, { "BUS", SIGBUS },	 { "FPE", SIGFPE },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV },	 { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM },	 { "CHLD", SIGCHLD },
	{ "CONT", SIGCONT }, { "STOP", SIGSTOP }, { "TSTP", SIGTSTP },	 { "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU }, { "URG", SIGURG },	  { "XCPU", SIGXCPU },	 { "XFSZ", SIGXFSZ },
	{ "PROF", SIGPROF }, { "IO", SIGIO },	  { "WINCH", SIGWINCH }, { "PWR", SIGPWR },
};

/* TERM, SIGTERM or 15. 0: there is none of that name. */
static int signal_parse(const char *text)
{
	uint32_t n;

	if (value_u32(text, &n))
		return n >= 1 && n <= 64 ? (int)n : 0;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (unsigned i = 0; i < ARRAY_LEN(signals); i++)
		if (!strcmp(signals[i].name, text))
			return signals[i].sig;
	return 0;
}

static int kill_one(struct target *t, const char *text, void *arg, struct err *e)
{
	int sig = *(int *)arg;

	if (sig == SIGKILL && !t->proc_given) {
		if (keep_simple(t->fd, KEEP_KILL, e) < 0)
			return -1;
		end_wait(t);
	} else if (keep_signal(t->fd, t->proc, sig, 0, e) < 0) {
		return -1;
	}
	printf("%s\n", text);
	return 0;
}

int kill_main(int argc, char **argv)
{
	const char *name = "KILL";
	const struct verb_option list[] = { { 's', "signal", .value = &name } };
	int at = options_take(argc, argv, list, ARRAY_LEN(list), usage_kill), sig;

	sig = signal_parse(name);
	if (at >= 0 && !sig) {
		fail("there is no signal '%s'", name);
		return ERR_USAGE;
	}
	return each(argc, argv, at, usage_kill, kill_one, &sig);
}

void kill_help(void)
{
	printf("Usage: %s\n\nSends a signal (KILL) to the first process of each cell, or to the "
	       "process. KILL without a process ends the\nwhole cell at once.\n",
	       usage_kill);
}

static int simple_one(struct target *t, const char *text, void *arg, struct err *e)
{
	if (keep_simple(t->fd, *(uint32_t *)arg, e) < 0)
		return -1;
	printf("%s\n", text);
	return 0;
}

int pause_main(int argc, char **argv)
{
	uint32_t type = KEEP_FREEZE;

	return each(argc, argv, options_take(argc, argv, NULL, 0, usage_pause), usage_pause,
		    simple_one, &type);
}

void pause_help(void)
{
	printf("Usage: %s\n\nNothing in the cell runs until 'viv resume'; time goes on.\n",
	       usage_pause);
}

int resume_main(int argc, char **argv)
{
	uint32_t type = KEEP_THAW;

	return each(argc, argv, options_take(argc, argv, NULL, 0, usage_resume), usage_resume,
		    simple_one, &type);
}

void resume_help(void)
{
	printf("Usage: %s\n\nLets paused cells go on.\n", usage_resume);
}

/* ---- wait ---- */

/* The exit status of a whole cell is in its last event. */
static int cell_wait(struct target *t, int *ret_status, struct err *e)
{
	struct keep_msg m;
	uint64_t first;

	if (keep_subscribe(t->fd, 1, &first, e) < 0)
		return -1;
	while (keep_recv(t->fd, &m, NULL, NULL, 0) == 0) {
		if (m.type != KEEP_EVENT || m.kind != KEEP_EV_END)
			continue;
		*ret_status = m.a;
		return 0;
	}
	return err_set(e, ERR_FAILED, "the cell's keeper was killed, and the cell with it");
}

static int wait_one(struct target *t, const char *text, void *arg, struct err *e)
{
	int status;

	(void)text, (void)arg;
	if (t->proc_given) {
		if (keep_wait(t->fd, t->proc, &status, e) < 0)
			return -1;
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	} else if (cell_wait(t, &status, e) < 0) {
		return -1;
	}
	printf("%d\n", status);
	return 0;
}

int wait_main(int argc, char **argv)
{
	return each(argc, argv, options_take(argc, argv, NULL, 0, usage_wait), usage_wait, wait_one,
		    NULL);
}

void wait_help(void)
{
	printf("Usage: %s\n\nWaits for the end of each and prints its exit status.\n", usage_wait);
}

/* ---- stats ---- */

static void size_print(uint64_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	char text[24];
	unsigned u = 0;
	double d = (double)n;

	while (d >= 1024 && u + 1 < ARRAY_LEN(units)) {
		d /= 1024;
		u++;
	}
	snprintf(text, sizeof(text), u ? "%.1f%s" : "%.0f%s", d, units[u]);
	printf(" %10s", text);
}

static int stats_one(struct target *t, const char *text, void *arg, struct err *e)
{
	struct keep_stats s;

	(void)text;
	if (keep_stats(t->fd, &s, e) < 0)
		return -1;
	if (*(bool *)arg) {
		printf("{\"id\":\"%s\",\"cpu_ns\":%llu,\"memory\":%llu,\"memory_limit\":%llu,"
		       "\"disk\":%llu,\"disk_limit\":%llu,\"inodes\":%llu,\"inodes_limit\":%llu,"
		       "\"tasks\":%llu,\"tasks_limit\":%llu,\"processes\":%llu,\"syscalls\":%llu,"
		       "\"files\":%llu}\n",
		       t->id, (unsigned long long)s.cpu_ns, (unsigned long long)s.memory,
		       (unsigned long long)s.memory_limit, (unsigned long long)s.disk,
		       (unsigned long long)s.disk_limit, (unsigned long long)s.inodes,
		       (unsigned long long)s.inodes_limit, (unsigned long long)s.tasks,
		       (unsigned long long)s.tasks_limit, (unsigned long long)s.procs,
		       (unsigned long long)s.calls, (unsigned long long)s.files);
		return 0;
	}
	printf("%-12.12s %9.2fs", t->id, (double)s.cpu_ns / 1e9);
	size_print(s.memory);
	size_print(s.disk);
	printf(" %8llu %6llu %12llu\n", (unsigned long long)s.inodes, (unsigned long long)s.tasks,
	       (unsigned long long)s.calls);
	return 0;
}

static bool stats_step(void *arg, const char *id)
{
	struct target t = { .proc = KEEP_FIRST };
	struct err e;

	strcpy(t.id, id);
	t.fd = keep_connect(id, &e);
	if (t.fd >= 0)
		(void)stats_one(&t, id, arg, &e);
	target_close(&t);
	return true;
}

int stats_main(int argc, char **argv)
{
	bool json = false;
	const struct verb_option list[] = { { 0, "json", .on = &json } };
	int at = options_take(argc, argv, list, ARRAY_LEN(list), usage_stats);
	struct err e;

	if (at < 0)
		return ERR_USAGE;
	if (!json)
		printf("%-12s %10s %10s %10s %8s %6s %12s\n", "ID", "CPU", "MEMORY", "DISK",
		       "FILES", "TASKS", "SYSCALLS");
	if (at < argc)
		return each(argc, argv, at, usage_stats, stats_one, &json);
	return keep_each(stats_step, &json, &e) < 0 ? verb_failed(&e) : 0;
}

void stats_help(void)
{
	printf("Usage: %s\n\nShows what running cells used and use, once.\n", usage_stats);
}
