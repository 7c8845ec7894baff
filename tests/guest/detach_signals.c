/*
 * A signal's handler after a long wait: which calls go on, which end with EINTR, what they had done
 * until then; a signal that is blocked or ignored ends none; one for the process reaches the thread
 * that does not block it.
 */
#include "detach.h"
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>

#define KINDS 11
static int p[2], s_timeo[2], s_all[2], p_write[2], ep, sem, msg;
static volatile int hits, hit_tid, wrong_place;
static pid_t child;
static char block[100000];

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	hits++;
	hit_tid = gettid();
	wrong_place += si->si_signo != sig || si->si_pid != getpid();
}

static long call_of(int kind)
{
	struct pollfd pf = { .fd = p[0], .events = POLLIN };
	struct epoll_event e;
	struct sembuf o = { 0, -1, 0 };
	struct {
		long type;
		char text[8];
	} m;
	char c[8];
	int status;

	switch (kind) {
	case 0:
		return read(p[0], c, 1);
	case 1:
		return poll(&pf, 1, -1);
	case 2:
		return poll(&pf, 1, 60000);
	case 3:
		return epoll_wait(ep, &e, 1, -1);
	case 4:
		return recv(s_timeo[0], c, 1, 0);
	case 5:
		return recv(s_all[0], c, 8, MSG_WAITALL);
	case 6:
		return write(p_write[1], block, sizeof(block));
	case 7:
		return semop(sem, &o, 1);
	case 8:
		return msgrcv(msg, &m, 8, 0, 0);
	case 9:
		return waitpid(child, &status, 0) == child;
	default:
		return pause();
	}
}

static const char *const names[KINDS] = { "read",
					  "poll",
					  "poll with a time",
					  "epoll_wait",
					  "recv with a time",
					  "recv of all",
					  "write",
					  "semop",
					  "msgrcv",
					  "waitpid",
					  "pause" };

static void block_set(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void wait_in(struct blocked *b)
{
	block_set(SIG_UNBLOCK, SIGUSR1);
	b->tid = gettid();
	b->ret = call_of(b->i);
	if (b->ret < 0)
		b->ret = -errno;
}

/* All kinds at once, a signal to each; then what wakes those that go on. */
static void round_of(int flags)
{
	static struct blocked b[KINDS];
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };
	struct timeval tv = { .tv_sec = 60 };
	struct {
		long type;
		char text[8];
	} m = { 1, "m" };
	int c[2], on = 0;
	char byte;

	printf("handler %s SA_RESTART\n", flags ? "with" : "without");
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGUSR2, SIG_IGN);
	if (pipe(p) || pipe(c) || pipe(p_write) || socketpair(AF_UNIX, SOCK_STREAM, 0, s_timeo) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, s_all))
		exit(99);
	setsockopt(s_timeo[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &(struct epoll_event){ .events = EPOLLIN });
	sem = semget(IPC_PRIVATE, 1, 0600);
	msg = msgget(IPC_PRIVATE, 0600);
	child = xfork();
	if (child == 0) {
		close(c[1]);
		_exit(read(c[0], &byte, 1) == 1 ? 0 : 99);
	}
	hits = wrong_place = 0;
	block_set(SIG_BLOCK, SIGUSR1);
	for (int i = 0; i < KINDS; i++)
		blocked_start(&b[i], i, 64 << 10, wait_in);
	for (int i = 0; i < KINDS; i++)
		blocked_await(&b[i]);
	if (send(s_all[1], "abc", 3, 0) != 3)
		exit(99);
	make_calls();
	/* One that is ignored, one that is blocked: nothing. */
	for (int i = 0; i < KINDS; i++)
		pthread_kill(b[i].thread, SIGUSR2);
	make_calls();
	for (int i = 0; i < KINDS; i++)
		on += b[i].done;
	printf("ended by a signal that is ignored: %d\n", on);
	for (int i = 0; i < KINDS; i++) {
		pthread_kill(b[i].thread, SIGUSR1);
		while (hits < i + 1)
			usleep(200);
		if (hit_tid != b[i].tid)
			printf("%s: in another thread\n", names[i]);
	}
	usleep(50000);
	make_calls();
	for (int i = 0; i < KINDS; i++)
		printf("%s: %s\n", names[i], b[i].done ? "ended" : "goes on");
	/* What is left. */
	if (write(p[1], "x", 1) != 1 || send(s_timeo[1], "y", 1, 0) != 1 ||
	    send(s_all[1], "defgh", 5, 0) < 0 || write(c[1], "z", 1) != 1 ||
	    semop(sem, &(struct sembuf){ 0, 1, 0 }, 1) || msgsnd(msg, &m, 8, 0))
		exit(99);
	if (!b[10].done) {
		pthread_kill(b[10].thread, SIGUSR1);
		printf("pause went on\n");
	}
	while (!b[6].done && read(p_write[0], block, sizeof(block)) > 0)
		;
	for (int i = 0; i < KINDS; i++) {
		pthread_join(b[i].thread, NULL);
		printf("%s: %ld\n", names[i], b[i].ret);
	}
	printf("%d handlers ran, %d with a wrong siginfo\n", hits, wrong_place);
	if (!b[9].ret || b[9].ret < 0)
		xwait(child);
	semctl(sem, 0, IPC_RMID);
	msgctl(msg, IPC_RMID, NULL);
	close(p[0]), close(p[1]), close(c[0]), close(c[1]), close(ep), close(p_write[0]),
		close(p_write[1]);
	for (int i = 0; i < 2; i++)
		close(s_timeo[i]), close(s_all[i]);
}

static void read_open(struct blocked *b)
{
	char c;

	block_set(b->i ? SIG_UNBLOCK : SIG_BLOCK, SIGUSR1);
	b->tid = gettid();
	b->ret = read(p[0], &c, 1);
	if (b->ret < 0)
		b->ret = -errno;
}

/* For the process: of two threads that wait, the one that does not block it. */
static void process_wide(void)
{
	static struct blocked b[2];
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	if (pipe(p))
		exit(99);
	sigaction(SIGUSR1, &sa, NULL);
	hits = 0;
	for (int i = 0; i < 2; i++)
		blocked_start(&b[i], i, 64 << 10, read_open);
	for (int i = 0; i < 2; i++)
		blocked_await(&b[i]);
	make_calls();
	kill(getpid(), SIGUSR1);
	pthread_join(b[1].thread, NULL);
	make_calls();
	printf("for the process: %ld in the right thread %d, other waits %d\n", b[1].ret,
	       hit_tid == b[1].tid, !b[0].done);
	close(p[1]);
	pthread_join(b[0].thread, NULL);
	printf("other: %ld\n", b[0].ret);
	close(p[0]);
}

int main(void)
{
	alarm(25);
	block_set(SIG_BLOCK, SIGUSR1);
	crowd_start();
	round_of(0);
	round_of(SA_RESTART);
	process_wide();
	crowd_end();
	return 0;
}
