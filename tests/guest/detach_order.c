/*
 * Threads that have waited for long are served in the order in which they came: readers of a pipe,
 * accept, semop, msgrcv; and somebody who comes later does not overtake them.
 */
#include "detach.h"
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

#define N 12

static int p[2], listener, sem, msg, kind;
static int order[N + 1];
static volatile int served;

static void one(struct blocked *b)
{
	struct sembuf o = { 0, -1, 0 };
	struct {
		long type;
		char text[8];
	} m;
	char c;

	b->tid = gettid();
	switch (kind) {
	case 0:
		b->ret = read(p[0], &c, 1);
		break;
	case 1:
		b->ret = accept(listener, NULL, NULL);
		close((int)b->ret);
		break;
	case 2:
		b->ret = semop(sem, &o, 1);
		break;
	default:
		b->ret = msgrcv(msg, &m, 8, 0, 0);
	}
	order[served] = b->i;
	__atomic_fetch_add(&served, 1, __ATOMIC_SEQ_CST);
}

static void feed(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "sock" };
	struct {
		long type;
		char text[8];
	} m = { 1, "m" };
	int fd, ok;

	switch (kind) {
	case 0:
		ok = write(p[1], "x", 1) == 1;
		break;
	case 1:
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		ok = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
		close(fd);
		break;
	case 2:
		ok = semop(sem, &(struct sembuf){ 0, 1, 0 }, 1) == 0;
		break;
	default:
		ok = msgsnd(msg, &m, 8, 0) == 0;
	}
	if (!ok)
		printf("feed %d: %s\n", kind, ename(errno));
}

int main(void)
{
	static const char *const names[] = { "read", "accept", "semop", "msgrcv" };
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "sock" };
	static struct blocked b[N + 1];

	alarm(28);
	if (pipe(p))
		return 99;
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 20))
		return 99;
	sem = semget(IPC_PRIVATE, 1, 0600);
	msg = msgget(IPC_PRIVATE, 0600);
	crowd_start();
	for (kind = 0; kind < 4; kind++) {
		int n = N + 1, sorted = 1;

		served = 0;
		for (int i = 0; i < N; i++) {
			blocked_start(&b[i], i, 64 << 10, one);
			blocked_await(&b[i]);
		}
		make_calls();
		blocked_start(&b[N], N, 64 << 10, one);
		blocked_await(&b[N]);
		for (int i = 0; i < n; i++) {
			feed();
			while (served <= i)
				usleep(200);
		}
		for (int i = 0; i < n; i++) {
			pthread_join(b[i].thread, NULL);
			sorted &= order[i] == i;
		}
		printf("%s: in order %d\n", names[kind], sorted);
	}
	crowd_end();
	semctl(sem, 0, IPC_RMID);
	msgctl(msg, IPC_RMID, NULL);
	unlink("sock");
	return 0;
}
