/* See stay.h. */
#include "keeper/stay.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/client.h"
#include "keeper/run.h"

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGWINCH, SIGTSTP, SIGTTIN,
				 SIGTTOU, SIGCONT, SIGUSR1, SIGUSR2, SIGALRM,  SIGPIPE };

int stay_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < ARRAY_LEN(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void signals_ready(struct source *src, uint32_t events)
{
	struct stay *s = container_of(src, struct stay, signals);
	struct signalfd_siginfo si;

	(void)events;
	while (read(src->fd, &si, sizeof(si)) == sizeof(si)) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGPIPE || sig == SIGTTIN || sig == SIGTTOU)
			continue;
		if (sig == SIGTSTP || sig == SIGCONT)
			s->asked_to_stop = sig == SIGTSTP;
		s->ops->signal(s, sig);
	}
}

int stay_begin(struct stay *s, int signals)
{
	return source_add(&s->signals, signals, EPOLLIN, signals_ready);
}

static void deadline_passed(struct stay *s)
{
	if (s->timed_out || s->stopping || s->status >= 0) {
		s->ops->overdue(s);
		return;
	}
	s->timed_out = true;
	s->deadline = clock_mono() + STAY_GRACE;
	s->ops->time_up(s);
}

void stay_round(struct stay *s, int64_t other)
{
	sources_wait(s->deadline && other ? MIN(s->deadline, other)
		     : s->deadline	  ? s->deadline
					  : other);
	if (!s->ended && s->deadline && clock_mono() >= s->deadline)
		deadline_passed(s);
}

void stay_suspend(struct stay *s)
{
	struct termios mode;

	/* Where nobody asked, nobody may be there to continue it. */
	if (!s->asked_to_stop || keep_signal_waits(SIGCONT))
		return;
	s->asked_to_stop = false;
	terminal_restore(&s->terminal, &mode);
	kill(getpid(), SIGSTOP);
	/* Continued: the signal for that is still to be read, and forwarded. */
	terminal_set(&s->terminal, &mode);
}

int stay_end(struct stay *s, bool quiet)
{
	struct termios unused;

	terminal_restore(&s->terminal, &unused);
	if (!s->timed_out)
		return s->status;
	if (!quiet)
		warn("the time is up");
	return EXIT_TIMEOUT;
}

int stay_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

bool stay_prints(enum keep_event_kind kind, int a, int b)
{
	return kind == KEEP_EV_LOG ||
	       (!a && (kind == KEEP_EV_LIMIT || (kind == KEEP_EV_OOM && !b)));
}

int stay_print_end(enum keep_reason reason, int status, const struct err *e)
{
	if (e->kind)
		report(e);
	else if (reason == KEEP_OUT_OF_MEMORY)
		warn("the cell was killed: it used more than --memory allows");
	return status;
}
