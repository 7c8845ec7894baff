/* Calls of a size that a guest chooses: none may keep the kernel for long, as everybody else waits for it. What counts is the CPU
 * time of the longest turn of its loop, which it measures itself and tells as that of process 1: how long somebody really
 * waits also depends on the machine, and is the benchmark's to say. usage: slow [part of a name] */
#include <dirent.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "hostile.h"

#define LIMIT 100.0 /* ms */

static char *big;
static size_t big_size = 1UL << 30;

static void read_zero(void *arg) { int fd = open("/dev/zero", O_RDONLY); (void)arg; (void)!read(fd, big, big_size); }
static void read_random(void *arg) { int fd = open("/dev/urandom", O_RDONLY); (void)arg; (void)!read(fd, big, 64UL << 20); }
static void write_null(void *arg) { int fd = open("/dev/null", O_WRONLY); (void)arg; (void)!write(fd, big, big_size); }
static void write_file(void *arg)
{
	int fd = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)arg;
	(void)!write(fd, big, 256UL << 20);
	unlink("/tmp/slow");
}
static void read_sparse(void *arg)
{
	int fd = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)arg;
	ftruncate(fd, 1L << 40);
	(void)!pread(fd, big, big_size, 0);
	unlink("/tmp/slow");
}
static void readv_sparse(void *arg)
{
	int fd = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct iovec v[1024];

	(void)arg;
	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){ big, 1 << 20 };
	ftruncate(fd, 1L << 40);
	(void)!preadv(fd, v, 1024, 0);
	unlink("/tmp/slow");
}
static void copy_sparse(void *arg)
{
	int a = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600), b = open("/tmp/slow2", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)arg;
	ftruncate(a, 1L << 40);
	(void)!copy_file_range(a, NULL, b, NULL, 512UL << 20, 0);
	(void)!sendfile(b, a, NULL, 512UL << 20);
	unlink("/tmp/slow");
	unlink("/tmp/slow2");
}
static void falloc(void *arg)
{
	int fd = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)arg;
	fallocate(fd, 0, 0, 512L << 20);
	fallocate(fd, 3 /* punch */, 0, 512L << 20);
	unlink("/tmp/slow");
}
/* The largest files of the image's own: the first write makes a copy in the cell's layer. */
static void copy_up(void *arg)
{
	static const char *const dirs[] = { "/usr/bin", "/usr/local/bin", "/usr/lib/x86_64-linux-gnu" };
	char path[1024];
	struct dirent *e;
	struct stat st;

	(void)arg;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		DIR *d = opendir(dirs[i]);

		while (d && (e = readdir(d))) {
			int fd;

			snprintf(path, sizeof(path), "%s/%s", dirs[i], e->d_name);
			if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 32 << 20)
				continue;
			fd = open(path, O_RDWR);
			(void)!pwrite(fd, "x", 1, st.st_size - 1);
			close(fd);
		}
	}
}
static void many_locks(void *arg)
{
	int fd = open("/tmp/slow", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)arg;
	for (long i = 0; i < 10000; i++) {
		struct flock l = { .l_type = F_WRLCK, .l_start = 2 * ((i * 7919) % 10000), .l_len = 1 };

		fcntl(fd, F_SETLK, &l);
	}
	unlink("/tmp/slow");
}
static void many_polls(void *arg)
{
	static struct pollfd p[4096];
	struct rlimit many = { 5000, 5000 };

	(void)arg;
	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 0; i < 4096; i++)
		p[i] = (struct pollfd){ .fd = open("/tmp", O_RDONLY), .events = POLLPRI };
	for (int i = 0; i < 50; i++)
		poll(p, 4096, 0);
}
static void long_walks(void *arg)
{
	char a[64], b[4200];

	(void)arg;
	mkdir("/tmp/walk", 0700);
	chdir("/tmp/walk");
	/* Each component leaves the directory and comes back. */
	for (int n = 0; n < 39; n++) {
		int at = 0;

		while (at < 4060)
			at += snprintf(b + at, 20, "../walk/");
		snprintf(b + at, 20, n ? "w%d" : ".", n - 1);
		snprintf(a, sizeof(a), "w%d", n);
		symlink(b, a);
	}
	for (int i = 0; i < 20; i++)
		(void)!access("w38", F_OK);
}
static void image_walks(void *arg)
{
	char b[4096];
	int at = 0;

	(void)arg;
	while (at < 4050)
		at += snprintf(b + at, 30, "/usr/share/../bin/../lib/..");
	for (int i = 0; i < 200; i++)
		(void)!access(b, F_OK);
	for (int i = 0; i < 2000; i++) {
		snprintf(b, sizeof(b), "/usr/lib/x86_64-linux-gnu/none%d/../%d", i, i);
		(void)!access(b, F_OK);
	}
}
static void pipes(void *arg)
{
	static char data[1 << 20];
	int p[2];

	(void)arg;
	(void)!pipe(p);
	fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
	if (fork() == 0)
		for (;;)
			(void)!read(p[0], data, sizeof(data));
	for (int i = 0; i < 200; i++)
		(void)!write(p[1], data, sizeof(data));
	kill(0, SIGKILL);
}
static void exec_args(void *arg)
{
	static char text[100000];
	char *argv[22] = { NULL };

	(void)arg;
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 20; i++)
		argv[i] = text;
	for (volatile int i = 0; i < 20; i++)
		if (vfork() == 0) {
			execv("/bin/true", argv);
			_exit(1);
		}
	while (wait(NULL) > 0)
		;
}

static const struct {
	const char *name;
	void (*fn)(void *);
} kinds[] = {
	{ "a read of 1 GiB from /dev/zero", read_zero },
	{ "a read of 64 MiB from /dev/urandom", read_random },
	{ "a write of 1 GiB to /dev/null", write_null },
	{ "a write of 256 MiB to a file", write_file },
	{ "a read of 1 GiB from a sparse file", read_sparse },
	{ "a vector read of 1 GiB", readv_sparse },
	{ "copies of 512 MiB", copy_sparse },
	{ "fallocate of 512 MiB", falloc },
	{ "copies of large files of the image", copy_up },
	{ "10,000 locks", many_locks },
	{ "polls of 4096 files", many_polls },
	{ "the longest walks", long_walks },
	{ "walks in the image", image_walks },
	{ "megabytes through pipes", pipes },
	{ "megabytes of arguments", exec_args },
};

/* Runs fn in a process of its own, for eight seconds at most. */
static void run(void (*fn)(void *))
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		fn(NULL);
		_exit(0);
	}
	for (double end = seconds() + 8; waitpid(pid, NULL, WNOHANG) == 0; usleep(1000))
		if (seconds() > end)
			kill(pid, SIGKILL);
	kill(-pid, SIGKILL);
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* Milliseconds of CPU time that the longest turn took; negative: not to be had. */
static double longest_turn(void)
{
	FILE *f = fopen("/proc/1/sched", "r");
	char line[256];
	double ms = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "exec_max : %lf", &ms);
	if (f)
		fclose(f);
	return ms;
}

int main(int argc, char **argv)
{
	big = mmap(NULL, big_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(put("/proc/sys/kernel/sched_schedstats", "1"), "turns of the kernel are measured");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double start = seconds(), ms;

		if (argc > 1 && !strstr(kinds[i].name, argv[1]))
			continue;
		put("/proc/1/sched", "0");
		run(kinds[i].fn);
		ms = longest_turn();
		check(ms > 0 && ms < LIMIT, "%s: the kernel works %.1f ms at most between two looks at its calls (%.1f s)",
		      kinds[i].name, ms, seconds() - start);
	}
	return done();
}
