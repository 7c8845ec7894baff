/* viv's time with a running cell: forwards signals, prints what the kernel says, watches the
 * clock, and turns the end into an exit status. What comes from the kernel is not trusted:
 * messages have one size, and text is cleaned before it is shown.
 *
 * The kernel is in a session of its own, so a terminal's Ctrl-C and Ctrl-Z reach viv alone.
 * Ctrl-Z is passed on; when it meant the first process and not a job of a shell in the cell, the
 * kernel says so, and viv stops itself with the terminal as it found it; 'fg' undoes both. */
#include "cli/door.h"
#include "cli/place.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/bootspec.h"
#include "host/cgroup.h"
#include "host/isolate.h"
#include "host/stream.h"

#define GRACE (2 * NSEC_PER_SEC)

struct watch {
	const struct run_options *o;
	const struct isolated *kernel;
	int control;
	struct terminal terminal;
	int64_t deadline; /* of what comes next, by the monotonic clock; 0: none */
	bool timed_out, killed;
	bool asked_to_stop; /* somebody did, since it was stopped last */
	int status; /* -1: not known yet */
	struct place *place;
	int asker; /* who waits for a seal; -1: nobody */
	uint32_t sealing; /* the layer that is being sealed */
};

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGWINCH, SIGTSTP, SIGTTIN,
				 SIGTTOU, SIGCONT, SIGUSR1, SIGUSR2, SIGALRM,  SIGPIPE };

int supervise_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < ARRAY_LEN(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Shows text from the cell's side: no byte of it can steer a terminal. */
static void text_show(const char *prefix, const char *text, size_t size)
{
	char line[4 * sizeof(((struct ctl_msg *)0)->text) + 16];
	size_t n = 0, len = strnlen(text, size);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0;

		if (c < 0x20 || c == 0x7f || c1)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "\\x%02x", c);
		else
			line[n++] = (char)c;
	}
	line[n] = '\0';
	fprintf(stderr, "%s%s\n", prefix, line);
}

static void signal_send(struct watch *w, int sig)
{
	struct ctl_msg m = { .type = CTL_SIGNAL, .a = sig };

	/* A kernel that reads nothing any more gets its SIGKILL by the clock or by hand; never
	 * wait for it. */
	(void)!send(w->control, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void kernel_kill(struct watch *w)
{
	w->killed = true;
	w->deadline = 0;
	syscall(SYS_pidfd_send_signal, w->kernel->pidfd, SIGKILL, NULL, 0);
}

/* The end was announced. Said twice, it comes no later. */
static void grace_start(struct watch *w)
{
	int64_t end = now() + GRACE;

	w->deadline = w->deadline ? MIN(w->deadline, end) : end;
}

static void signal_handle(struct watch *w, int sig)
{
	switch (sig) {
	case SIGPIPE:
	case SIGTTIN:
	case SIGTTOU:
		return;
	case SIGTSTP:
		w->asked_to_stop = true;
		signal_send(w, sig);
		break;
	default:
		signal_send(w, sig);
	}
}

static void stop_self(struct watch *w)
{
	struct termios cell_mode;

	/* Where nobody could continue it and nobody asked, a kernel would only stop the clock. */
	if (w->terminal.fd < 0 && !w->asked_to_stop)
		return;
	w->asked_to_stop = false;
	terminal_restore(&w->terminal, &cell_mode);
	kill(getpid(), SIGSTOP);
	/* Continued: the signal for that is still to be read, and passed on. */
	terminal_set(&w->terminal, &cell_mode);
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* ---- the door ---- */

static void seal_answer(struct watch *w, enum err_kind kind, const char *text)
{
	struct door_answer a = { .kind = (int)kind, .layer = w->sealing };

	snprintf(a.text, sizeof(a.text), "%s", text);
	door_answer(w->asker, &a);
	w->asker = -1;
}

/* What the tree file says comes first: a layer that it names and nobody made yet is an empty one, but one that it does
 * not name is lost. */
static void seal_start(struct watch *w, const char *name)
{
	struct place *p = w->place;
	struct ctl_msg m = { .type = CTL_SEAL, .text = "sync" };
	char text[200];
	int err;

	w->sealing = p->disk.active;
	err = disk_seal_start(p->store.fd, &p->disk, name);
	if (err == -EEXIST) {
		snprintf(text, sizeof(text), "cell '%s' has a snapshot '%s' already", p->cell.name,
			 name);
		seal_answer(w, ERR_CONFLICT, text);
		return;
	}
	if (err) {
		seal_answer(w, ERR_FAILED,
			    err == -ELOOP ? "the cell has too many snapshots on top of each other"
					  : strerror(-err));
		return;
	}
	m.a = (int32_t)p->disk.active;
	if (send(w->control, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(m)) {
		disk_unseal(&p->disk);
		seal_answer(w, ERR_FAILED, "the cell does not answer");
	}
}

static void seal_end(struct watch *w, int err)
{
	if (w->asker < 0)
		return;
	if (err)
		disk_unseal(&w->place->disk);
	else
		err = disk_seal_end(&w->place->disk);
	if (err) {
		seal_answer(w, ERR_FAILED, strerror(-err));
	} else {
		seal_answer(w, 0, "");
	}
}

static void door_handle(struct watch *w)
{
	struct door_request q;

	w->asker = door_accept(w->place->door, &q);
	if (w->asker < 0)
		return;
	if (q.op == DOOR_SEAL && (!q.name[0] || disk_name_is_valid(q.name)))
		seal_start(w, q.name);
	else
		seal_answer(w, ERR_USAGE, "the cell was started by another version of viv");
}

/* One message. False: there was none. */
static bool message_handle(struct watch *w)
{
	struct ctl_msg m;
	ssize_t n = recv(w->control, &m, sizeof(m), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	if (n != sizeof(m))
		return true;
	switch (m.type) {
	case CTL_EXIT:
		if (w->status < 0)
			w->status = status_of(m.a);
		/* What is left is the kernel's own end. */
		grace_start(w);
		break;
	case CTL_FAIL:
		text_show("viv: ", m.text, sizeof(m.text));
		if (w->status < 0)
			w->status = m.a > 0 && m.a < 256 ? m.a : EXIT_OWN;
		grace_start(w);
		break;
	case CTL_LOG:
		if (m.a == 1)
			text_show("", m.text, sizeof(m.text));
		else if (!w->o->quiet)
			text_show("viv: ", m.text, sizeof(m.text));
		break;
	case CTL_STOP:
		stop_self(w);
		break;
	case CTL_SEALED:
		seal_end(w, m.a < 0 ? m.a : 0);
		break;
	case CTL_EVENT:
		if (!w->o->quiet)
			text_show("viv: ", m.text, sizeof(m.text));
		break;
	default:
		break;
	}
	return true;
}

static void deadline_passed(struct watch *w)
{
	if (w->timed_out || w->status >= 0) {
		kernel_kill(w);
		return;
	}
	w->timed_out = true;
	w->deadline = now() + GRACE;
	signal_send(w, SIGTERM);
	signal_send(w, SIGCONT);
}

/* The kernel is gone: what it left as status, or why there is none. */
static int status_final(struct watch *w, const struct cgroup *cg)
{
	siginfo_t si = { 0 };

	while (waitid(P_PIDFD, (id_t)w->kernel->pidfd, &si, WEXITED | __WALL) < 0 && errno == EINTR)
		;
	if (w->timed_out) {
		if (!w->o->quiet)
			warn("the time is up");
		return EXIT_TIMEOUT;
	}
	if (w->status >= 0)
		return w->status;
	if (cgroup_is_out_of_memory(cg)) {
		warn("the cell was killed: it used more than --memory allows");
		return 128 + SIGKILL;
	}
	if (si.si_code == CLD_EXITED)
		return fail("the cell's kernel ended without a result (status %d)", si.si_status);
	if (si.si_status == SIGKILL) {
		warn("the cell's kernel was killed");
		return 128 + SIGKILL;
	}
	if (si.si_status == SIGSYS)
		return fail("the cell's kernel was killed for a forbidden system call; please "
			    "report this");
	return fail("the cell's kernel crashed (%s); please report this", strsignal(si.si_status));
}

int supervise(const struct run_options *o, struct place *place, const struct isolated *kernel,
	      int control, int signals, const struct cgroup *cg)
{
	struct watch w = { .o = o,
			   .kernel = kernel,
			   .control = control,
			   .status = -1,
			   .place = place,
			   .asker = -1 };
	struct pollfd fds[4] = { { .fd = control, .events = POLLIN },
				 { .fd = signals, .events = POLLIN },
				 { .fd = kernel->pidfd, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	struct termios unused;
	int status;

	terminal_save(&w.terminal);
	if (o->timeout_ns)
		w.deadline = now() + o->timeout_ns;
	while (!fds[2].revents) {
		struct signalfd_siginfo si;
		struct timespec ts, *timeout = NULL;

		if (w.deadline) {
			int64_t left = MAX(w.deadline - now(), 0);

			ts = (struct timespec){ .tv_sec = left / NSEC_PER_SEC,
						.tv_nsec = left % NSEC_PER_SEC };
			timeout = &ts;
		}
		/* One request at a time, and none to a cell that has ended. */
		fds[3].fd = w.asker < 0 && w.status < 0 ? place->door : -1;
		if (ppoll(fds, ARRAY_LEN(fds), timeout, NULL) < 0 && errno != EINTR)
			break;
		while (read(signals, &si, sizeof(si)) == sizeof(si))
			signal_handle(&w, (int)si.ssi_signo);
		/* Before anything that a kernel could keep us busy with. */
		if (w.deadline && now() >= w.deadline)
			deadline_passed(&w);
		if ((fds[0].revents & POLLIN) && message_handle(&w))
			continue;
		if (fds[0].revents & POLLHUP)
			fds[0].fd = -1;
		if (fds[3].revents & POLLIN)
			door_handle(&w);
	}
	/* What was said last. */
	while (message_handle(&w))
		;
	/* Sealed or not, the kernel writes no more: the layer is as it is. */
	if (w.asker >= 0)
		seal_answer(&w, 0, "");
	status = status_final(&w, cg);
	terminal_restore(&w.terminal, &unused);
	return status;
}
