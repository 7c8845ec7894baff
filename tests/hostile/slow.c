/* Large transfers, long paths, many locks and polls: see slow.h. */
#include <dirent.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "slow.h"

static char *big;
static size_t big_size = 1UL << 30;

static void read_zero(void) { int fd = open("/dev/zero", O_RDONLY); (void)!read(fd, big, big_size); }
static void read_random(void) { int fd = open("/dev/urandom", O_RDONLY); (void)!read(fd, big, 64UL << 20); }
static void write_null(void) { int fd = open("/dev/null", O_WRONLY); (void)!write(fd, big, big_size); }
static void write_file(void)
{
	int fd = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)!write(fd, big, 256UL << 20);
	unlink("/tmp/slowfile");
}
static void read_sparse(void)
{
	int fd = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600);

	ftruncate(fd, 1L << 40);
	(void)!pread(fd, big, big_size, 0);
	unlink("/tmp/slowfile");
}
static void readv_sparse(void)
{
	int fd = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct iovec v[1024];

	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){ big, 1 << 20 };
	ftruncate(fd, 1L << 40);
	(void)!preadv(fd, v, 1024, 0);
	unlink("/tmp/slowfile");
}
static void copy_sparse(void)
{
	int a = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600), b = open("/tmp/slowfile2", O_RDWR | O_CREAT | O_TRUNC, 0600);

	ftruncate(a, 1L << 40);
	(void)!copy_file_range(a, NULL, b, NULL, 512UL << 20, 0);
	(void)!sendfile(b, a, NULL, 512UL << 20);
	unlink("/tmp/slowfile");
	unlink("/tmp/slowfile2");
}
static void falloc(void)
{
	int fd = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600);

	fallocate(fd, 0, 0, 512L << 20);
	fallocate(fd, 3 /* punch */, 0, 512L << 20);
	unlink("/tmp/slowfile");
}
/* The largest files of the image's own: the first write makes a copy in the cell's layer. */
static void copy_up(void)
{
	static const char *const dirs[] = { "/usr/bin", "/usr/local/bin", "/usr/lib/x86_64-linux-gnu" };
	char path[1024];
	struct dirent *e;
	struct stat st;

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
static void many_locks(void)
{
	int fd = open("/tmp/slowfile", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (long i = 0; i < 10000; i++) {
		struct flock l = { .l_type = F_WRLCK, .l_start = 2 * ((i * 7919) % 10000), .l_len = 1 };

		fcntl(fd, F_SETLK, &l);
	}
	unlink("/tmp/slowfile");
}
static void many_polls(void)
{
	static struct pollfd p[4096];
	struct rlimit many = { 5000, 5000 };

	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 0; i < 4096; i++)
		p[i] = (struct pollfd){ .fd = open("/tmp", O_RDONLY), .events = POLLPRI };
	for (int i = 0; i < 50; i++)
		poll(p, 4096, 0);
}
static void long_walks(void)
{
	char a[64], b[4200];

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
static void image_walks(void)
{
	char b[4096];
	int at = 0;

	while (at < 4050)
		at += snprintf(b + at, 30, "/usr/share/../bin/../lib/..");
	for (int i = 0; i < 200; i++)
		(void)!access(b, F_OK);
	for (int i = 0; i < 2000; i++) {
		snprintf(b, sizeof(b), "/usr/lib/x86_64-linux-gnu/none%d/../%d", i, i);
		(void)!access(b, F_OK);
	}
}
static void pipes(void)
{
	static char data[1 << 20];
	int p[2];

	(void)!pipe(p);
	fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
	if (fork() == 0)
		for (;;)
			(void)!read(p[0], data, sizeof(data));
	for (int i = 0; i < 200; i++)
		(void)!write(p[1], data, sizeof(data));
	kill(0, SIGKILL);
}
static void exec_args(void)
{
	static char text[100000];
	char *argv[22] = { NULL };

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

static const struct kind kinds[] = {
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


int main(int argc, char **argv)
{
	big = mmap(NULL, big_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return slow_main(kinds, sizeof(kinds) / sizeof(kinds[0]), argc, argv);
}
