/* Random but structured sequences of system calls from inside a cell: a few processes and threads share a small world of
 * descriptors, paths and buffers, so that calls meet the objects that earlier calls made. Every step comes from the seed; each
 * child prints nothing, and may die. usage: guest-fuzz SECONDS SEED */
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "../hostile/hostile.h"

#define FDS 24
#define PATHS 12

static __thread uint64_t state;
static char *shared; /* with nothing of the program behind it */
#define SHARED (1 << 16)

static uint64_t r(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

static const char *path(void)
{
	static const char *const p[PATHS] = { "a", "b", "d", "d/a", "d/e", "d/e/f", "l", "l/a", "../fz/a", "/tmp/fz/d/b", "fifo", "sock" };

	switch (r(24)) {
	case 0:
		return "/proc/self/fd/5";
	case 1:
		return "/usr/bin/env";
	case 2:
		return "/etc/passwd";
	case 3:
		return "";
	case 4:
		return "/proc/self/cwd/a";
	default:
		return p[r(PATHS)];
	}
}
static int fd(void)
{
	return 3 + (int)r(FDS);
}
static void *mem(void)
{
	switch (r(16)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(shared + SHARED - r(16));
	default:
		return shared + r(SHARED / 2);
	}
}
static size_t len(void)
{
	switch (r(8)) {
	case 0:
		return 0;
	case 1:
		return 1UL << r(34);
	case 2:
		return 65536;
	default:
		return r(8192);
	}
}
static long off(void)
{
	return r(6) ? (long)r(20000) : (long)(1UL << r(63)) - (long)r(2);
}
static int nonblock(void)
{
	return r(8) ? O_NONBLOCK : 0;
}
static void keep(int f)
{
	/* Into the small range, so that it is met again. */
	if (f >= 3 + FDS) {
		dup2(f, fd());
		close(f);
	}
}
static void nothing(int s)
{
	(void)s;
}
static void *thread(void *arg);

static void files(void)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_TRUNC, O_RDWR | O_APPEND,
				     O_PATH, O_DIRECTORY, O_RDWR | O_CREAT | O_EXCL, O_NOFOLLOW, O_PATH | O_NOFOLLOW };
	struct stat st;
	char buf[256];

	switch (r(36)) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		keep(openat(r(6) ? AT_FDCWD : fd(), path(), flags[r(11)] | nonblock(), 0700)); break;
	case 6: keep(open(r(2) ? "." : "d", O_TMPFILE | O_RDWR, 0600)); break;
	case 7: mkdir(path(), 0700); break;
	case 8: unlinkat(r(6) ? AT_FDCWD : fd(), path(), r(2) ? AT_REMOVEDIR : 0); break;
	case 9: rename(path(), path()); break;
	case 10: RAW(SYS_renameat2, AT_FDCWD, path(), AT_FDCWD, path(), r(4)); break;
	case 11: link(path(), path()); break;
	case 12: symlink(path(), path()); break;
	case 13: linkat(fd(), "", AT_FDCWD, path(), AT_EMPTY_PATH); break;
	case 14: mkfifo(path(), 0600); break;
	case 15: stat(path(), &st); lstat(path(), &st); break;
	case 16: truncate(path(), off()); break;
	case 17: ftruncate(fd(), off() & 0xfffffff); break;
	case 18: chmod(path(), (mode_t)r(010000)); break;
	case 19: chown(path(), (uid_t)r(3), (gid_t)r(3)); break;
	case 20: (void)!readlink(path(), buf, sizeof(buf)); break;
	case 21: setxattr(path(), r(2) ? "user.a" : "user.b", shared, r(300), (int)r(3)); break;
	case 22: getxattr(path(), "user.a", buf, r(256)); listxattr(path(), buf, r(256)); break;
	case 23: removexattr(path(), "user.a"); break;
	case 24: RAW(SYS_getdents64, fd(), mem(), len() & 0xffff); break;
	case 25: lseek(fd(), off(), (int)r(6)); break;
	case 26: fallocate(fd(), (int)r(64), off() & 0xffffff, off() & 0xffffff); break;
	case 27: chdir(r(3) ? "/tmp/fz" : path()); break;
	case 28: fchdir(fd()); chdir("/tmp/fz"); break;
	case 29: RAW(SYS_statx, r(2) ? AT_FDCWD : fd(), path(), r(2) ? 0x1000 : 0, 0xfff, mem()); break;
	case 30: futimens(fd(), NULL); break;
	case 31: flock(fd(), (int[]){ LOCK_SH, LOCK_EX, LOCK_UN }[r(3)] | LOCK_NB); break;
	case 32: {
		struct flock l = { .l_type = (short)r(3), .l_whence = (short)r(3), .l_start = off() & 0xfff, .l_len = (off_t)r(100) };

		fcntl(fd(), (int[]){ F_SETLK, F_GETLK, 37, 36 }[r(4)], &l);
		break;
	}
	case 33: fsync(fd()); break;
	case 34: (void)!getcwd(buf, r(256)); break;
	case 35: RAW(437 /* openat2 */, AT_FDCWD, path(), mem(), 24); break;
	}
}

static void motion(void)
{
	struct iovec v[4];
	int p[2];
	loff_t o = off();

	for (int i = 0; i < 4; i++)
		v[i] = (struct iovec){ mem(), len() & 0xffff };
	switch (r(24)) {
	case 0: case 1: case 2: (void)!read(fd(), mem(), len() & 0xfffff); break;
	case 3: case 4: case 5: (void)!write(fd(), mem(), len() & 0xfffff); break;
	case 6: (void)!pread(fd(), mem(), len(), off()); break;
	case 7: (void)!pwrite(fd(), mem(), len() & 0xffff, off() & 0xffffff); break;
	case 8: (void)!readv(fd(), v, (int)r(5)); break;
	case 9: (void)!writev(fd(), v, (int)r(5)); break;
	case 10: RAW(SYS_preadv2, fd(), v, r(5), off(), 0, r(64)); break;
	case 11: RAW(SYS_pwritev2, fd(), v, r(5), off() & 0xffffff, 0, r(64)); break;
	case 12: if (pipe2(p, O_NONBLOCK) == 0) { keep(p[0]); keep(p[1]); } break;
	case 13: (void)!splice(fd(), r(2) ? &o : NULL, fd(), NULL, len() & 0xfffff, SPLICE_F_NONBLOCK); break;
	case 14: (void)!tee(fd(), fd(), len() & 0xffff, SPLICE_F_NONBLOCK); break;
	case 15: (void)!sendfile(fd(), fd(), r(2) ? &o : NULL, len() & 0xfffff); break;
	case 16: (void)!copy_file_range(fd(), NULL, fd(), r(2) ? &o : NULL, len() & 0xfffff, 0); break;
	case 17: (void)!vmsplice(fd(), v, r(4), SPLICE_F_NONBLOCK); break;
	case 18: keep(dup(fd())); break;
	case 19: RAW(SYS_dup3, fd(), fd(), r(2) ? O_CLOEXEC : 0); break;
	case 20: close(fd()); break;
	case 21: RAW(SYS_close_range, fd(), fd(), r(8)); break;
	case 22: fcntl(fd(), (int)r(20), r(2) ? (long)r(0x10000) : (long)mem()); fcntl(fd(), F_SETFL, O_NONBLOCK); break;
	case 23: fcntl(fd(), 1024 + (int)r(16), r(1 << 21)); break;
	}
}

static void events(void)
{
	struct epoll_event ev = { .events = (uint32_t)r(1UL << 32) & ~0u, .data.u64 = state }, got[8];
	struct pollfd pf[16];
	struct itimerspec it = { { 0, (long)r(5000000) }, { 0, (long)r(3000000) } };
	struct timespec ts = { 0, (long)r(2000000) };
	fd_set s[3];

	for (int i = 0; i < 16; i++)
		pf[i] = (struct pollfd){ fd() - (int)r(5), (short)r(65536), 0 };
	memset(s, (int)r(256), sizeof(s));
	switch (r(14)) {
	case 0: keep(epoll_create1(0)); break;
	case 1: case 2: case 3: epoll_ctl(fd(), 1 + (int)r(3), fd(), &ev); break;
	case 4: case 5: epoll_wait(fd(), got, 1 + (int)r(8), (int)r(3)); break;
	case 6: poll(pf, r(16), (int)r(3)); break;
	case 7: RAW(SYS_ppoll, pf, r(16), &ts, r(2) ? mem() : 0, 8); break;
	case 8: RAW(SYS_pselect6, r(40), &s[0], &s[1], &s[2], &ts, 0); break;
	case 9: keep((int)RAW(SYS_eventfd2, r(5), O_NONBLOCK | r(2))); break;
	case 10: keep(timerfd_create(r(2), TFD_NONBLOCK)); break;
	case 11: timerfd_settime(fd(), (int)r(4), &it, NULL); break;
	case 12: keep((int)RAW(SYS_memfd_create, "fz", r(8))); break;
	case 13: RAW(SYS_epoll_pwait, fd(), got, 4, 1, mem(), 8); break;
	}
}

static void sockets(void)
{
	struct sockaddr_un a = { .sun_family = (sa_family_t)(r(8) ? AF_UNIX : r(50)) };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	char control[256];
	struct iovec v = { mem(), len() & 0xffff };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = r(sizeof(control)) };
	struct cmsghdr *h = (void *)control;
	int p[2];

	strcpy(a.sun_path, r(4) ? "sock" : path());
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = (int)r(4);
	h->cmsg_len = r(8) ? CMSG_LEN(4 * (1 + r(4))) : r(300);
	for (int i = 0; i < 20; i++)
		((int *)CMSG_DATA(h))[i] = fd();
	switch (r(13)) {
	case 0: case 1: if (socketpair(AF_UNIX, types[r(3)] | SOCK_NONBLOCK, 0, p) == 0) { keep(p[0]); keep(p[1]); } break;
	case 2: keep(socket(r(6) ? AF_UNIX : (int)r(46), types[r(3)] | SOCK_NONBLOCK, 0)); break;
	case 3: bind(fd(), (void *)&a, (socklen_t)r(sizeof(a) + 2)); break;
	case 4: connect(fd(), (void *)&a, (socklen_t)(r(2) ? sizeof(a) : r(30))); break;
	case 5: listen(fd(), (int)r(5)); break;
	case 6: keep(accept4(fd(), NULL, NULL, SOCK_NONBLOCK)); break;
	case 7: case 8: sendmsg(fd(), &m, MSG_DONTWAIT | (int)r(65536) * (r(8) == 0)); break;
	case 9: case 10: recvmsg(fd(), &m, MSG_DONTWAIT | (r(3) ? 0 : MSG_PEEK)); break;
	case 11: shutdown(fd(), (int)r(4)); break;
	case 12: RAW(SYS_getsockopt, fd(), r(3), r(60), mem(), mem()); RAW(SYS_setsockopt, fd(), 1, r(60), mem(), r(32)); break;
	}
}

static void processes(int depth)
{
	static const long ioctls[] = { 0x5401, 0x541b, 0x5421, 0x5413, 0x5410, 0x540f, 0x80045430, 0x5451 };
	struct rlimit lim = { r(100), r(100000) };
	siginfo_t si;
	pthread_t t;
	sigset_t set;
	pid_t pid;
	int s;

	switch (r(20)) {
	case 0:
		pid = depth < 2 ? fork() : -1;
		if (pid == 0) {
			for (int i = 0; i < 20; i++)
				r(2) ? files() : motion();
			r(2) ? _exit((int)r(256)) : (void)kill(getpid(), (int)r(20));
			_exit(0);
		}
		break;
	case 1:
		pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		break;
	case 2: waitpid(-1, NULL, WNOHANG | (int)r(12)); break;
	case 3: waitid(P_ALL, 0, &si, WNOHANG | WEXITED | WSTOPPED | WNOWAIT * (int)r(2)); break;
	case 4: setpgid(0, (pid_t)r(10)); break;
	case 5: kill(getpid(), (int[]){ SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGCONT, 0 }[r(6)]); break;
	case 6: s = (int)r(65); if (s != SIGALRM) signal(s, r(3) ? nothing : r(2) ? SIG_IGN : SIG_DFL); break;
	case 7:
		sigemptyset(&set);
		sigaddset(&set, r(2) ? SIGUSR1 : SIGUSR2);
		sigprocmask((int)r(3), &set, NULL);
		break;
	case 8: RAW(SYS_rt_sigqueueinfo, getpid(), r(65), mem()); break;
	case 9: RAW(SYS_prlimit64, 0, r(8) ? 4 : 1, r(2) ? &lim : 0, mem()); break;
	case 10: if (depth < 2 && pthread_create(&t, NULL, thread, (void *)(r(1 << 30) | 1)) == 0) pthread_detach(t); break;
	case 11: RAW(SYS_getpriority, r(3), r(5)); break;
	case 12: RAW(SYS_prctl, r(60), r(4), mem(), 0, 0); break;
	case 13: umask((mode_t)r(01000)); break;
	case 14: RAW(SYS_setitimer, 1 + r(2), mem(), 0); break;
	case 15: RAW(SYS_getitimer, r(4), mem()); break;
	case 16: RAW(SYS_ioctl, fd(), ioctls[r(8)], mem()); break;
	case 17: RAW(SYS_unshare, r(2) ? 0x400 : 0x200); break;
	case 18: RAW(SYS_sched_getaffinity, 0, r(200), mem()); break;
	case 19: {
		char name[64];
		int f;

		snprintf(name, sizeof(name), "/proc/self/%s",
			 (const char *[]){ "maps", "status", "stat", "fd", "mountinfo", "task", "fdinfo/5", "environ", "limits" }[r(9)]);
		f = open(name, O_RDONLY);
		(void)!read(f, shared, r(9000));
		RAW(SYS_getdents64, f, shared, 4096);
		close(f);
		break;
	}
	}
}

static void memory(void)
{
	size_t n = (1 + r(8)) * 4096;
	void *p = mmap(NULL, n, PROT_READ | (r(2) ? PROT_WRITE : 0), r(2) ? MAP_SHARED : MAP_PRIVATE, fd(), (off_t)r(4) * 4096);

	if (p == MAP_FAILED)
		return;
	if (r(2))
		RAW(SYS_write, fd(), p, n); /* may lie beyond the end of the file: EFAULT, not SIGBUS */
	if (r(2))
		RAW(SYS_read, fd(), p, n);
	munmap(p, n);
}

static void steps(int n, int depth)
{
	for (int i = 0; i < n; i++)
		switch (r(12)) {
		case 0: case 1: case 2: case 3: files(); break;
		case 4: case 5: case 6: motion(); break;
		case 7: case 8: events(); break;
		case 9: sockets(); break;
		case 10: memory(); break;
		case 11: processes(depth); break;
		}
}

static void *thread(void *arg)
{
	state = (uint64_t)arg * 0x9e3779b97f4a7c15ull | 1;
	steps(100, 2);
	return NULL;
}

static void round_(void *arg)
{
	struct itimerval tick = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction cut = { .sa_handler = nothing };

	state = (uint64_t)arg * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < 10; i++)
		r(2);
	setsid(); /* a group that becomes orphaned hangs up: not ours */
	/* What blocks is cut short. */
	sigaction(SIGALRM, &cut, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGVTALRM, SIG_IGN);
	signal(SIGPROF, SIG_IGN);
	signal(SIGUSR1, nothing);
	signal(SIGUSR2, nothing);
	signal(SIGPIPE, SIG_IGN);
	mkdir("/tmp/fz", 0700);
	chdir("/tmp/fz");
	mkdir("d", 0700);
	symlink("d", "l");
	steps(2000, 0);
}

int main(int argc, char **argv)
{
	double end = seconds() + (argc > 1 ? atof(argv[1]) : 5);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int rounds = 0, well = 1;
	char clean[] = "rm -rf /tmp/fz";

	setvbuf(stdout, NULL, _IONBF, 0);
	shared = mmap(NULL, SHARED + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(shared + SHARED, 4096);
	while (seconds() < end && well) {
		pid_t twin;

		if (getenv("VERBOSE"))
			fprintf(stderr, "# seed %lu\n", (unsigned long)seed);
		/* Two at once in the same directory. */
		twin = fork();
		if (twin == 0) {
			in_child(round_, (void *)(seed * 2 + 1), 4000);
			_exit(0);
		}
		in_child(round_, (void *)(seed * 2), 4000);
		waitpid(twin, NULL, 0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (++rounds % 4 == 0) {
			well = cell_is_well();
			(void)!system(clean);
		}
		seed++;
	}
	check(well && cell_is_well(), "%d rounds from seed %s", rounds, argc > 2 ? argv[2] : "1");
	return done();
}
