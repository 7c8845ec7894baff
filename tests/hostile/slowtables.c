/* Exits, closes, unmounts and wake-ups with much in the kernel's tables, and long queues that are
 * searched: see slow.h. */
#include <dirent.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>

#include "slow.h"

#define FILES_MAX 60000
#define FILES (slow_scale * FILES_MAX / 2)
#define DEEP (slow_scale * 10000)
#define WIDE (slow_scale * 15000)
#define THREADS (slow_scale * 750)

static void fill(int (*make)(void), int n)
{
	for (int i = 0; i < n && make() >= 0; i++)
		;
}
static int new_file(void) { return open("f", O_RDWR | O_CREAT, 0600); }
static int new_event(void) { return eventfd(0, 0); }
static int new_timer(void) { return timerfd_create(CLOCK_MONOTONIC, 0); }
static int new_pipe(void) { int p[2]; return pipe(p); }
static int new_unlinked(void)
{
	int fd = open("u", O_RDWR | O_CREAT, 0600);

	(void)!write(fd, "some", 4);
	unlink("u");
	return fd;
}

static void exit_files(void) { fill(new_file, FILES); }
static void exit_unlinked(void) { fill(new_unlinked, FILES / 3); }
static void exit_mixed(void) { fill(new_pipe, 8192); fill(new_event, 20000); fill(new_timer, 16384); }
/* Of a thread that has a table of its own, and that goes on after the process has closed its
 * files. */
static void *own_files(void *arg)
{
	unshare(CLONE_FILES);
	fill(new_file, FILES);
	return arg;
}
static void thread_files(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, own_files, NULL) == 0)
		pthread_join(t, NULL);
	usleep(100000);
}
static void close_files(void) { fill(new_file, FILES); RAW(SYS_close_range, 3, ~0u, 0); }
static void exec_files(void)
{
	char *argv[] = { "true", NULL }, *envp[] = { NULL };

	fill(new_file, FILES);
	RAW(SYS_close_range, 3, ~0u, 4 /* CLOEXEC */);
	execve("/bin/true", argv, envp);
}
static void fork_files(void)
{
	fill(new_file, FILES / 2);
	for (int i = 0; i < 4; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
}
static void exit_timers(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_NONE };
	timer_t t;

	for (int i = 0; i < 16384 && timer_create(CLOCK_MONOTONIC, &ev, &t) == 0; i++) {
		struct itimerspec it = { .it_value.tv_sec = 1000 + i * 7919 % 1000 };

		timer_settime(t, 0, &it, NULL);
	}
}
static void timers_at_once(void)
{
	struct itimerspec it = { .it_interval.tv_nsec = 1 };
	int fd;

	clock_gettime(CLOCK_MONOTONIC, &it.it_value);
	it.it_value.tv_sec += 2;
	for (int i = 0; i < 16000 && (fd = new_timer()) >= 0; i++)
		timerfd_settime(fd, TFD_TIMER_ABSTIME, &it, NULL);
	sleep(3);
}
static void exit_locks(void)
{
	int fd = new_file();
	char buf[4096];

	for (long i = 0; i < FILES; i++) {
		struct flock l = { .l_type = F_WRLCK, .l_start = 2 * (i * 7919 % FILES), .l_len = 1 };

		if (fcntl(fd, F_SETLK, &l) < 0)
			break;
	}
	fd = open("/proc/locks", O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
}
static void unlock_all(void)
{
	struct flock l = { .l_type = F_UNLCK };
	int fd = new_file();

	for (long i = 0; i < FILES; i++) {
		struct flock one = { .l_type = i & 1 ? F_WRLCK : F_RDLCK, .l_start = i, .l_len = 1 };

		if (fcntl(fd, F_SETLK, &one) < 0)
			break;
	}
	fcntl(fd, F_SETLK, &l);
}
static void *flock_waits(void *arg)
{
	flock(open("f", O_RDWR), LOCK_EX);
	return arg;
}
static void *event_waits(void *arg)
{
	uint64_t v;

	(void)!read(*(int *)arg, &v, sizeof(v));
	return NULL;
}
static void many_threads(void *(*fn)(void *), void *arg, int n)
{
	pthread_attr_t a;
	pthread_t th;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 32768);
	for (int i = 0; i < n && pthread_create(&th, &a, fn, arg) == 0; i++)
		;
}
static void flock_queue(void)
{
	int fd = new_file();

	flock(fd, LOCK_EX);
	many_threads(flock_waits, NULL, THREADS);
	usleep(200000);
	flock(fd, LOCK_UN);
	usleep(500000);
}
static void woken_at_once(void)
{
	int fd = new_event();
	uint64_t one = 1;

	many_threads(event_waits, &fd, THREADS);
	usleep(200000);
	for (int i = 0; i < 20; i++)
		(void)!write(fd, &one, sizeof(one));
	usleep(200000);
}
static void *big_reads(void *arg)
{
	char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);

	pthread_barrier_wait(arg);
	for (int i = 0; i < 3; i++)
		(void)!read(fd, p, 4 << 20);
	return NULL;
}
/* Each call is made in pieces; all pieces are due at once. */
static void reads_at_once(void)
{
	pthread_barrier_t b;

	pthread_barrier_init(&b, NULL, 101);
	many_threads(big_reads, &b, 100);
	pthread_barrier_wait(&b);
	sleep(2);
}

/* ---- polling ---- */

static void poll_all(void)
{
	static struct pollfd p[FILES_MAX];
	int n = 0, fd;

	while (n < FILES - 100 && (fd = new_event()) >= 0)
		p[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (int i = 0; i < 5; i++)
		poll(p, (nfds_t)n, 1);
}
static void epoll_all(void)
{
	static struct epoll_event out[FILES_MAX];
	int ep = epoll_create1(0), fd, n = 0;

	while (n < FILES - 100 && (fd = new_event()) >= 0) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLOUT };

		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
		n++;
	}
	for (int i = 0; i < 5; i++)
		epoll_wait(ep, out, FILES, 0);
	fd = open("/proc/self/fdinfo/3", O_RDONLY);
	while (read(fd, out, 4096) > 0)
		;
	close(ep);
}
/* One event, many sets that hear of it. */
static void epoll_sets(void)
{
	int fd = new_event(), ep;
	uint64_t one = 1;

	for (int i = 0; i < 8000 && (ep = epoll_create1(0)) >= 0; i++) {
		struct epoll_event e = { .events = EPOLLIN };

		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	}
	for (int i = 0; i < 5; i++)
		(void)!write(fd, &one, sizeof(one));
}

/* ---- trees ---- */

static void deep_make(int n)
{
	for (int i = 0; i < n && mkdir("d", 0700) == 0 && chdir("d") == 0; i++)
		;
}
static void umount_deep(void)
{
	mkdir("/tmp/m", 0700);
	mount("none", "/tmp/m", "tmpfs", 0, NULL);
	(void)!chdir("/tmp/m");
	deep_make(DEEP);
	(void)!chdir("/");
	umount("/tmp/m");
}
static void umount_wide(void)
{
	char name[32];

	mkdir("/tmp/m", 0700);
	mount("none", "/tmp/m", "tmpfs", 0, NULL);
	(void)!chdir("/tmp/m");
	for (int i = 0; i < WIDE; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		if (i % 3 ? symlink("x", name) < 0 : close(open(name, O_CREAT | O_WRONLY, 0600)) < 0)
			break;
	}
	(void)!chdir("/");
	umount("/tmp/m");
}
/* Nobody names it any more: the last file that is open in it keeps it. */
static void umount_lazy(void)
{
	char name[32];
	int fd;

	mkdir("/tmp/m", 0700);
	mount("none", "/tmp/m", "tmpfs", 0, NULL);
	(void)!chdir("/tmp/m");
	for (int i = 0; i < WIDE; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		if (mkdir(name, 0700) < 0)
			break;
	}
	fd = open("n1", O_RDONLY);
	(void)!chdir("/");
	umount2("/tmp/m", MNT_DETACH);
	usleep(50000);
	close(fd);
}
static void deep_then_away(void)
{
	mkdir("deep", 0700);
	(void)!chdir("deep");
	deep_make(DEEP);
	(void)!chdir("/tmp/slow");
	rename("deep", "deeper");
	put("/proc/sys/vm/drop_caches", "3");
	rename("deeper", "deep");
}
static void wide_dir(void)
{
	char name[280], buf[1 << 16];
	int fd;

	memset(name, 'x', sizeof(name));
	mkdir("wide", 0700);
	(void)!chdir("wide");
	for (int i = 0; i < WIDE; i++) {
		sprintf(name + 200, "%d", i);
		if (close(open(name, O_CREAT | O_WRONLY, 0600)) < 0)
			break;
	}
	fd = open(".", O_RDONLY);
	for (int i = 0; i < 3; i++) {
		lseek(fd, 0, SEEK_SET);
		while (RAW(SYS_getdents64, fd, buf, sizeof(buf)) > 0)
			;
	}
	lseek(fd, WIDE / 2, SEEK_SET);
	RAW(SYS_getdents64, fd, buf, 300);
	(void)!chdir("..");
	rename("wide", "wider");
	put("/proc/sys/vm/drop_caches", "3");
	rename("wider", "wide");
	(void)!chdir("wide");
	for (int i = 0; i < WIDE; i++) {
		sprintf(name + 200, "%d", i);
		unlink(name);
	}
	(void)!chdir("..");
	rmdir("wide");
}
static void many_mounts(void)
{
	char buf[4096];
	int fd;

	mkdir("m", 0700);
	mount("none", "m", "tmpfs", 0, NULL);
	for (int i = 0; i < 30; i++) { /* each doubles what is there */
		snprintf(buf, sizeof(buf), "m/%d", i);
		mkdir(buf, 0700);
		if (mount("m", buf, NULL, MS_BIND | MS_REC, NULL) < 0)
			break;
	}
	for (int i = 0; i < 3; i++) {
		fd = open("/proc/self/mountinfo", O_RDONLY);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
		unshare(CLONE_NEWNS);
	}
	umount2("m", MNT_DETACH);
}
static void watches(void)
{
	int fd = inotify_init1(IN_NONBLOCK);
	char name[32], buf[4096];

	mkdir("watch", 0700);
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "watch/%d", i);
		if (mkdir(name, 0700) < 0 || inotify_add_watch(fd, name, IN_ALL_EVENTS) < 0)
			break;
	}
	for (int i = 0; i < 8000; i++) { /* many that hear of one directory */
		int one = inotify_init1(IN_NONBLOCK);

		if (one < 0 || inotify_add_watch(one, "watch", IN_ALL_EVENTS) < 0)
			break;
	}
	close(open("watch/0", O_RDONLY));
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "watch/%d", i);
		rmdir(name);
		if (i > 200)
			break;
	}
	fd = open("/proc/self/fdinfo/3", O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

/* ---- files ---- */

static int big_file(const char *name, long bytes)
{
	static char buf[1 << 20];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (long i = 0; i < bytes; i += (long)sizeof(buf))
		if (write(fd, buf, sizeof(buf)) < 0)
			break;
	return fd;
}
static void unlink_big(void)
{
	close(big_file("big", 400 << 20));
	unlink("big");
}
static void truncate_big(void)
{
	int fd = big_file("big", 400 << 20);

	(void)!ftruncate(fd, 4096);
	(void)!write(fd, "x", 1);
	close(big_file("big2", 400 << 20));
	rename("big", "big2");
	open("big2", O_WRONLY | O_TRUNC);
	unlink("big2");
}
static void exit_big(void)
{
	big_file("big", 400 << 20);
	unlink("big");
}
static void memfd_big(void)
{
	static char buf[1 << 20];
	int fd = memfd_create("m", 0);

	for (int i = 0; i < 300; i++)
		(void)!write(fd, buf, sizeof(buf));
	(void)!ftruncate(fd, 0);
	(void)!fallocate(fd, 0, 0, 300 << 20);
	close(fd);
}
static void holes(void)
{
	int fd = open("holes", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (long i = 0; i < 20000; i++)
		(void)!pwrite(fd, "x", 1, i * 8192);
	for (long at = 0, n = 0; n < 2000 && at >= 0; n++)
		at = lseek(fd, lseek(fd, at, SEEK_DATA), SEEK_HOLE);
	lseek(fd, 1, SEEK_DATA);
	(void)!ftruncate(fd, 1L << 40);
	lseek(fd, 20000L * 8192, SEEK_DATA);
	unlink("holes");
}
static void aio(void)
{
	static char buf[64 << 20];
	static struct iocb io[1024], *list[1024];
	aio_context_t ctx = 0;
	int fd = open("aio", O_RDWR | O_CREAT | O_TRUNC, 0600);

	RAW(SYS_io_setup, 1024, &ctx);
	for (int i = 0; i < 1024; i++) {
		io[i] = (struct iocb){ .aio_fildes = (unsigned)fd, .aio_lio_opcode = IOCB_CMD_PWRITE,
				       .aio_buf = (uint64_t)buf, .aio_nbytes = sizeof(buf) };
		list[i] = &io[i];
	}
	RAW(SYS_io_submit, ctx, 1, list);
	io[1].aio_lio_opcode = IOCB_CMD_PREAD;
	RAW(SYS_io_submit, ctx, 1, list + 1);
	for (int i = 0; i < 1000; i++)
		io[i].aio_nbytes = 1 << 16, io[i].aio_lio_opcode = IOCB_CMD_PREAD;
	RAW(SYS_io_submit, ctx, 1000, list);
	for (int i = 0; i < 1000; i++)
		io[i].aio_lio_opcode = IOCB_CMD_FSYNC, io[i].aio_nbytes = io[i].aio_buf = 0;
	RAW(SYS_io_submit, ctx, 20, list);
	unlink("aio");
}
static void xattrs(void)
{
	static char value[65536], list[65536];
	char name[64];

	close(open("x", O_CREAT | O_WRONLY, 0600));
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "user.%d", i);
		if (setxattr("x", name, value, i ? 8 : sizeof(value), 0) < 0)
			break;
	}
	for (int i = 0; i < 100; i++)
		listxattr("x", list, sizeof(list));
	unlink("x");
}
static void sync_all(void)
{
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		close(open(name, O_CREAT | O_WRONLY, 0600));
	}
	close(big_file("big", 200 << 20));
	sync();
	syncfs(open(".", O_RDONLY));
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		unlink(name);
	}
	unlink("big");
}

/* ---- System V and message queues ---- */

static void semaphores(void)
{
	static struct sembuf ops[500];
	static unsigned short all[32000];
	int id = semget(IPC_PRIVATE, 32000, 0600);

	for (int i = 0; i < 500; i++)
		ops[i] = (struct sembuf){ (unsigned short)(i * 61 % 32000), 1, SEM_UNDO };
	for (int i = 0; i < 100; i++)
		semop(id, ops, 500);
	semctl(id, 0, SETALL, all);
	semctl(id, 0, GETALL, all);
	semctl(id, 0, IPC_RMID);
	for (int i = 0; i < 4000; i++)
		semget(IPC_PRIVATE, 8, 0600);
	for (int i = 0; i < 4000; i++) {
		struct seminfo info;

		semctl(i, 0, SEM_INFO, &info);
	}
}
static int sem_id;
static void *sem_waits(void *arg)
{
	struct sembuf op[32];

	for (int i = 0; i < 32; i++)
		op[i] = (struct sembuf){ (unsigned short)i, i == 31 ? -2 : 0, 0 };
	semop(sem_id, op, 32);
	return arg;
}
/* Each change has all of those who wait look whether they may. */
static void semaphore_queue(void)
{
	struct sembuf up = { 31, 1, 0 }, down = { 31, -1, 0 };

	sem_id = semget(IPC_PRIVATE, 32, 0600);
	many_threads(sem_waits, NULL, THREADS);
	usleep(200000);
	for (int i = 0; i < 20; i++) {
		semop(sem_id, &up, 1);
		semop(sem_id, &down, 1);
	}
	semctl(sem_id, 0, IPC_RMID);
}
static void messages(void)
{
	struct {
		long type;
		char c[8];
	} m = { 0 };
	int id = msgget(IPC_PRIVATE, 0600), n = 0;
	struct msqid_ds ds;

	msgctl(id, IPC_STAT, &ds);
	ds.msg_qbytes = 64 << 20;
	msgctl(id, IPC_SET, &ds);
	for (m.type = 2; n < FILES && msgsnd(id, &m, n & 1, IPC_NOWAIT) == 0; m.type++)
		n++;
	for (int i = 0; i < 20; i++) {
		msgrcv(id, &m, 8, 1, IPC_NOWAIT | MSG_NOERROR);
		msgrcv(id, &m, 8, -1, IPC_NOWAIT | MSG_NOERROR);
	}
	msgctl(id, IPC_RMID, NULL);
}
static void posix_messages(void)
{
	struct mq_attr a = { .mq_maxmsg = 60000, .mq_msgsize = 16 };
	mqd_t q = mq_open("/slow", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &a);

	if (q == (mqd_t)-1) {
		a.mq_maxmsg = 10;
		q = mq_open("/slow", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &a);
	}
	for (unsigned i = 0; i < (unsigned)FILES; i++)
		if (mq_send(q, "x", 1, i * 7919 % 32768) < 0)
			break;
	mq_unlink("/slow");
	mq_close(q);
}
static void segments(void)
{
	char buf[4096];
	int id, fd;

	for (int i = 0; i < 4000; i++) {
		id = shmget(IPC_PRIVATE, 4096, 0600);
		if (id < 0)
			break;
		shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
	}
	id = shmget(IPC_PRIVATE, 300 << 20, 0600);
	memset(shmat(id, NULL, 0), 1, 300 << 20);
	fd = open("/proc/sysvipc/shm", O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	shmctl(id, IPC_RMID, NULL);
}

static const struct kind kinds[] = {
	{ "an exit with many files", exit_files },
	{ "an exit with files that are unlinked", exit_unlinked },
	{ "an exit with pipes, eventfds and timers", exit_mixed },
	{ "the end of a thread with files of its own", thread_files },
	{ "a close of many files", close_files },
	{ "an exec that closes many files", exec_files },
	{ "forks with many files", fork_files },
	{ "an exit with 16,000 POSIX timers", exit_timers },
	{ "16,000 timers that expire at once", timers_at_once },
	{ "an exit with many locks, and /proc/locks", exit_locks },
	{ "an unlock of many locks", unlock_all },
	{ "a queue for flock", flock_queue },
	{ "many threads that are woken at once", woken_at_once },
	{ "100 large reads at once", reads_at_once },
	{ "polls of many files", poll_all },
	{ "epoll with many files", epoll_all },
	{ "8,000 epoll sets for one event", epoll_sets },
	{ "an unmount of a deep tree", umount_deep },
	{ "an unmount of many files", umount_wide },
	{ "a lazy unmount of many directories", umount_lazy },
	{ "a deep tree that is renamed and dropped", deep_then_away },
	{ "a directory of many files", wide_dir },
	{ "thousands of mounts", many_mounts },
	{ "inotify with 20,000 watches, and 8,000 of one directory", watches },
	{ "an unlink of 400 MiB", unlink_big },
	{ "a truncation of 400 MiB", truncate_big },
	{ "an exit with 400 MiB that are unlinked", exit_big },
	{ "a memfd of 300 MiB", memfd_big },
	{ "20,000 holes", holes },
	{ "asynchronous requests", aio },
	{ "extended attributes", xattrs },
	{ "syncs", sync_all },
	{ "semaphores", semaphores },
	{ "many threads at one semaphore set", semaphore_queue },
	{ "a long System V message queue", messages },
	{ "a long POSIX message queue", posix_messages },
	{ "shared memory segments", segments },
};
SLOW_MAIN(kinds)
