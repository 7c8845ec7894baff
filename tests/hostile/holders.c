/* Everything that holds something else, at random: files on mounts that go, sockets in messages in
 * sockets, waiting opens, watches, working directories, trees of mounts, locks, mappings, segments,
 * with caches dropped and processes killed in between. Nothing of it means anything; the kernel
 * must not stand on what it let go of. The sanitized kernel ends at the first use of what is gone.
 *
 *   holders ROUNDS SEED [DIR]     DIR: a directory to do it in, instead of a tmpfs of its own */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "hostile.h"

#define FDS 24

static int fds[FDS];
static const char *top; /* NULL: a tmpfs */
static char here[80];

static const char *top_path(void)
{
	return top ? top : "/tmp/holders";
}

static int any_fd(void)
{
	return fds[below(FDS)];
}

static void fd_put(int fd)
{
	unsigned at = (unsigned)below(FDS);

	if (fd < 0)
		return;
	if (fd > 200) { /* one that came in a message, perhaps of hundreds */
		close(fd);
		return;
	}
	close(fds[at]);
	fds[at] = fd;
}

static const char *any_path(void)
{
	static char buf[4][160];
	static unsigned turn;
	static const char *const places[] = { "", "/a", "/b", "/a/d", "/b/d", "/a/d/e", "/c", "/c/e" };
	static const char *const names[] = { "", "/f", "/g", "/p", "/s", "/x" };
	char *s = buf[turn++ % 4];

	snprintf(s, 160, "%s%s%s", below(8) ? top_path() : here, places[below(8)], names[below(6)]);
	return s;
}

static struct sockaddr_un any_address(socklen_t *len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (below(2)) {
		snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "holder%d", (int)below(4));
		*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 8);
	} else {
		snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", any_path());
		*len = sizeof(a);
	}
	return a;
}

static int any_type(void)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

	return types[below(3)] | SOCK_NONBLOCK;
}

/* Descriptors in a message, or out of it. */
static void message(int fd)
{
	char room[CMSG_SPACE(8 * sizeof(int))] = { 0 }, bytes[8] = { 0 };
	struct iovec iov = { bytes, 1 + below(8) };
	socklen_t len = 0;
	struct sockaddr_un a = any_address(&len);
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int n = 1 + (int)below(8), list[8];

	if (below(2)) {
		if (recvmsg(fd, &m, MSG_DONTWAIT | (below(4) ? 0 : MSG_PEEK) | (below(8) ? 0 : MSG_OOB)) < 0)
			return;
		for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
			for (size_t i = 0; c->cmsg_type == SCM_RIGHTS && i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
				int got;

				memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(got));
				if (below(3))
					close(got);
				else
					fd_put(got);
			}
		return;
	}
	for (int i = 0; i < n; i++)
		list[i] = any_fd();
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(c), list, (size_t)n * sizeof(int));
	m.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
	if (below(3) == 0) {
		m.msg_name = &a;
		m.msg_namelen = len;
	}
	sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL | (below(8) ? 0 : MSG_OOB));
}

static void sockets(void)
{
	socklen_t len;
	struct sockaddr_un a = any_address(&len);
	int pair[2];

	switch (below(10)) {
	case 0:
		fd_put(socket(AF_UNIX, any_type(), 0));
		break;
	case 1:
		if (socketpair(AF_UNIX, any_type(), 0, pair) == 0) {
			fd_put(pair[0]);
			fd_put(pair[1]);
		}
		break;
	case 2:
		bind(any_fd(), (struct sockaddr *)&a, len);
		break;
	case 3:
		listen(any_fd(), (int)below(3));
		break;
	case 4:
		connect(any_fd(), (struct sockaddr *)&a, len);
		break;
	case 5:
		fd_put(accept4(any_fd(), NULL, NULL, SOCK_NONBLOCK));
		break;
	case 6:
		shutdown(any_fd(), (int)below(3));
		break;
	default:
		message(any_fd());
	}
}

static void mounts(void)
{
	switch (below(9)) {
	case 0:
	case 1:
		mount("x", any_path(), "tmpfs", 0, NULL);
		break;
	case 2:
	case 3:
		mount(any_path(), any_path(), NULL, MS_BIND | (below(2) ? MS_REC : 0), NULL);
		break;
	case 4:
		mount(any_path(), any_path(), NULL, MS_MOVE, NULL);
		break;
	case 5:
	case 6:
		umount2(any_path(), below(3) ? MNT_DETACH : 0);
		break;
	case 7:
		if (below(4) == 0)
			unshare(CLONE_NEWNS);
		break;
	default:
		if (below(6) == 0)
			(void)!chroot(below(3) ? "/" : any_path());
	}
}

static void drop(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	(void)!write(fd, &"123"[below(3)], 1);
	close(fd);
}

static void names(void)
{
	char link[32];

	switch (below(12)) {
	case 0:
		mkdir(any_path(), 0755);
		break;
	case 1:
		mkfifo(any_path(), 0600);
		break;
	case 2:
		unlink(any_path());
		break;
	case 3:
		rmdir(any_path());
		break;
	case 4:
		rename(any_path(), any_path());
		break;
	case 5:
		(void)!symlink(any_path(), any_path());
		break;
	case 6:
		(void)!chdir(below(4) ? any_path() : "/");
		break;
	case 7:
		(void)!fchdir(any_fd());
		break;
	case 8:
		snprintf(link, sizeof(link), "/proc/self/fd/%d", any_fd());
		fd_put(open(link, (int)below(3) | O_NONBLOCK | (below(4) ? 0 : O_PATH)));
		break;
	case 9:
		drop();
		break;
	default:
		fd_put(open(any_path(), (int)below(3) | O_NONBLOCK | (below(2) ? O_CREAT : 0) | (below(6) ? 0 : O_TMPFILE), 0600));
	}
}

static void kinds(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | (below(2) ? EPOLLET : 0) };
	struct itimerspec its = { { 0, 100000 }, { 0, 1000 } };
	struct flock fl = { .l_type = (short)below(3), .l_start = (off_t)below(8), .l_len = (off_t)below(8) };
	sigset_t set;
	int pair[2];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	switch (below(14)) {
	case 0:
		fd_put(epoll_create1(0));
		break;
	case 1:
	case 2:
		epoll_ctl(any_fd(), 1 + (int)below(3), any_fd(), &ev);
		break;
	case 3:
		epoll_wait(any_fd(), &ev, 1, 0);
		break;
	case 4:
		fd_put(inotify_init1(O_NONBLOCK));
		break;
	case 5:
		inotify_add_watch(any_fd(), any_path(), below(3) ? IN_ALL_EVENTS : IN_ALL_EVENTS | IN_ONESHOT);
		break;
	case 6:
		inotify_rm_watch(any_fd(), 1 + (int)below(4));
		break;
	case 7:
		if (pipe2(pair, O_NONBLOCK) == 0) {
			fd_put(pair[0]);
			fd_put(pair[1]);
		}
		break;
	case 8:
		fd_put(timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK));
		timerfd_settime(any_fd(), 0, &its, NULL);
		break;
	case 9:
		fd_put(signalfd(-1, &set, O_NONBLOCK));
		fd_put(eventfd(0, O_NONBLOCK));
		break;
	case 10:
		fd_put(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
		fd_put(ioctl(any_fd(), 0x5441 /* TIOCGPTPEER */, O_RDWR | O_NOCTTY | O_NONBLOCK));
		break;
	case 11:
		fcntl(any_fd(), F_SETLK, &fl);
		flock(any_fd(), LOCK_EX | LOCK_NB);
		break;
	case 12:
		fcntl(any_fd(), F_SETOWN, getpid());
		fcntl(any_fd(), F_SETFL, O_NONBLOCK | O_ASYNC);
		break;
	default:
		fd_put(memfd_create("x", 0));
	}
}

static void bytes(void)
{
	char buf[256] = { 0 };
	void *p;

	switch (below(8)) {
	case 0:
	case 1:
		(void)!write(any_fd(), buf, below(sizeof(buf)));
		break;
	case 2:
	case 3:
		(void)!read(any_fd(), buf, below(sizeof(buf)));
		break;
	case 4:
		splice(any_fd(), NULL, any_fd(), NULL, 64, SPLICE_F_NONBLOCK);
		break;
	case 5:
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, any_fd(), 0);
		if (p != MAP_FAILED)
			munmap(p, 4096);
		break;
	case 6:
		fd_put(dup(any_fd()));
		break;
	default:
		close(any_fd());
	}
}

static void ipc(void)
{
	struct sembuf op = { 0, (short)(below(3) - 1), (short)(IPC_NOWAIT | (below(2) ? SEM_UNDO : 0)) };
	struct stub_shm out;
	int id;

	switch (below(6)) {
	case 0:
		id = shmget(0x600 + (int)below(3), 4096, IPC_CREAT | 0600);
		RAW(HC_SHMAT, id, 0, 0, &out);
		break;
	case 1:
		RAW(HC_SHMAT_DONE, below(2) ? 0x10000 : 0);
		RAW(HC_SHMDT, 0x10000);
		break;
	case 2:
		shmctl(shmget(0x600 + (int)below(3), 0, 0), IPC_RMID, NULL);
		break;
	case 3:
		semop(semget(0x600 + (int)below(2), 1, IPC_CREAT | 0600), &op, 1);
		break;
	case 4:
		semctl(semget(0x600 + (int)below(2), 0, 0), 0, IPC_RMID);
		break;
	default:
		msgctl(msgget(0x600 + (int)below(2), IPC_CREAT | 0600), IPC_RMID, NULL);
	}
}

static void step(void)
{
	switch (below(12)) {
	case 0:
	case 1:
	case 2:
		sockets();
		break;
	case 3:
	case 4:
		mounts();
		break;
	case 5:
	case 6:
	case 7:
		names();
		break;
	case 8:
	case 9:
		kinds();
		break;
	case 10:
		bytes();
		break;
	default:
		ipc();
	}
}

/* Calls that wait, for as long as the process lives: somebody else ends what they wait on. */
static void *waiter(void *arg)
{
	struct sembuf op = { 0, -1, SEM_UNDO };
	struct flock fl = { .l_type = F_WRLCK };
	socklen_t len;
	struct sockaddr_un a;
	char c;
	int fd;

	seed_state ^= (uint64_t)(uintptr_t)&c ^ (uint64_t)(long)arg;
	for (;;) {
		switch (below(7)) {
		case 0:
			fd = open(any_path(), below(2) ? O_RDONLY : O_WRONLY);
			if (fd >= 0)
				close(fd);
			break;
		case 1:
			fd = socket(AF_UNIX, SOCK_STREAM, 0);
			a = any_address(&len);
			connect(fd, (struct sockaddr *)&a, len);
			(void)!read(fd, &c, 1);
			close(fd);
			break;
		case 2:
			semop(semget(0x600 + (int)below(2), 1, IPC_CREAT | 0600), &op, 1);
			break;
		case 3:
			fcntl(any_fd(), F_SETLKW, &fl);
			break;
		case 4:
			(void)!read(any_fd(), &c, 1);
			break;
		case 5:
			accept(any_fd(), NULL, NULL);
			break;
		default:
			naptime(1);
		}
	}
	return arg;
}

static void stirrer(unsigned long seed)
{
	struct rlimit lim = { 256, 256 };
	pthread_t th;

	seed_state = seed * 0x9e3779b97f4a7c15ull + 1;
	signal(SIGIO, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	alarm(8);
	setrlimit(RLIMIT_NOFILE, &lim);
	for (int i = 0; i < FDS; i++)
		fds[i] = -1;
	if (!getcwd(here, sizeof(here)))
		here[0] = 0;
	for (long i = 0; i < (long)below(3); i++)
		pthread_create(&th, NULL, waiter, (void *)i);
	for (int i = 0; i < 600; i++)
		step();
	if (below(2))
		kill(getpid(), SIGKILL);
	_exit(0);
}

/* One tree of mounts for each round, in which several stir at once. */
static void round_of(void *arg)
{
	unsigned long seed = (unsigned long)(long)arg;
	int alive = 0;

	seed_state = seed + 77;
	unshare(CLONE_NEWNS);
	if (!top) {
		mkdir(top_path(), 0755);
		mount("x", top_path(), "tmpfs", 0, NULL);
	}
	for (const char *const *p = (const char *const[]){ "/a", "/b", "/c", "/a/d", "/a/d/e", NULL }; *p; p++) {
		char path[64];

		snprintf(path, sizeof(path), "%.40s%s", top_path(), *p);
		mkdir(path, 0755);
	}
	for (int i = 0; i < 12; i++) {
		if (fork() == 0)
			stirrer(seed * 100 + (unsigned long)i);
		if (++alive > 3) {
			wait(NULL);
			alive--;
		}
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 4, seed = argc > 2 ? atol(argv[2]) : 1, bad = 0;

	top = argc > 3 ? argv[3] : NULL;
	for (long i = 0; i < rounds; i++) {
		bad += in_child(round_of, (void *)(seed * 1000 + i), 100000) == -1;
		for (int k = 0; k < 3; k++) {
			shmctl(shmget(0x600 + k, 0, 0), IPC_RMID, NULL);
			semctl(semget(0x600 + k, 0, 0), 0, IPC_RMID);
		}
	}
	check(bad == 0, "%ld rounds come to an end", rounds);
	check(cell_is_well(), "the kernel goes on");
	return done();
}
