/* viv exec: another process in a running cell. Its streams are viv's own, handed over: no byte goes through viv or the keeper. With -t the
 * process has a terminal of the cell, and viv's own is in raw mode meanwhile, so that everything typed reaches the cell's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/target.h"
#include "host/stream.h"

static const char usage_exec[] =
	"viv exec [-it] [-d] [-e K=V] [-w DIR] [-u USER] [--timeout TIME] CELL COMMAND...";

struct exec {
	struct target target;
	struct keep_start start;
	bool interactive, tty, detach;
	char **env;
	size_t nenv;
	struct terminal terminal;
	uint32_t id; /* of the request, whose end is waited for */
	uint32_t proc;
	uint32_t last; /* request of our own */
	int hold; /* the other end of an input that nobody types at; -1 */
};

void exec_help(void)
{
	printf("Usage: %s\n\n"
	       "Runs COMMAND in a running cell and ends with its exit status. Its streams are "
	       "those "
	       "of viv, its input is\nempty without -i.\n\n"
	       "  -i, --interactive   COMMAND reads viv's standard input\n"
	       "  -t, --tty           it has a terminal of its own in the cell, shown at viv's\n"
	       "  -d, --detach        print the process's number and leave it to itself; 'viv logs "
	       "CELL:NUMBER' has its output\n"
	       "  -e, --env K=V       set a variable; a name alone passes the host's value\n"
	       "  -w, --workdir DIR   directory that it starts in (the cell's)\n"
	       "  -u, --user USER     as whom: a name of the cell, UID or UID:GID (the cell's)\n"
	       "  --timeout TIME      end it after this time (500ms, 10s, 5m)\n\n"
	       "When viv goes away, COMMAND gets SIGHUP, unless it was detached.\n",
	       usage_exec);
}

static int env_add(struct exec *x, const char *text)
{
	size_t name = strcspn(text, "=");
	const char *value = getenv(text);
	char *entry = NULL, **more;

	if (!name)
		return fail(
			"--env needs a name: --env NAME=VALUE, or --env NAME for the host's value");
	if (!text[name] && !value)
		return 0;
	if (text[name] ? (entry = strdup(text)) == NULL
		       : asprintf(&entry, "%s=%s", text, value) < 0)
		return fail("out of memory");
	for (size_t i = 0; i < x->nenv; i++)
		if (!strncmp(x->env[i], entry, name + 1)) {
			x->env[i] = entry;
			return 0;
		}
	more = realloc(x->env, (x->nenv + 2) * sizeof(*more));
	if (!more)
		return fail("out of memory");
	x->env = more;
	more[x->nenv++] = entry;
	more[x->nenv] = NULL;
	return 0;
}

static int options_parse(struct exec *x, int argc, char **argv, int *ret_at)
{
	static struct words env;
	const char *workdir = NULL, *user = NULL, *timeout = NULL;
	bool help = false;
	const struct verb_option list[] = {
		{ 'i', "interactive", .on = &x->interactive }, { 't', "tty", .on = &x->tty },
		{ 'd', "detach", .on = &x->detach },	       { 'e', "env", .many = &env },
		{ 'w', "workdir", .value = &workdir },	       { 'u', "user", .value = &user },
		{ 0, "timeout", .value = &timeout },	       { 'h', "help", .on = &help },
	};
	int status = 0;

	*ret_at = options_take(argc, argv, list, ARRAY_LEN(list), usage_exec);
	if (*ret_at < 0)
		return EXIT_OWN;
	if (help) {
		exec_help();
		return -1;
	}
	if (workdir && workdir[0] != '/')
		return fail("--workdir: must be an absolute path, not '%s'", workdir);
	if (timeout && !value_duration(timeout, &x->start.exec.timeout_ns))
		return fail("--timeout '%s': a time such as 500ms, 10s or 5m", timeout);
	x->start.spec.cwd = workdir;
	x->start.spec.user = user;
	/* What was given replaces it. */
	if (x->tty && !x->detach && getenv("TERM"))
		status = env_add(x, "TERM");
	for (unsigned i = 0; i < env.n && !status; i++)
		status = env_add(x, env.w[i]);
	return status;
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

static int streams_set(struct exec *x)
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
			return fail("cannot use standard stream %d", n);
		x->start.fds[n] = fd;
	}
	return 0;
}

static void terminal_raw(const struct exec *x)
{
	struct termios raw = x->terminal.saved;

	if (x->terminal.fd < 0 || !x->interactive)
		return;
	cfmakeraw(&raw);
	terminal_set(&x->terminal, &raw);
}

/* ---- while it runs ---- */

static void request_send(struct exec *x, struct keep_msg *m)
{
	m->id = ++x->last | 0x80000000u;
	m->proc = x->proc;
	/* Answers are not waited for: what it was for shows. */
	if (keep_send(x->target.fd, m, NULL, 0, KEEP_NOWAIT) < 0)
		return;
}

static void signal_pass(struct exec *x, int sig)
{
	struct keep_msg m = { .type = KEEP_SIGNAL, .a = sig };
	uint16_t rows, cols;

	switch (sig) {
	case SIGWINCH:
		window_size(&rows, &cols);
		m = (struct keep_msg){ .type = KEEP_RESIZE, .a = rows, .b = cols };
		if (x->tty)
			request_send(x, &m);
		return;
	case SIGPIPE:
	case SIGTTIN:
	case SIGTTOU:
		return;
	case SIGINT:
	case SIGQUIT:
	case SIGCONT:
		m.flags = KEEP_TO_GROUP;
		break;
	case SIGTSTP:
		/* Both stop, and both go on when the shell says so. */
		m.a = SIGSTOP;
		m.flags = KEEP_TO_GROUP;
		request_send(x, &m);
		kill(getpid(), SIGSTOP);
		return;
	default:
		break;
	}
	request_send(x, &m);
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int stay(struct exec *x, int signals)
{
	struct pollfd p[2] = { { .fd = x->target.fd, .events = POLLIN },
			       { .fd = signals, .events = POLLIN } };

	for (;;) {
		struct signalfd_siginfo si;
		struct keep_msg m;
		int err;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return fail("cannot wait: %s", strerror(errno));
		while (read(signals, &si, sizeof(si)) == sizeof(si))
			signal_pass(x, (int)si.ssi_signo);
		err = keep_recv(x->target.fd, &m, NULL, NULL, KEEP_NOWAIT);
		if (err == -EAGAIN)
			continue;
		if (err)
			return fail("the cell's keeper is gone, and the cell with it");
		if (m.type == KEEP_EXITED && m.id == x->id)
			return status_of(m.a);
	}
}

/* Who reads what the process writes is to see its end, whether viv is still there or not. Messages stay possible. */
static void streams_leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int n = 0; n < 2 && null >= 0; n++)
		if (!isatty(n))
			dup2(null, n);
}

static int attached(struct exec *x)
{
	struct termios unused;
	struct keep_msg m;
	struct err e;
	int signals = watch_signals(), status;

	if (signals < 0)
		return fail("cannot receive signals: %s", strerror(errno));
	terminal_save(&x->terminal);
	if (x->tty)
		terminal_raw(x);
	if (keep_exec(x->target.fd, &x->start, &m, &status, &e) < 0) {
		terminal_restore(&x->terminal, &unused);
		fail("%s", e.text);
		return status;
	}
	x->id = m.id;
	x->proc = m.proc;
	/* The cell's own from here on: the end of a pipe must not wait for us. */
	for (int n = 0; n < 3; n++)
		close(x->start.fds[n]);
	streams_leave();
	status = stay(x, signals);
	terminal_restore(&x->terminal, &unused);
	return status;
}

static int detached(struct exec *x)
{
	struct keep_msg m;
	struct err e;
	int status;

	x->start.exec.flags |= KEEP_X_DETACH | KEEP_X_LOG;
	if (keep_exec(x->target.fd, &x->start, &m, &status, &e) < 0) {
		fail("%s", e.text);
		return status;
	}
	printf("%u\n", m.proc);
	return 0;
}

int exec_main(int argc, char **argv)
{
	static struct exec x;
	struct err e;
	int at = 0, status = options_parse(&x, argc, argv, &at);

	if (status)
		return status < 0 ? 0 : status;
	if (argc - at < 2)
		return fail("usage: %s", usage_exec);
	if (x.tty && !x.detach && !isatty(x.interactive ? 0 : 1))
		return fail("-t: there is no terminal to show it at; leave -t out");
	if (target_open(argv[at], &x.target, &e) < 0)
		return fail("%s", e.text);
	x.start.spec.flags = EXECSPEC_CELL_ENV;
	x.start.spec.argv = argv + at + 1;
	x.start.spec.envp = x.env;
	x.start.exec.flags = x.tty ? KEEP_X_TTY : 0;
	window_size(&x.start.exec.rows, &x.start.exec.cols);
	if (x.detach)
		return detached(&x);
	status = streams_set(&x);
	return status ? status : attached(&x);
}
