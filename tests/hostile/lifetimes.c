/* Objects of the kernel that a guest lets go of while a call still stands on them, or whose last
 * holder it makes an unusual one.
 *
 *   lifetimes shm       System V segments: attachments asked for and never confirmed, around the
 *                       segment's removal
 *   lifetimes mounts    file systems, binds of their directories, and their ends in every order,
 *                       with caches dropped in between
 *   lifetimes unix      listeners that only reach themselves, collected while somebody connects
 *                       to them
 *   lifetimes fifo      an open that waits on a file system that is unmounted
 *   lifetimes groups    signals to groups of hundreds, while their processes end and are waited for
 *   lifetimes stub      questions of the stub in an order that it never has: filters, signals
 * The sanitized kernel ends at the first use of what is gone. */
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hostile.h"

/* ---- System V segments ---- */

static long ask_attach(int id, int flags)
{
	struct stub_shm out;
	long fd = RAW(HC_SHMAT, id, 0, flags, &out);

	if (fd >= 0)
		MARKED(SYS_close, fd, 0, 0, 0, 0);
	return fd;
}

static void shm_twice(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

		ask_attach(id, 0);
		shmctl(id, IPC_RMID, NULL);
		for (int n = i % 4; n >= 0; n--)
			ask_attach(id, n & 1 ? SHM_RDONLY : 0);
		if (i & 1)
			RAW(HC_SHMAT_DONE, i & 2 ? 0x10000 : 0);
	}
	_exit(0);
}

/* Every question of an attachment in any order, on few segments and few addresses. */
static void shm_random(void *arg)
{
	int ids[4];

	seed_state ^= (uint64_t)(long)arg * 0x9e3779b97f4a7c15ull;
	for (int i = 0; i < 4; i++)
		ids[i] = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	for (int i = 0; i < 3000; i++) {
		int *id = &ids[below(4)];
		long addr = (long)(0x10000 + below(3) * 4096);

		switch (below(9)) {
		case 0:
		case 1:
			ask_attach(*id, below(2) ? SHM_RDONLY : 0);
			break;
		case 2:
		case 3:
			RAW(HC_SHMAT_DONE, below(3) ? addr : 0);
			break;
		case 4:
			RAW(HC_SHMDT, addr);
			break;
		case 5:
			shmctl(*id, IPC_RMID, NULL);
			break;
		case 6:
			shmctl(*id, IPC_RMID, NULL);
			*id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
			break;
		case 7: {
			struct shmid_ds ds;

			shmctl(*id, IPC_STAT, &ds);
			break;
		}
		default:
			if (below(8) == 0 && fork() == 0)
				_exit(0);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
	}
	/* A child that still ends has the attachments, too. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (int i = 0; i < 4; i++)
		shmctl(ids[i], IPC_RMID, NULL);
	_exit(0);
}

static int shm_segments(void)
{
	struct shm_info info;

	shmctl(0, SHM_INFO, (struct shmid_ds *)&info);
	return info.used_ids;
}

static void shm_all(void)
{
	int before = shm_segments();

	check(in_child(shm_twice, NULL, 20000) == 0, "attachments that are never confirmed, of segments that are removed");
	check(cell_is_well(), "the kernel goes on");
	for (long i = 1; i <= 4; i++)
		check(in_child(shm_random, (void *)i, 20000) == 0, "attaching in any order, %ld", i);
	check(shm_segments() == before, "no segment is left");
	check(cell_is_well(), "the kernel goes on");
}

/* ---- mounts ---- */

static void caches_drop(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	(void)!write(fd, "3", 1);
	close(fd);
}

#define BASE "/tmp/lifetimes"

static void mounts_make(void)
{
	int fd;

	mkdir(BASE, 0755);
	mkdir(BASE "/t", 0755);
	mkdir(BASE "/b", 0755);
	mkdir(BASE "/c", 0755);
	mount("x", BASE "/t", "tmpfs", 0, NULL);
	mkdir(BASE "/t/d", 0755);
	mkdir(BASE "/t/d/e", 0755);
	fd = open(BASE "/t/d/e/file", O_CREAT | O_RDWR, 0600);
	close(fd);
	mount(BASE "/t/d", BASE "/b", NULL, MS_BIND, NULL);
	mount(BASE "/t/d/e", BASE "/c", NULL, MS_BIND, NULL);
}

static void mounts_end(void)
{
	static const char *const places[] = { BASE "/t/d", BASE "/t", BASE "/b", BASE "/c" };

	(void)!chdir("/");
	for (int i = 0; i < 8; i++)
		umount2(places[i % 4], MNT_DETACH);
	caches_drop();
}

static int held = -1;

static void mounts_step(unsigned what)
{
	static const char *const places[] = { BASE "/t", BASE "/b", BASE "/c" };

	switch (what) {
	case 0:
	case 1:
	case 2:
		umount2(places[what], MNT_DETACH);
		break;
	case 3:
		caches_drop();
		break;
	case 4: /* somebody stands in it, or has it open */
		held = open(BASE "/c/file", O_RDWR);
		(void)!chdir(BASE "/b");
		break;
	case 5:
		close(held);
		(void)!chdir("/");
		break;
	default: /* what a bind shows is removed */
		unlink(BASE "/c/file");
		rmdir(BASE "/t/d/e");
		rmdir(BASE "/t/d");
	}
}

/* All orders of all steps: 7! of them. */
static void mounts_orders(void *arg)
{
	unsigned from = (unsigned)(long)arg;

	unshare(CLONE_NEWNS);
	for (unsigned n = from; n < 5040; n += 9) {
		unsigned left[7] = { 0, 1, 2, 3, 4, 5, 6 }, code = n;

		mounts_make();
		for (unsigned k = 7; k; k--) {
			unsigned i = code % k;

			code /= k;
			mounts_step(left[i]);
			memmove(left + i, left + i + 1, (k - i - 1) * sizeof(left[0]));
		}
		mounts_end();
	}
	_exit(0);
}

static void mounts_plain(void *arg)
{
	static const char orders[][4] = { "tbd", "btd", "tdb", "bdt", "dtb", "dbt" };

	(void)arg;
	for (unsigned i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		mkdir("/tmp/lt", 0755);
		mkdir("/tmp/lb", 0755);
		if (mount("x", "/tmp/lt", "tmpfs", 0, NULL) < 0)
			_exit(1);
		mkdir("/tmp/lt/d", 0755);
		if (mount("/tmp/lt/d", "/tmp/lb", NULL, MS_BIND, NULL) < 0)
			_exit(2);
		for (const char *s = orders[i]; *s; s++) {
			if (*s == 'd')
				caches_drop();
			else if (umount(*s == 't' ? "/tmp/lt" : "/tmp/lb") < 0)
				_exit(3);
		}
		caches_drop();
	}
	_exit(0);
}

/* Two processes stand in a mount that is detached, one with its root, one with its working
 * directory. Each takes a tree of its own. */
static void mounts_detached(void *arg)
{
	static const char place[] = "/tmp/lt";
	int pipes[2][2];
	char c;

	(void)arg;
	if (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0)
		_exit(1);
	mkdir(place, 0755);
	if (mount("x", place, "tmpfs", 0, NULL) < 0)
		_exit(2);
	if (fork() == 0) {
		(void)!chroot(place);
		(void)!chdir("/");
		(void)!write(pipes[0][1], "x", 1);
		(void)!read(pipes[1][0], &c, 1);
		_exit(unshare(CLONE_NEWNS) < 0);
	}
	(void)!chdir(place);
	(void)!read(pipes[0][0], &c, 1);
	umount2(place, MNT_DETACH);
	(void)!write(pipes[1][1], "x", 1);
	wait(NULL);
	for (int i = 0; i < 3; i++)
		if (unshare(CLONE_NEWNS) < 0)
			_exit(3);
	_exit(0);
}

static void mounts_all(void)
{
	check(in_child(mounts_plain, NULL, 20000) == 0, "a tmpfs and a bind of its directory end in any order");
	check(cell_is_well(), "the kernel goes on");
	check(in_child(mounts_detached, NULL, 20000) == 0, "trees of mounts that begin in a mount that is none any more");
	check(cell_is_well(), "the kernel goes on");
	for (long i = 0; i < 9; i += 4)
		check(in_child(mounts_orders, (void *)i, 60000) == 0, "with files and working directories, part %ld", i);
	check(cell_is_well(), "the kernel goes on");
}

/* ---- unix sockets ---- */

#define UNIX_MAX 16384 /* sockets of the cell */

static struct sockaddr_un address(int n, socklen_t *len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)sprintf(a.sun_path + 1, "life%d", n));
	return a;
}

static int fd_send(int over, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return (int)sendmsg(over, &m, 0);
}

/* A listener that is held only by a message in the queue of a connection that nobody has accepted
 * from it. It is bound still. */
static int garbage_listener(int n, int type)
{
	socklen_t len;
	struct sockaddr_un a = address(n, &len);
	int l = socket(AF_UNIX, type, 0), c = socket(AF_UNIX, type, 0), ok;

	ok = l >= 0 && c >= 0 && bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 10) == 0 &&
	     connect(c, (struct sockaddr *)&a, len) == 0 && fd_send(c, l) == 1;
	close(c);
	close(l);
	return ok ? 0 : -1;
}

static void unix_limit(void *arg)
{
	struct rlimit lim = { 60000, 60000 };
	int name = 0, type = (long)arg & 8 ? SOCK_SEQPACKET : SOCK_STREAM;

	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		_exit(1);
	for (int i = 0; i < UNIX_MAX - 40 - ((long)arg & 7); i++)
		if (socket(AF_UNIX, SOCK_STREAM, 0) < 0)
			_exit(2);
	for (int i = 0; i < 40; i++) {
		socklen_t len;
		struct sockaddr_un a = address(++name, &len);
		int x;

		garbage_listener(name, type);
		x = socket(AF_UNIX, type, 0);
		if (x >= 0)
			connect(x, (struct sockaddr *)&a, len);
	}
	_exit(0);
}

static void unix_all(void)
{
	for (long i = 0; i < 12; i++)
		check(in_child(unix_limit, (void *)i, 60000) == 0, "connecting to garbage at the limit, %ld", i);
	check(cell_is_well(), "the kernel goes on");
}

/* ---- FIFOs ---- */

static void fifo_opener(void *arg)
{
	close(open(BASE "/t/f", arg ? O_WRONLY : O_RDONLY));
	_exit(0);
}

static void fifo_once(void *arg)
{
	pid_t pid;

	unshare(CLONE_NEWNS);
	mkdir(BASE, 0755);
	mkdir(BASE "/t", 0755);
	if (mount("x", BASE "/t", "tmpfs", 0, NULL) < 0 || mkfifo(BASE "/t/f", 0600) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0)
		fifo_opener((void *)((long)arg & 1));
	naptime(50);
	if ((long)arg & 2)
		unlink(BASE "/t/f");
	umount2(BASE "/t", MNT_DETACH);
	if ((long)arg & 4)
		caches_drop();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	caches_drop();
	_exit(0);
}

static void fifo_all(void)
{
	for (long i = 0; i < 8; i++)
		check(in_child(fifo_once, (void *)i, 20000) == 0, "an open that waits on what was unmounted, %ld", i);
	check(cell_is_well(), "the kernel goes on");
}

/* ---- the stub's questions ---- */

/* A filter that refuses one call. */
static long filter_ask(int nr, unsigned flags)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	return RAW(HC_SECCOMP, SECCOMP_SET_MODE_FILTER, flags, &p);
}

static long verdict_of(int nr)
{
	struct stub_call c = { .nr = (uint64_t)nr };

	return RAW(HC_SECCOMP_ASK, &c);
}

static volatile int turn;

static void *sync_other(void *arg)
{
	(void)arg;
	while (!turn)
		sched_yield();
	if (filter_ask(SYS_shmdt, SECCOMP_FILTER_FLAG_TSYNC) > 0)
		RAW(HC_SECCOMP_DONE, 0);
	return NULL;
}

/* The host refuses this thread's filter, after another thread has put one on top of it for both. */
static void sync_refused(void *arg)
{
	pthread_t th;

	(void)arg;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	pthread_create(&th, NULL, sync_other, NULL);
	if (filter_ask(SYS_shmat, SECCOMP_FILTER_FLAG_TSYNC) <= 0)
		_exit(1);
	turn = 1;
	pthread_join(th, NULL);
	RAW(HC_SECCOMP_DONE, -EINVAL);
	if (verdict_of(SYS_shmdt) != (SECCOMP_RET_ERRNO | EXDEV))
		_exit(2); /* the other's, which stands */
	if (verdict_of(SYS_shmat) != (long)SECCOMP_RET_ALLOW)
		_exit(3); /* this one's, which the host never had */
	RAW(HC_SECCOMP_DONE, -EINVAL);
	_exit(verdict_of(SYS_shmdt) == (SECCOMP_RET_ERRNO | EXDEV) ? 0 : 4);
}

static void *sync_storm(void *arg)
{
	while (!turn)
		sched_yield();
	for (int i = 0; i < 200; i++) {
		unsigned flags = below(2) ? SECCOMP_FILTER_FLAG_TSYNC : 0;

		if (below(2))
			filter_ask(SYS_shmdt, flags);
		else
			RAW(HC_SECCOMP_DONE, below(2) ? 0 : -1);
		verdict_of(SYS_shmdt);
	}
	return arg;
}

static void sync_storms(void *arg)
{
	pthread_t th[4];

	seed_state ^= (uint64_t)(long)arg * 0x9e3779b97f4a7c15ull;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&th[i], NULL, sync_storm, NULL);
	if (fork() == 0) {
		turn = 1;
		sync_storm(NULL);
		_exit(0);
	}
	turn = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(th[i], NULL);
	_exit(0);
}

static void numbers(void *arg)
{
	static const long odd[] = { 0, 1, -1, 63, 64, 65, INT_MAX, INT_MIN, LONG_MAX, LONG_MIN };

	(void)arg;
	for (unsigned i = 0; i < 10; i++)
		for (unsigned k = 0; k < 10; k++) {
			RAW(HC_TAKEN, odd[i], odd[k], odd[k]);
			RAW(HC_REROUTE, odd[i], odd[k]);
			RAW(HC_HOLD, odd[i], odd[k]);
			RAW(HC_SIGACTION, odd[i], odd[k], odd[i], odd[k]);
		}
	_exit(0);
}

static void stub_all(void)
{
	check(in_child(numbers, NULL, 20000) == 0, "signals that are none");
	check(in_child(sync_refused, NULL, 20000) == 0, "a filter that the host refuses takes no other one with it");
	for (long i = 1; i <= 4; i++)
		check(in_child(sync_storms, (void *)i, 20000) != -1, "filters of threads in any order, %ld", i);
	check(cell_is_well(), "the kernel goes on");
}

/* ---- groups of processes ---- */

#define MANY 300
#define CHAIN 300
#define ENDED 10

static void caught(int sig)
{
	(void)sig;
}

/* Sending a signal to a process that catches it and waits is work: to hundreds of them takes more
 * than one turn of the loop. */
static void group_of_many(void)
{
	static const int sigs[] = { SIGUSR1, SIGHUP, SIGCONT };
	int ready[2];
	char c;

	for (unsigned i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		signal(sigs[i], caught);
	if (pipe(ready) < 0)
		_exit(9);
	for (int i = 0; i < MANY; i++)
		if (fork() == 0) {
			(void)!write(ready[1], "", 1);
			for (;;)
				pause();
		}
	for (int i = 0; i < MANY; i++)
		(void)!read(ready[0], &c, 1);
	close(ready[0]);
	close(ready[1]);
}

/* Zombies are of a group, too, until they are waited for. */
static void group_zombies(void *arg)
{
	pid_t ended[ENDED];

	(void)arg;
	setpgid(0, 0);
	group_of_many();
	for (int round = 0; round < 2; round++) {
		siginfo_t si;

		for (int i = 0; i < ENDED; i++) {
			ended[i] = fork();
			if (ended[i] == 0)
				_exit(0);
			waitid(P_PID, (id_t)ended[i], &si, WEXITED | WNOWAIT);
		}
		for (int i = 0; i < ENDED; i++) {
			kill(0, SIGCONT); /* of which the mask is looked at */
			waitpid(ended[(i * 7 + round) % ENDED], NULL, 0);
		}
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	_exit(0);
}

/* The end of a session whose terminal is gone tells the group that was in its foreground, of which
 * its leader is itself. */
static void group_session(void *arg)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), told[2];
	pid_t leader;
	char c;

	(void)arg;
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || pipe(told) < 0)
		_exit(9);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for the leader */
	leader = fork();
	if (leader == 0) {
		int fd;

		signal(SIGCHLD, SIG_DFL);
		setsid();
		fd = open(ptsname(master), O_RDWR);
		close(master);
		tcsetpgrp(fd, getpid());
		group_of_many();
		(void)!write(told[1], "", 1);
		pause();
		pause(); /* hung up, and continued */
		_exit(0);
	}
	(void)!read(told[0], &c, 1);
	close(master);
	for (int i = 0; i < 2000 && kill(leader, SIGUSR1) == 0; i++)
		usleep(2000);
	usleep(100000);
	kill(-leader, SIGKILL);
	_exit(0);
}

static void *ends_at_once(void *arg)
{
	return arg;
}

/* The youngest of a large group gets its signal last. Meanwhile its threads end, or it becomes
 * another program, which are reasons to hand on what was sent to it. */
static void group_endings(void *arg)
{
	pid_t leader;
	int made[2];
	char c;

	if (pipe(made) < 0 || (leader = fork()) < 0)
		_exit(9);
	if (leader == 0) {
		setpgid(0, 0);
		group_of_many();
		if (fork() == 0) {
			alarm(20);
			for (int i = 0;; i++) {
				pthread_t other;

				if (i == 0)
					(void)!write(made[1], "", 1);
				if (arg && i == 20)
					execl("/proc/self/exe", "lifetimes", "youngest", (char *)0);
				if (pthread_create(&other, NULL, ends_at_once, NULL) == 0)
					pthread_join(other, NULL);
			}
		}
		for (;;)
			pause();
	}
	(void)!read(made[0], &c, 1);
	for (int i = 0; i < 500 && kill(-leader, SIGUSR1) == 0; i++)
		;
	kill(-leader, SIGKILL);
	waitpid(leader, NULL, 0);
	_exit(0);
}

/* The program that the youngest becomes, over and over, with the signals of its group on their
 * way. */
static void youngest(void)
{
	pthread_t other;

	signal(SIGUSR1, caught);
	for (int i = 0; i < 20; i++)
		if (pthread_create(&other, NULL, ends_at_once, NULL) == 0)
			pthread_join(other, NULL);
	execl("/proc/self/exe", "lifetimes", "youngest", (char *)0);
	_exit(0);
}

/* A chain of parents in one group: each that stops is news for its parent, which has its own stop
 * still to come. */
static void group_chain(void *arg)
{
	pid_t leader;
	int made[2];
	char c;

	(void)arg;
	if (pipe(made) < 0 || (leader = fork()) < 0)
		_exit(9);
	if (leader == 0) {
		setpgid(0, 0);
		group_of_many();
		signal(SIGCHLD, caught);
		for (int i = 0; i < CHAIN; i++)
			if (fork() > 0)
				for (;;)
					pause();
		(void)!write(made[1], "", 1);
		for (;;)
			pause();
	}
	(void)!read(made[0], &c, 1);
	for (int i = 0; i < 4; i++) {
		kill(-leader, SIGSTOP);
		kill(-leader, SIGCONT);
	}
	kill(-leader, SIGKILL);
	waitpid(leader, NULL, 0);
	_exit(0);
}

static void groups_all(void)
{
	check(in_child(group_endings, NULL, 60000) == 0, "threads end while signals for their group are on their way");
	check(in_child(group_endings, "", 60000) == 0, "and programs are started");
	check(in_child(group_chain, NULL, 60000) == 0, "a chain of parents that stop");
	for (int i = 0; i < 2; i++)
		check(in_child(group_session, NULL, 60000) == 0, "the end of a large session, %d", i);
	check(in_child(group_zombies, NULL, 60000) == 0, "signals to a group of which some have ended");
	check(cell_is_well(), "the kernel goes on");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} parts[] = { { "shm", shm_all }, { "mounts", mounts_all }, { "unix", unix_all }, { "fifo", fifo_all }, { "groups", groups_all }, { "stub", stub_all } };

	if (argc == 2 && !strcmp(argv[1], "youngest"))
		youngest();
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc < 2 || !strcmp(argv[1], parts[i].name))
			parts[i].fn();
	return done();
}
