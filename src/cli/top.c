/* viv top: what running cells use, looked at again and again. At a terminal it has the whole
 * screen, with plain ANSI sequences: the alternate screen, so that what was there comes back. Every
 * signal that could end it is read from a descriptor, so the terminal is restored on every way out
 * but SIGKILL. Elsewhere the tables are printed one after the other. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/color.h"
#include "cli/list.h"
#include "cli/vivd.h"

struct row {
	char id[64], name[72], state[16], command[160];
	double cpu_seconds, cpu; /* used; and of one processor since the last look, in percent */
	double calls_rate;
	uint64_t memory, memory_limit, disk, tasks, calls;
	double at; /* when */
};

struct look {
	struct row *rows;
	unsigned n;
};

enum key { KEY_CPU, KEY_MEMORY, KEY_DISK, KEY_TASKS, KEY_CALLS, KEY_NAME };
static const struct {
	const char *name;
	char letter;
} keys[] = {
	[KEY_CPU] = { "cpu", 'c' },	[KEY_MEMORY] = { "memory", 'm' },
	[KEY_DISK] = { "disk", 'd' },	[KEY_TASKS] = { "tasks", 't' },
	[KEY_CALLS] = { "calls", 's' }, [KEY_NAME] = { "name", 'n' },
};

struct top {
	struct look now, before;
	unsigned key;
	bool reverse, json, screen;
	int64_t delay;
	uint32_t left; /* looks; 0: no end */
	struct termios saved;
	int signals;
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- looking ---- */

static void row_fill(struct row *r, const struct json *cell, const struct json *v,
		     const struct look *before)
{
	FILE *f = fmemopen(r->command, sizeof(r->command), "w");

	if (f) {
		command_print(f, cell, sizeof(r->command) / 4);
		fclose(f);
	}
	snprintf(r->id, sizeof(r->id), "%s", json_show(cell, "id"));
	snprintf(r->name, sizeof(r->name), "%s", json_show(cell, "name"));
	snprintf(r->state, sizeof(r->state), "%s", json_show(cell, "state"));
	r->cpu_seconds = atof(json_show(v, "cpu_seconds"));
	json_get_u64(v, "memory", &r->memory);
	json_get_u64(v, "memory_limit", &r->memory_limit);
	json_get_u64(v, "disk", &r->disk);
	json_get_u64(v, "tasks", &r->tasks);
	json_get_u64(v, "system_calls", &r->calls);
	r->at = seconds_now();
	for (unsigned i = 0; i < before->n; i++) {
		const struct row *o = &before->rows[i];

		if (strcmp(o->id, r->id) || r->at <= o->at || r->cpu_seconds < o->cpu_seconds ||
		    r->calls < o->calls)
			continue;
		r->cpu = 100 * (r->cpu_seconds - o->cpu_seconds) / (r->at - o->at);
		r->calls_rate = (double)(r->calls - o->calls) / (r->at - o->at);
	}
}

/* A cell that ends meanwhile is left out. */
static int look_take(struct top *t, struct err *e)
{
	struct json_doc d = { 0 }, one;
	struct look l = { 0 };
	const struct json *list;

	if (vivd_ask("GET", "/v1/cells", NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "cells", JSON_LIST);
	for (const struct json *x = list ? list->first : NULL; x; x = x->next) {
		const char *state = json_show(x, "state");
		struct row *more;

		if (strcmp(state, "running") && strcmp(state, "paused") &&
		    strcmp(state, "stopping"))
			continue;
		if (vivd_ask("GET", cell_path(json_show(x, "id"), "/stats").str, NULL, &one, e) < 0)
			continue;
		more = realloc(l.rows, (l.n + 1) * sizeof(*more));
		if (more) {
			l.rows = more;
			more[l.n] = (struct row){ 0 };
			row_fill(&more[l.n++], x, one.root, &t->now);
		}
		json_free(&one);
	}
	json_free(&d);
	free(t->before.rows);
	t->before = t->now;
	t->now = l;
	return 0;
}

static unsigned sort_key;
static bool sort_reverse;

static int row_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double p = 0, q = 0;
	int c;

	switch (sort_key) {
	case KEY_CPU:
		p = x->cpu, q = y->cpu;
		break;
	case KEY_MEMORY:
		p = (double)x->memory, q = (double)y->memory;
		break;
	case KEY_DISK:
		p = (double)x->disk, q = (double)y->disk;
		break;
	case KEY_TASKS:
		p = (double)x->tasks, q = (double)y->tasks;
		break;
	case KEY_CALLS:
		p = x->calls_rate, q = y->calls_rate;
		break;
	default:
		break;
	}
	c = p > q ? -1 : p < q;
	if (!c)
		c = strcmp(*x->name ? x->name : x->id, *y->name ? y->name : y->id);
	return sort_reverse ? -c : c;
}

/* ---- showing ---- */

static void rows_json(const struct top *t)
{
	for (unsigned i = 0; i < t->now.n; i++) {
		const struct row *r = &t->now.rows[i];

		printf("{\"id\":\"%s\",\"name\":", r->id);
		json_quoted(stdout, r->name);
		printf(",\"state\":\"%s\",\"cpu_percent\":%.1f,\"cpu_seconds\":%.3f,\"memory\":%"
		       "llu,"
		       "\"memory_limit\":%llu,\"disk\":%llu,\"tasks\":%llu,\"system_calls\":%llu,"
		       "\"system_calls_rate\":%.1f}\n",
		       r->state, r->cpu, r->cpu_seconds, (unsigned long long)r->memory,
		       (unsigned long long)r->memory_limit, (unsigned long long)r->disk,
		       (unsigned long long)r->tasks, (unsigned long long)r->calls, r->calls_rate);
	}
}

/* A line of at most cols columns: at a terminal what is longer is cut, what is left of an older
 * line goes. */
static void line_put(const struct top *t, const char *line, unsigned cols, const char *on,
		     const char *off)
{
	if (t->screen)
		printf("%s%.*s%s\033[K\r\n", on, (int)cols, line, off);
	else
		printf("%s\n", line);
}

static void table_print(const struct top *t, unsigned rows, unsigned cols)
{
	char line[512], when[16];
	double cpu = 0;
	uint64_t memory = 0;
	time_t now = time(NULL);
	struct tm tm;

	for (unsigned i = 0; i < t->now.n; i++) {
		cpu += t->now.rows[i].cpu;
		memory += t->now.rows[i].memory;
	}
	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	snprintf(line, sizeof(line), "viv top - %s   cells %u   cpu %.1f%%   memory %s   by %s%s",
		 when, t->now.n, cpu, size_text(memory).str, keys[t->key].name,
		 t->reverse ? ", reversed" : "");
	line_put(t, line, cols, "", "");
	snprintf(line, sizeof(line), "%-16s %-20s %-8s %7s %9s %10s %10s %6s %9s  %s", "ID", "NAME",
		 "STATE", "CPU%", "TIME", "MEMORY", "DISK", "TASKS", "CALLS/S", "COMMAND");
	line_put(t, line, cols, t->screen ? "\033[7m" : "", t->screen ? "\033[0m" : "");
	for (unsigned i = 0; i < t->now.n && (!t->screen || i + 3 < rows); i++) {
		const struct row *r = &t->now.rows[i];
		enum color color = color_state(r->state);

		snprintf(line, sizeof(line),
			 "%-16.16s %-20.20s %-8.8s %7.1f %9.2f %10s %10s %6llu %9.0f  %.140s",
			 r->id, *r->name ? r->name : "-", r->state, r->cpu, r->cpu_seconds,
			 size_text(r->memory).str, size_text(r->disk).str,
			 (unsigned long long)r->tasks, r->calls_rate, r->command);
		/* The usual state needs no colour. */
		color = color == COLOR_GOOD ? COLOR_NONE : color;
		line_put(t, line, cols, color_on(stdout, color), color_off(stdout, color));
	}
}

static void show(struct top *t)
{
	struct winsize ws = { 0 };

	sort_key = t->key;
	sort_reverse = t->reverse;
	if (t->now.n)
		qsort(t->now.rows, t->now.n, sizeof(*t->now.rows), row_compare);
	if (t->json) {
		rows_json(t);
	} else if (t->screen) {
		if (ioctl(1, TIOCGWINSZ, &ws) < 0 || !ws.ws_row || !ws.ws_col)
			ws = (struct winsize){ .ws_row = 24, .ws_col = 80 };
		printf("\033[H");
		table_print(t, ws.ws_row, ws.ws_col);
		printf("\033[J");
	} else {
		table_print(t, 0, 0);
	}
	fflush(stdout);
}

/* ---- the terminal ---- */

static void screen_enter(struct top *t)
{
	struct termios raw = t->saved;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(0, TCSANOW, &raw);
	printf("\033[?1049h\033[?25l\033[2J");
	fflush(stdout);
}

static void screen_leave(const struct top *t)
{
	printf("\033[?25h\033[?1049l");
	fflush(stdout);
	tcsetattr(0, TCSANOW, &t->saved);
}

/* True: it is time to end. */
static bool key_press(struct top *t, char c)
{
	if (c == 'q' || c == 'Q')
		return true;
	if (c == 'r')
		t->reverse = !t->reverse;
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].letter == c)
			t->key = i;
	show(t);
	return false;
}

static bool signal_take(struct top *t, int sig)
{
	switch (sig) {
	case SIGWINCH:
		show(t);
		return false;
	case SIGTSTP:
		/* With the terminal as it was, until somebody says 'fg'. */
		screen_leave(t);
		kill(getpid(), SIGSTOP);
		screen_enter(t);
		show(t);
		return false;
	case SIGCONT:
		return false;
	default:
		return true;
	}
}

/* Until the next look; true: it is time to end. */
static bool rest(struct top *t, double until)
{
	struct pollfd p[2] = { { .fd = t->signals, .events = POLLIN },
			       { .fd = t->screen ? 0 : -1, .events = POLLIN } };

	for (;;) {
		double left = until - seconds_now();
		struct signalfd_siginfo si;
		char c;
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(p, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			return true;
		while (read(t->signals, &si, sizeof(si)) == sizeof(si))
			if (signal_take(t, (int)si.ssi_signo))
				return true;
		if (!(p[1].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		n = read(0, &c, 1);
		/* The terminal is gone. */
		if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
		    (n == 0 && (p[1].revents & POLLHUP)))
			return true;
		if (n == 1 && key_press(t, c))
			return true;
	}
}

static int signals_open(bool screen)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGPIPE);
	if (screen) {
		sigaddset(&set, SIGTSTP);
		sigaddset(&set, SIGCONT);
		sigaddset(&set, SIGWINCH);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int top_run(struct top *t, struct err *e)
{
	uint32_t left = t->left;

	for (;;) {
		double begin = seconds_now();

		if (look_take(t, e) < 0)
			return -1;
		show(t);
		if ((left && !--left) || ferror(stdout))
			return 0;
		if (rest(t, begin + (double)t->delay / NSEC_PER_SEC))
			return 0;
	}
}

int top_main(struct args *a, struct err *e)
{
	struct top t = { .delay = 2 * NSEC_PER_SEC, .json = a->json };
	const char *text = arg_value(a, "iterations");
	struct viv_client *c;
	int r;

	if (text && (!value_u32(text, &t.left) || !t.left))
		return args_wrong(a, e, "--iterations '%s': must be a number", text);
	if (arg_time(a, "delay", &t.delay, e) < 0)
		return -1;
	t.delay = MAX(t.delay, NSEC_PER_SEC / 10);
	text = arg_value(a, "sort");
	for (t.key = 0; text && strcmp(text, keys[t.key].name); t.key++)
		if (t.key + 1 == ARRAY_LEN(keys))
			return args_wrong(a, e, "--sort '%s': unknown column", text);
	if (vivd_connect(&c, e) < 0)
		return -1;
	t.screen = !a->json && isatty(0) && isatty(1) && tcgetattr(0, &t.saved) == 0;
	t.signals = signals_open(t.screen);
	if (t.signals < 0)
		return err_set(e, ERR_FAILED, "cannot receive signals: %s", strerror(errno));
	if (t.screen)
		screen_enter(&t);
	r = top_run(&t, e);
	if (t.screen)
		screen_leave(&t);
	free(t.now.rows);
	free(t.before.rows);
	close(t.signals);
	return r;
}
