/* The box through which calls are posted: whatever is written there, in the names of all of our
 * threads and of others, makes calls that we could have made, harms nobody else, and costs no more
 * boxes than there are. usage: post [seconds] */
#include "hostile.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "box.h"

#define SCRIBBLERS 3

static struct post_box *box;
static volatile int stop;
static uint32_t tids[SCRIBBLERS + 3];
static char area[65536];

static uint64_t odd(void)
{
	static const uint64_t some[] = { 0, 1, 12, 144, 1888, 1889, 4096, 65536, ~0UL, 1UL << 31, 1UL << 47, 0x7ea000000000 };

	switch (rnd() % 4) {
	case 0:
		return some[rnd() % (sizeof(some) / sizeof(some[0]))];
	case 1:
		return (uint64_t)area + rnd() % sizeof(area);
	case 2:
		return rnd() % 64;
	default:
		return rnd();
	}
}

static void scribble(uint32_t i)
{
	static const uint64_t nrs[] = { 0, 1, 3, 5, 8, 17, 18, 19, 20, 44, 45, 46, 47, 54, 72, 232, 233, 257, 262, 288, 59, 60, 231 };
	struct post_slot *s = &box->slot[i];

	s->nr = rnd() % 8 ? nrs[rnd() % (sizeof(nrs) / sizeof(nrs[0]))] : odd();
	s->ip = odd();
	for (int k = 0; k < 6; k++)
		s->a[k] = odd();
	if (s->a[0] < 3) /* not the streams that the result goes to */
		s->a[0] += 3;
	s->nin = (uint32_t)(rnd() % 2 ? rnd() % 6 : odd());
	for (int k = 0; k < POST_INS; k++) {
		s->in[k].addr = rnd() % 2 ? s->a[1] : odd();
		s->in[k].len = (uint32_t)odd();
		s->in[k].at = (uint32_t)odd();
	}
	s->out = rnd() % 2 ? s->a[1] : odd();
	s->out_room = (uint32_t)odd();
	s->out_len = (uint32_t)odd();
	for (int k = 0; k < 64; k++)
		s->room[rnd() % POST_ROOM] = (uint8_t)rnd();
	__atomic_store_n(&box->state[i], POST_STATE(tids[rnd() % (SCRIBBLERS + 3)], rnd() % 4 ? POST_POSTED : rnd() % 8),
			 __ATOMIC_SEQ_CST);
}

static void *scribbler(void *arg)
{
	tids[(long)arg] = (uint32_t)RAW(SYS_gettid);
	while (!stop)
		for (uint32_t i = 0; i < 16; i++) {
			if (i < POST_SLOTS)
				scribble(i);
			else
				box->state[i] = (uint32_t)rnd();
		}
	return NULL;
}

static void attack(void *arg)
{
	pthread_t th[SCRIBBLERS];
	int sv[2], p[2];
	char c = 'x';

	box = box_map();
	if (!box || box_map())
		_exit(9); /* there is one for us, and not a second */
	tids[SCRIBBLERS] = (uint32_t)getpid();
	tids[SCRIBBLERS + 1] = (uint32_t)getppid();
	tids[SCRIBBLERS + 2] = 1;
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv);
	(void)!pipe2(p, O_NONBLOCK);
	open("/usr/bin/env", O_RDONLY);
	epoll_create1(0);
	for (long i = 0; i < SCRIBBLERS; i++)
		pthread_create(&th[i], NULL, scribbler, (void *)i);
	for (time_t end = time(NULL) + *(int *)arg; time(NULL) < end;) {
		RAW(SYS_read, p[0], &c, 1);
		RAW(SYS_lseek, sv[0], 0, 0);
	}
	stop = 1;
	_exit(7);
}

/* Each has a box, as long as there are any; and each ends without giving it back. */
static void many(void *arg)
{
	pid_t pids[100];
	int had = 0;

	(void)arg;
	for (int i = 0; i < 100; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			int ok = box_map() != NULL;

			usleep(300000);
			_exit(ok);
		}
	}
	for (int i = 0; i < 100; i++) {
		int st = 0;

		waitpid(pids[i], &st, 0);
		had += WIFEXITED(st) && WEXITSTATUS(st) == 1;
	}
	_exit(had > 0 && had < 100 ? 7 : 9);
}

/* The name of another process in our box: its calls are its own. */
static void other(void *arg)
{
	int p[2], status;
	char c;

	(void)arg;
	(void)!pipe2(p, O_NONBLOCK);
	pid_t victim = fork();
	if (victim == 0) {
		for (int i = 0; i < 30000; i++)
			if (RAW(SYS_lseek, 0, 0, 99) == 0 || fcntl(p[0], F_GETFD) < 0)
				_exit(1);
		_exit(0);
	}
	box = box_map();
	for (int i = 0; box && i < 20000; i++) {
		struct post_slot *s = &box->slot[0];

		s->nr = SYS_close;
		s->a[0] = (uint64_t)p[0];
		box->state[0] = POST_STATE(victim, POST_POSTED);
		RAW(SYS_read, p[0], &c, 1);
	}
	waitpid(victim, &status, 0);
	_exit(box && status == 0 && fcntl(p[0], F_GETFD) == 0 ? 7 : 9);
}

/* How much room a slot has, said while the kernel looks: now less, now more than there is. Nothing
 * comes to lie behind the last slot, where the box of another may be. */
static void flip(void *arg)
{
	static struct post_box none;
	volatile int *step = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t *state, tid = (uint32_t)getpid();
	int fd, calls = 0, waits = 0, st = 0;
	struct post_slot *s;
	char c;
	pid_t other = fork();

	/* Before any call that the stub would want a box for. */
	if (other == 0) {
		box = box_map();
		for (*step = 1; *step == 1;)
			naptime(1);
		_exit(box && !memcmp(box, &none, sizeof(none)) ? 0 : 1);
	}
	while (!*step)
		naptime(1);
	box = box_map();
	fd = open("/tmp/post.flip", O_RDWR | O_CREAT | O_TRUNC, 0600);
	memset(area, 'x', sizeof(area));
	if (!box || write(fd, area, sizeof(area)) != sizeof(area))
		_exit(8);
	s = &box->slot[POST_SLOTS - 1];
	state = &box->state[POST_SLOTS - 1];
	s->nr = SYS_pread64;
	s->a[0] = (uint64_t)fd;
	s->a[1] = s->out = (uint64_t)area;
	s->a[2] = sizeof(area);
	for (time_t end = time(NULL) + *(int *)arg; time(NULL) < end + (calls ? 0 : 20);) {
		uint32_t now = POST_STEP(__atomic_load_n(state, __ATOMIC_ACQUIRE));

		if (now != POST_POSTED && now != POST_WORKED) {
			calls += now == POST_DONE && s->ret == sizeof(area);
			waits = 0;
			__atomic_store_n(state, POST_STATE(tid, POST_POSTED), __ATOMIC_SEQ_CST);
		} else if (++waits > 100) {
			RAW(SYS_pread64, fd, &c, 1, 0); /* the kernel is awake for who makes calls */
		}
		for (int i = 0; i < 50; i++) {
			__atomic_store_n(&s->out_room, 64, __ATOMIC_SEQ_CST);
			__atomic_store_n(&s->out_room, sizeof(area), __ATOMIC_SEQ_CST);
		}
	}
	*step = 2;
	waitpid(other, &st, 0);
	_exit(st == 0 && calls ? 7 : 9);
}

/* Makes calls until the stub has a box. */
static int gets_box(int fd)
{
	char c;

	for (double end = seconds() + 20; seconds() < end;) {
		for (int i = 0; i < 100; i++)
			(void)!pread(fd, &c, 1, 0);
		if (MARKED(SYS_rt_sigprocmask, 0, 0, POST_BASE + POST_SIZE - 8, 8, 0) == 0)
			return 1;
	}
	return 0;
}

/* Who is forked by one that has a box gets one of its own. */
static void forked(void *arg)
{
	int fd = open("/usr/bin/env", O_RDONLY), st;
	pid_t pid;

	(void)arg;
	if (!gets_box(fd))
		_exit(8);
	pid = fork();
	if (pid == 0)
		_exit(MARKED(SYS_rt_sigprocmask, 0, 0, POST_BASE + POST_SIZE - 8, 8, 0) == 0 || !gets_box(fd));
	_exit(waitpid(pid, &st, 0) == pid && st == 0 ? 7 : 9);
}

static int gives(void (*fn)(void *), void *arg, int ms)
{
	int status = in_child(fn, arg, ms);

	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int main(int argc, char **argv)
{
	int lasts = argc > 1 ? atoi(argv[1]) : 2;

	/* It may well destroy itself: its calls write where it says. */
	check(in_child(attack, &lasts, lasts * 1000 + 20000) >= 0 && cell_is_well(), "a box full of nonsense");
	check(gives(flip, &lasts, lasts * 1000 + 40000), "room that grows while it is looked at");
	check(gives(forked, NULL, 60000), "a box for the fork of a busy process");
	check(gives(other, NULL, 30000), "calls in another's name");
	check(gives(many, NULL, 30000), "more processes than boxes");
	check(gives(many, NULL, 30000) && cell_is_well(), "... and again: those of the dead are free");
	return done();
}
