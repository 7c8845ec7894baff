/* viv exec: another process in a running cell. Its streams are viv's own, handed over: no byte goes
 * through viv or the keeper. With -t the process has a terminal of the cell, and viv's own is in
 * raw mode meanwhile, so that everything typed reaches the cell's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/exec.h"
#include "cli/inside.h"
#include "cli/target.h"
#include "cli/vivd.h"
#include "client/vivarium.h"
#include "keeper/stay.h"

#define BACKLOG 4096 /* messages that wait for the keeper */

struct exec {
	struct target target;
	struct keep_start start;
	bool interactive, tty, detach, json;
	char **env;
	size_t nenv;
	struct stay stay;
	struct channel keeper;
	bool stops; /* viv stops, too, when the keeper has been told */
	uint32_t id; /* of the request, whose end is waited for */
	uint32_t proc;
	uint32_t last; /* request of our own */
	struct err *e; /* the verb's */
	int hold; /* the other end of an input that nobody types at; -1 */
};

static int env_add(void *arg, const char *text, struct err *e)
{
	struct exec *x = arg;
	size_t name = strcspn(text, "=");
	const char *value = getenv(text);
	char *entry = NULL, **more;

	if (!name)
		return err_set(
			e, ERR_USAGE,
			"--env needs a name: --env NAME=VALUE, or --env NAME for the host's value");
	if (!text[name] && !value)
		return 0;
	if (text[name] ? (entry = strdup(text)) == NULL
		       : asprintf(&entry, "%s=%s", text, value) < 0)
		return err_set(e, ERR_FAILED, "out of memory");
	for (size_t i = 0; i < x->nenv; i++)
		if (!strncmp(x->env[i], entry, name + 1)) {
			x->env[i] = entry;
			return 0;
		}
	more = realloc(x->env, (x->nenv + 2) * sizeof(*more));
	if (!more)
		return err_set(e, ERR_FAILED, "out of memory");
	x->env = more;
	more[x->nenv++] = entry;
	more[x->nenv] = NULL;
	return 0;
}

/* What exec and shell share. */
static int options_apply(struct exec *x, const struct args *a, struct err *e)
{
	const char *workdir = arg_value(a, "workdir"), *timeout = arg_value(a, "timeout"), *env;
	unsigned at = 0, file_at = 0;
	int err = 0;

	if (workdir && workdir[0] != '/')
		return err_set(e, ERR_USAGE, "--workdir: must be an absolute path, not '%s'",
			       workdir);
	if (timeout && !value_duration(timeout, &x->start.exec.timeout_ns))
		return err_set(e, ERR_USAGE, "--timeout '%s': a time such as 500ms, 10s or 5m",
			       timeout);
	x->start.spec.cwd = workdir;
	x->start.spec.user = arg_value(a, "user");
	/* What was given replaces it. */
	if (x->tty && !x->detach && getenv("TERM"))
		err = env_add(x, "TERM", e);
	while (!err && (env = arg_next(a, "env-file", &file_at)))
		err = env_file_read(env, env_add, x, e);
	while (!err && (env = arg_next(a, "env", &at)))
		err = env_add(x, env, e);
	return err;
}

/* ---- streams ---- */

static void window_size(uint16_t *rows, uint16_t *cols)
{
	struct winsize ws;

	*rows = *cols = 0;
	for (int n = 0; n < 3; n++)
		if (!ioctl(n, TIOCGWINSZ, &ws)) {
			*rows = ws.ws_row;
			*cols = ws.ws_col;
			return;
		}
}

static int streams_set(struct exec *x, struct err *e)
{
	bool tty;

	x->hold = -1;
	for (int n = 0; n < 3; n++) {
		int fd;

		if (n || x->interactive) {
			fd = stream_open(n, &tty);
		} else if (x->tty) {
			/* Nobody types, but it is not hung up before viv goes. */
			int pipefd[2];

			fd = pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : pipefd[0];
			x->hold = fd < 0 ? -1 : pipefd[1];
		} else {
			fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		}
		if (fd < 0)
			return err_set(e, ERR_FAILED, "cannot use standard stream %d", n);
		x->start.fds[n] = fd;
	}
	return 0;
}

static void terminal_raw(const struct exec *x)
{
	struct termios raw = x->stay.terminal.saved;

	if (x->stay.terminal.fd < 0 || !x->interactive)
		return;
	cfmakeraw(&raw);
	terminal_set(&x->stay.terminal, &raw);
}

/* ---- while it runs ---- */

/* Answers are not waited for: what it was for shows. */
static void request_send(struct exec *x, struct keep_msg m)
{
	m.id = ++x->last | 0x80000000u;
	m.proc = x->proc;
	channel_send(&x->keeper, &m, NULL, 0);
}

static void sent(struct channel *c)
{
	struct exec *x = container_of(c, struct exec, keeper);

	if (x->stops)
		stay_suspend(&x->stay);
	x->stops = false;
}

static void signal_send(struct stay *s, int sig)
{
	struct exec *x = container_of(s, struct exec, stay);
	struct keep_msg m = { .type = KEEP_SIGNAL, .a = sig };
	uint16_t rows, cols;

	switch (sig) {
	case SIGWINCH:
		if (!x->tty)
			return;
		window_size(&rows, &cols);
		m = (struct keep_msg){ .type = KEEP_RESIZE, .a = rows, .b = cols };
		break;
	case SIGTSTP:
		/* Both stop, and both go on when the shell says so. */
		m.a = SIGSTOP;
		m.flags = KEEP_TO_GROUP;
		break;
	case SIGINT:
	case SIGQUIT:
	case SIGCONT:
		m.flags = KEEP_TO_GROUP;
		break;
	default:
		break;
	}
	request_send(x, m);
	if (sig == SIGTSTP || sig == SIGCONT)
		x->stops = sig == SIGTSTP;
	if (!x->keeper.nout)
		sent(&x->keeper);
}

/* Its time is the keeper's to watch. */
static const struct stay_ops keeper_ops = { .signal = signal_send };

static void message(struct channel *c, void *msg, int *fds, unsigned nfds)
{
	struct exec *x = container_of(c, struct exec, keeper);
	const struct keep_msg *m = msg;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (m->type != KEEP_EXITED || m->id != x->id)
		return;
	x->stay.status = stay_status(m->a);
	x->stay.timed_out = m->b;
	x->stay.ended = true;
}

static void gone(struct channel *c)
{
	struct exec *x = container_of(c, struct exec, keeper);

	/* A keeper that ends with its cell says how the command ended before it goes. */
	if (!x->stay.ended)
		err_set(x->e, ERR_FAILED, "the cell's keeper is gone, and the cell with it");
	x->stay.ended = true;
	channel_close(c);
}

static int stay_with(struct exec *x, int signals)
{
	int err = sources_init();

	x->keeper.in = message;
	x->keeper.idle = sent;
	x->keeper.gone = gone;
	if (!err)
		err = channel_init(&x->keeper, x->target.fd, BACKLOG);
	if (!err)
		err = stay_begin(&x->stay, signals);
	if (err)
		err_set(x->e, ERR_FAILED, "cannot wait: %s", strerror(-err));
	while (!err && !x->stay.ended)
		stay_round(&x->stay, 0);
	return stay_end(&x->stay, false);
}

/* Who reads what the process writes is to see its end, whether viv is still there or not. Messages
 * stay possible. */
static void streams_leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int n = 0; n < 2 && null >= 0; n++)
		if (!isatty(n))
			dup2(null, n);
}

/* A cell that sleeps, or falls asleep just now, is woken, and its keeper is another one. -1: it is
 * not that, and e stays as it is. */
static int target_wake(struct exec *x, const char *cell)
{
	struct target t = { .fd = -1 };
	struct err e;

	if (target_parse(cell, &t, &e) < 0 || t.proc_given ||
	    vivd_ask("POST", cell_path(t.cell, "/wake?for=exec").str, NULL, NULL, &e) < 0) {
		if (e.kind == ERR_START_FAILED)
			*x->e = e;
		return -1;
	}
	if (target_open(cell, &t, &e) < 0)
		return -1;
	if (x->target.fd >= 0)
		close(x->target.fd);
	x->target = t;
	x->e->kind = ERR_NONE;
	return 0;
}

/* Starts it. One that the keeper refuses because its cell stops was not started, nor was one that it
 * did not answer before it went: it answers all that it has read. */
static int exec_ask(struct exec *x, struct keep_wait *w, struct keep_msg *m)
{
	bool unread;

	if (keep_exec(x->target.fd, &x->start, w, m, x->e) == 0)
		return 0;
	unread = m->type == 0 && x->e->kind == ERR_FAILED;
	if (w->signal || !(unread || x->e->kind == ERR_CONFLICT) ||
	    target_wake(x, x->target.cell) < 0)
		return -1;
	return keep_exec(x->target.fd, &x->start, w, m, x->e);
}

static int attached(struct exec *x)
{
	struct termios unused;
	struct keep_msg m;
	struct keep_wait w = { .signals = stay_signals() };

	if (w.signals < 0)
		return err_set(x->e, ERR_FAILED, "cannot receive signals: %s", strerror(errno));
	x->stay.ops = &keeper_ops;
	x->stay.status = -1;
	terminal_save(&x->stay.terminal);
	if (x->tty)
		terminal_raw(x);
	if (exec_ask(x, &w, &m) < 0) {
		terminal_restore(&x->stay.terminal, &unused);
		return w.signal ? (report(x->e), 128 + w.signal) : -1;
	}
	x->id = m.id;
	x->proc = m.proc;
	/* The cell's own from here on: the end of a pipe must not wait for us. */
	for (int n = 0; n < 3; n++)
		close(x->start.fds[n]);
	streams_leave();
	return stay_with(x, w.signals);
}

static int detached(struct exec *x)
{
	struct keep_wait w = { .signals = -1 };
	struct keep_msg m;

	x->start.exec.flags |= KEEP_X_DETACH | KEEP_X_LOG;
	if (exec_ask(x, &w, &m) < 0)
		return -1;
	printf(x->json ? "{\"proc\":%u,\"pid\":%d}\n" : "%u\n", m.proc, m.pid);
	return 0;
}

/* In a cell nobody can be handed a descriptor. */
static int through_api(struct exec *x, const char *cell, char **argv, struct err *e)
{
	struct inside_exec in = { .argv = argv,
				  .env = x->env,
				  .workdir = x->start.spec.cwd,
				  .user = x->start.spec.user,
				  .timeout_ns = x->start.exec.timeout_ns,
				  .interactive = x->interactive,
				  .tty = x->tty,
				  .detach = x->detach,
				  .json = x->json };

	window_size(&in.rows, &in.cols);
	return inside_exec(cell, &in, e);
}

/* The command runs in the cell, and its status is ours. */
static int exec_in(struct exec *x, const char *cell, char **argv, struct err *e)
{
	x->e = e;
	if (x->tty && !x->detach && !isatty(x->interactive ? 0 : 1))
		return err_set(e, ERR_USAGE,
			       "-t: standard input and output are not a terminal" REMEDY
			       "leave -t out");
	if (viv_inside())
		return through_api(x, cell, argv, e);
	if (target_open(cell, &x->target, e) < 0 &&
	    (e->kind != ERR_NOT_FOUND || target_wake(x, cell) < 0))
		return -1;
	x->start.spec.flags = EXECSPEC_CELL_ENV;
	x->start.spec.argv = argv;
	x->start.spec.envp = x->env;
	x->start.exec.flags = x->tty ? KEEP_X_TTY : 0;
	window_size(&x->start.exec.rows, &x->start.exec.cols);
	if (x->detach)
		return detached(x);
	return streams_set(x, e) < 0 ? -1 : attached(x);
}

static int exec_run(struct exec *x, const struct args *a, char **argv, struct err *e)
{
	return options_apply(x, a, e) < 0 ? -1 : exec_in(x, a->words[0], argv, e);
}

int cell_exec(const char *cell, char **argv, const char *const *env, const char *workdir,
	      struct err *e)
{
	static struct exec x = { .interactive = true };

	x.tty = isatty(0);
	x.start.spec.cwd = workdir;
	if (x.tty && getenv("TERM") && env_add(&x, "TERM", e) < 0)
		return -1;
	for (; env && *env; env++)
		if (env_add(&x, *env, e) < 0)
			return -1;
	return exec_in(&x, cell, argv, e);
}

int exec_main(struct args *a, struct err *e)
{
	static struct exec x;
	/* As before the command of viv run. */
	char **command = a->words + (strcmp(a->words[1], "--") ? 1 : 2);

	if (!*command)
		return args_wrong(a, e, "missing argument: COMMAND");
	x.interactive = arg_is_on(a, "interactive");
	x.tty = arg_is_on(a, "tty");
	x.detach = arg_is_on(a, "detach");
	x.json = a->json;
	return exec_run(&x, a, command, e);
}

/* The shell of the user that it runs as, by the cell's own /etc/passwd. Only sh is needed, and
 * nothing else of the cell. */
static const char shell_script[] =
	"while read -r k u r; do [ \"$k\" = Uid: ] && break; done </proc/self/status\n"
	"while IFS=: read -r n p i g c h s; do [ \"$i\" = \"$u\" ] && break; s=; done "
	"</etc/passwd\n"
	"[ -n \"$s\" ] && [ -x \"$s\" ] || s=/bin/sh\n"
	"[ -n \"$h\" ] && [ -z \"$1\" ] && cd \"$h\" 2>/dev/null\n"
	"SHELL=$s; export SHELL\n"
	"exec \"$s\" -l";

int shell_main(struct args *a, struct err *e)
{
	static char sh[] = "/bin/sh", c[] = "-c", name[] = "sh", stay[] = "stay",
		    script[sizeof(shell_script)];
	static struct exec x = { .interactive = true };
	static char *words[] = { sh, c, script, name, NULL, NULL };

	memcpy(script, shell_script, sizeof(script));
	/* Without a terminal it reads its commands as any shell does. */
	x.tty = isatty(0);
	if (arg_value(a, "workdir"))
		words[4] = stay;
	return exec_run(&x, a, words, e);
}
