/* viv attach: the streams of a process that runs already. Its output is read from the log that its
 * keeper writes, so that any number of clients see all of it and none holds it up; input goes to a
 * descriptor that the keeper gives (KEEP_ATTACH). With a terminal in the cell, viv's own is in raw
 * mode meanwhile, and the detach keys end viv, not the process. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/target.h"
#include "keeper/log.h"
#include "keeper/stay.h"

#define BACKLOG 4096 /* messages that wait for the keeper */
/* Also where inotify works: the log may have gone on in another file. */
#define LOOK_NS NSEC_PER_SEC
#define POLL_NS (NSEC_PER_SEC / 10)
#define KEYS_MAX 16
#define ID_ATTACH 1
#define ID_WAIT 2

struct attach {
	struct target target;
	struct stay stay;
	struct channel keeper;
	struct log_reader log;
	struct source changed; /* inotify; -1: not available */
	struct source in, out; /* viv's input, and that of the process */
	char data[4096]; /* that was read, of which at to n are to be written */
	size_t at, n;
	char keys[KEYS_MAX];
	unsigned nkeys, matched;
	bool tty, raw, proxy;
	bool file; /* viv's input is one that is always ready */
	bool over; /* the process has ended; the rest of its log is still to be shown */
};

/* ---- detach keys ---- */

/* "ctrl-p,ctrl-q" or "x": letters and control keys between commas. */
static bool keys_parse(struct attach *x, const char *text)
{
	static const char ctrl[] = "ctrl-";

	x->nkeys = 0;
	while (*text && x->nkeys < KEYS_MAX) {
		size_t n = strcspn(text, ",");
		int c = toupper((unsigned char)text[n ? n - 1 : 0]);

		if (n == 1)
			x->keys[x->nkeys++] = text[0];
		else if (n == sizeof(ctrl) && !strncmp(text, ctrl, n - 1) && c >= '@' && c <= '_')
			x->keys[x->nkeys++] = (char)(c - '@');
		else
			return false;
		text += n;
		if (*text && !*++text)
			return false;
	}
	return !*text;
}

/* Takes the keys out of what was typed. True: all of them were. */
static bool keys_find(struct attach *x, const char *typed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (x->nkeys && typed[i] == x->keys[x->matched]) {
			if (++x->matched == x->nkeys)
				return true;
			continue;
		}
		/* It was the beginning of something else. */
		memcpy(x->data + x->n, x->keys, x->matched);
		x->n += x->matched;
		x->matched = x->nkeys && typed[i] == x->keys[0];
		if (!x->matched)
			x->data[x->n++] = typed[i];
	}
	return false;
}

/* ---- messages ---- */

/* Answers are not waited for. */
static void request_send(struct attach *x, struct keep_msg m)
{
	m.id = m.id ? m.id : UINT32_MAX;
	m.proc = x->target.proc;
	channel_send(&x->keeper, &m, NULL, 0);
}

static void size_send(struct attach *x)
{
	struct winsize ws;

	for (int n = 0; n < 3; n++)
		if (!ioctl(n, TIOCGWINSZ, &ws)) {
			request_send(x, (struct keep_msg){ .type = KEEP_RESIZE,
							   .a = ws.ws_row,
							   .b = ws.ws_col });
			return;
		}
}

static void leave(struct attach *x, int status)
{
	x->stay.status = status;
	x->stay.ended = true;
}

static void signal_take(struct stay *s, int sig)
{
	struct attach *x = container_of(s, struct attach, stay);

	if (sig == SIGWINCH) {
		if (x->tty)
			size_send(x);
	} else if (sig == SIGTSTP) {
		/* Only viv: what the process writes meanwhile is kept. */
		stay_suspend(s);
	} else if (sig == SIGCONT) {
		if (x->tty)
			size_send(x);
	} else if (!x->proxy) {
		leave(x, 128 + sig);
	} else {
		request_send(x, (struct keep_msg){ .type = KEEP_SIGNAL,
						   .a = sig,
						   .flags = sig == SIGINT || sig == SIGQUIT
								    ? KEEP_TO_GROUP
								    : 0 });
	}
}

static const struct stay_ops attach_ops = { .signal = signal_take };

static void message(struct channel *c, void *msg, int *fds, unsigned nfds)
{
	struct attach *x = container_of(c, struct attach, keeper);
	const struct keep_msg *m = msg;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (m->id != ID_WAIT || x->over)
		return;
	if (m->type == KEEP_EXITED)
		x->stay.status = m->b ? EXIT_TIMEOUT : stay_status(m->a);
	x->over = true;
}

static void gone(struct channel *c)
{
	struct attach *x = container_of(c, struct attach, keeper);

	x->over = true;
	channel_close(c);
}

/* ---- streams ---- */

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EAGAIN)
			poll(&wait, 1, -1);
		else if (done < 0 && errno != EINTR)
			return false;
		p += MAX(done, 0);
		n -= (size_t)MAX(done, 0);
	}
	return true;
}

static void log_watch(struct attach *x)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", x->log.files[1]);
	if (x->changed.fd >= 0 && inotify_add_watch(x->changed.fd, path, IN_MODIFY) < 0)
		source_close(&x->changed);
}

/* Shows what is there. */
static void log_show(struct attach *x)
{
	struct log_reader *r = &x->log;
	unsigned before = r->opened;
	int some;

	while ((some = log_reader_next(r)) != 0) {
		if (r->opened != before)
			log_watch(x);
		before = r->opened;
		if (some == LOG_AGAIN)
			continue;
		if (r->dropped)
			warn("%llu bytes of output were not read in time",
			     (unsigned long long)r->dropped);
		r->dropped = 0;
		if (!write_all(r->head.stream == 2 ? 2 : 1, r->data + r->given,
			       r->len - r->given)) {
			leave(x, 128 + SIGPIPE);
			return;
		}
		log_reader_take(r, r->len - r->given);
	}
}

static void log_changed(struct source *s, uint32_t events)
{
	char skip[4096];

	(void)events;
	while (read(s->fd, skip, sizeof(skip)) > 0)
		;
}

static void input_stop(struct attach *x)
{
	if (x->in.fd >= 0 && !x->file)
		source_close(&x->in);
	x->file = false;
	if (x->out.fd >= 0)
		source_close(&x->out);
}

static void input_write(struct source *s, uint32_t events)
{
	struct attach *x = container_of(s, struct attach, out);
	ssize_t n = x->at < x->n ? write(s->fd, x->data + x->at, x->n - x->at) : 0;

	/* A pipe without a reader is ready all the time. */
	if ((n < 0 && errno != EAGAIN) || (!x->n && (events & (EPOLLERR | EPOLLHUP)))) {
		input_stop(x); /* it reads no more */
		return;
	}
	x->at += (size_t)MAX(n, 0);
	if (x->at == x->n)
		x->at = x->n = 0;
	source_change(s, x->n ? EPOLLOUT : 0);
	if (!x->file)
		source_change(&x->in, x->n ? 0 : EPOLLIN);
}

static void input_read(struct source *s, uint32_t events)
{
	struct attach *x = container_of(s, struct attach, in);
	char typed[sizeof(x->data) - KEYS_MAX];
	ssize_t n;

	(void)events;
	if (x->n)
		return;
	n = read(s->fd, typed, sizeof(typed));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* The end of a file or pipe is the end of the process's input; a terminal stays. */
		if (!x->tty)
			request_send(x, (struct keep_msg){ .type = KEEP_CLOSE_INPUT });
		input_stop(x);
		return;
	}
	if (!x->raw) {
		memcpy(x->data, typed, (size_t)n);
		x->n = (size_t)n;
	} else if (keys_find(x, typed, (size_t)n)) {
		leave(x, 0);
		return;
	}
	if (x->n)
		input_write(&x->out, 0);
}

static int input_begin(struct attach *x, int to)
{
	bool tty;
	int fd = stream_open(0, &tty), err;

	if (fd < 0)
		return fd;
	err = source_add(&x->out, to, 0, input_write);
	if (err)
		return err;
	err = source_add(&x->in, fd, EPOLLIN, input_read);
	if (err == -EPERM) {
		x->in.fd = fd;
		x->file = true;
		return 0;
	}
	return err;
}

/* ---- the time with it ---- */

static void terminal_begin(struct attach *x)
{
	struct termios raw = x->stay.terminal.saved;

	size_send(x);
	x->raw = x->out.fd >= 0 && x->stay.terminal.fd >= 0 && isatty(0);
	if (!x->raw)
		return;
	cfmakeraw(&raw);
	terminal_set(&x->stay.terminal, &raw);
}

static void rounds(struct attach *x)
{
	while (!x->stay.ended) {
		bool over = x->over;

		log_show(x);
		if (over)
			x->stay.ended = true;
		if (x->stay.ended || x->over)
			continue;
		if (x->file)
			input_read(&x->in, 0);
		stay_round(&x->stay, clock_mono() + (x->file && !x->n	  ? 1
						     : x->changed.fd >= 0 ? LOOK_NS
									  : POLL_NS));
	}
}

static int stay_with(struct attach *x, int input, struct err *e)
{
	int signals = stay_signals(), err = signals < 0 ? -errno : sources_init();

	x->keeper.in = message;
	x->keeper.gone = gone;
	x->stay.ops = &attach_ops;
	x->stay.status = -1;
	x->in.fd = x->out.fd = x->changed.fd = -1;
	terminal_save(&x->stay.terminal);
	if (!err)
		err = channel_init(&x->keeper, x->target.fd, BACKLOG);
	if (!err)
		err = stay_begin(&x->stay, signals);
	if (!err && input >= 0)
		err = input_begin(x, input);
	if (err)
		return err_set(e, ERR_FAILED, "cannot attach: %s", strerror(-err));
	if (source_add(&x->changed, inotify_init1(IN_NONBLOCK | IN_CLOEXEC), EPOLLIN, log_changed))
		x->changed.fd = -1;
	log_watch(x);
	request_send(x, (struct keep_msg){ .type = KEEP_WAIT, .id = ID_WAIT });
	if (x->tty)
		terminal_begin(x);
	rounds(x);
	err = stay_end(&x->stay, false);
	return err >= 0 ? err : err_set(e, ERR_FAILED, "the cell has ended");
}

/* The keeper's answer, and the descriptor for input; -1: there is none. */
static int attach_ask(struct attach *x, struct keep_msg *m, int *ret_input, struct err *e)
{
	int fds[KEEP_MAX_FDS], err;
	unsigned n = 0;

	*ret_input = -1;
	*m = (struct keep_msg){ .type = KEEP_ATTACH, .id = ID_ATTACH, .proc = x->target.proc };
	err = keep_send(x->target.fd, m, NULL, 0, 0);
	if (!err)
		err = keep_recv(x->target.fd, m, fds, &n, 0);
	if (err)
		return err_set(e, ERR_FAILED, "the cell does not answer: %s", strerror(-err));
	for (unsigned i = 1; i < n; i++)
		close(fds[i]);
	if (n)
		*ret_input = fds[0];
	if (m->type == KEEP_ATTACH)
		return 0;
	m->text[sizeof(m->text) - 1] = 0;
	keep_fail_get(m, e);
	return -1;
}

int attach_main(struct args *a, struct err *e)
{
	static struct attach x;
	const char *keys = arg_value(a, "detach-keys"), *proxy = arg_value(a, "sig-proxy");
	struct keep_msg m;
	int input;

	if (!keys_parse(&x, keys ? keys : "ctrl-p,ctrl-q"))
		return args_wrong(a, e, "--detach-keys '%s': keys such as ctrl-p,ctrl-q", keys);
	if (proxy && strcmp(proxy, "true") && strcmp(proxy, "false"))
		return args_wrong(a, e, "--sig-proxy '%s': true or false", proxy);
	if (target_open(a->words[0], &x.target, e) < 0 || attach_ask(&x, &m, &input, e) < 0)
		return -1;
	x.tty = m.flags & KEEP_X_TTY;
	x.proxy = !x.tty && !(proxy && !strcmp(proxy, "false"));
	if (arg_is_on(a, "no-stdin") && input >= 0) {
		close(input);
		input = -1;
	}
	if (log_reader_open(&x.log, x.target.id, x.target.proc,
			    arg_is_on(a, "logs") ? LOG_OLDEST : m.n))
		return err_set(e, ERR_FAILED, "the output of this process is not kept");
	return stay_with(&x, input, e);
}
