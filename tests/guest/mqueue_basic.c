/* POSIX message queues: priorities, limits, waiting with a deadline, readiness, notification,
 * names. */
#include "guest.h"
#include <mqueue.h>
#include <poll.h>
#include <time.h>

static volatile sig_atomic_t code, value;

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	code = si->si_code;
	value = si->si_value.sival_int;
}

static void ready(mqd_t q)
{
	struct pollfd p = { .fd = q, .events = POLLIN | POLLOUT };
	poll(&p, 1, 0);
	printf("ready %x\n", p.revents);
}

static void receive(mqd_t q)
{
	char buf[64] = "";
	unsigned prio = 99;
	errno = 0;
	ssize_t n = mq_receive(q, buf, sizeof(buf), &prio);
	if (n < 0)
		printf("receive: %s\n", ename(errno));
	else
		printf("receive: %zd %s priority %u\n", n, buf, prio);
}

static void user(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/guest-%d", getppid());
	drop_to_user();
	SHOW(mq_open(name, O_RDWR));
	SHOW(mq_unlink(name));
}

int main(void)
{
	struct mq_attr at = { .mq_maxmsg = 4, .mq_msgsize = 64 };
	struct timespec past = { .tv_sec = 1 };
	char name[64], buf[64];

	snprintf(name, sizeof(name), "/guest-%d", getpid());
	mq_unlink(name);
	SHOW(mq_open(name, O_RDWR));
	mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &at);
	CHECK(q != (mqd_t)-1);
	SHOW(fcntl(q, F_GETFD));
	SHOW(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &at));
	SHOW(mq_getattr(q, &at));
	printf("%ld %ld %ld %d\n", at.mq_maxmsg, at.mq_msgsize, at.mq_curmsgs, at.mq_flags == O_NONBLOCK);
	ready(q);
	receive(q);
	SHOW(mq_send(q, "low", 4, 1));
	SHOW(mq_send(q, "high", 5, 9));
	SHOW(mq_send(q, "low 2", 6, 1));
	ready(q);
	SHOW(mq_send(q, "middle", 7, 5));
	ready(q);
	SHOW(mq_send(q, "full", 5, 1));
	for (int i = 0; i < 5; i++)
		receive(q);
	SHOW(mq_send(q, buf, 65, 0));
	SHOW(mq_send(q, buf, 1, 32768));
	SHOW(mq_receive(q, buf, 63, NULL));
	SHOW(mq_send(q, buf, 0, 0));
	SHOW(mq_receive(q, buf, 64, NULL));
	mqd_t r = mq_open(name, O_RDONLY), w = mq_open(name, O_WRONLY);
	SHOW(mq_send(r, "x", 1, 0));
	SHOW(mq_receive(w, buf, 64, NULL));
	SHOW(mq_timedreceive(r, buf, 64, NULL, &past));
	past.tv_nsec = -1;
	SHOW(mq_timedreceive(r, buf, 64, NULL, &past));

	pid_t pid = xfork();
	if (pid == 0) {
		usleep(20000);
		_exit(mq_send(w, "from child", 11, 3));
	}
	receive(r);
	show_status("child", xwait(pid));

	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 17 };
	sigaction(SIGUSR1, &sa, NULL);
	SHOW(mq_notify(q, &ev));
	SHOW(mq_notify(r, &ev));
	SHOW(mq_send(w, "one", 4, 0));
	printf("code %d value %d\n", code == SI_MESGQ, value);
	code = 0;
	SHOW(mq_send(w, "two", 4, 0));
	printf("told again: %d\n", code != 0);
	SHOW(mq_notify(q, &ev));
	SHOW(mq_notify(q, NULL));

	at.mq_flags = 0;
	SHOW(mq_setattr(q, &at, NULL));
	SHOW(fcntl(q, F_GETFL) & O_NONBLOCK);
	at.mq_flags = 1;
	SHOW(mq_setattr(q, &at, NULL));
	if (geteuid() == 0)
		in_child(user);
	SHOW(mq_unlink(name));
	SHOW(mq_unlink(name));
	receive(q);
	SHOW(mq_close(q));
	SHOW(mq_close(q));
	at = (struct mq_attr){ .mq_maxmsg = 0, .mq_msgsize = 64 };
	SHOW(mq_open(name, O_RDWR | O_CREAT, 0600, &at));
	SHOW(mq_open("/a/b", O_RDWR | O_CREAT, 0600, NULL));
	SHOW(mq_getattr(0, &at));
	SHOW(mq_send(0, "x", 1, 0));
	return 0;
}
