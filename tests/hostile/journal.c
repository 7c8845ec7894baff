/* A cell that tries to keep what it does out of its journal, or to have it told wrongly. Each trick
 * leaves a file of one repeated byte, which "# file NAME BYTE COUNT PID" names; journal.py compares
 * these lines with the journal, from outside. */
#include "hostile.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define RING 20000 /* records of each kind: many rings full */
#define RENAMES 3000
#define MARKS 9000

static void tell_file(const char *name, int byte, int count, int pid)
{
	printf("# file %s %d %d %d\n", name, byte, count, pid);
	fflush(stdout);
}

static void fill(int fd, int byte, int count)
{
	char b[4096];

	memset(b, byte, sizeof(b));
	while (count > 0) {
		int n = count < (int)sizeof(b) ? count : (int)sizeof(b);

		if (write(fd, b, (size_t)n) != n)
			break;
		count -= n;
	}
}

static pid_t child(void (*fn)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* Written through memory, after the file was closed. */
static void mapped(void)
{
	int fd = open("/w/mapped", O_RDWR | O_CREAT, 0600);
	char *p;

	if (ftruncate(fd, 4096))
		_exit(1);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	memset(p, 'a', 4096);
}

/* A private mapping of a file that is open for writing changes nothing. */
static void private_mapped(void)
{
	int fd = open("/w/private", O_RDWR | O_CREAT, 0600);
	char *p;

	fill(fd, 'g', 4096);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	memset(p, 'X', 4096);
	close(fd);
}

static void nameless(void)
{
	int fd = open("/w", O_TMPFILE | O_RDWR, 0600);
	char path[64];

	fill(fd, 'b', 100);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(linkat(AT_FDCWD, path, AT_FDCWD, "/w/nameless", AT_SYMLINK_FOLLOW) == 0,
	      "a file without a name gets one");
}

static int left_open = -1;
static void leaver(void)
{
	fill(left_open, 'c', 10);
}

/* Too deep for a path. */
static void deep(void)
{
	char name[201];
	int fd;

	memset(name, 'n', 200);
	name[200] = 0;
	if (chdir("/w"))
		_exit(1);
	for (int i = 0; i < 30; i++)
		if (mkdir(name, 0700) || chdir(name))
			_exit(1);
	fd = open("deepfile", O_WRONLY | O_CREAT, 0600);
	fill(fd, 'd', 10);
	close(fd);
}

static volatile int stop;
static void *rewrite(void *arg)
{
	int fd = *(int *)arg;
	struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };

	for (unsigned i = 0; !stop; i++) {
		char c = (char)('0' + i % 10);

		(void)!pwrite(fd, &c, 1, (i * 4099u) % (8u << 20));
		futimens(fd, times);
	}
	return NULL;
}

/* While it may be hashed. */
static void unsteady(void)
{
	int fd = open("/w/unsteady", O_RDWR | O_CREAT, 0600), other;
	pthread_t t;

	fill(fd, 'u', 8 << 20);
	other = open("/w/unsteady", O_RDWR);
	close(fd);
	pthread_create(&t, NULL, rewrite, &other);
	sleep(3); /* a second later the journal begins to read it */
	stop = 1;
	pthread_join(t, NULL);
	lseek(other, 0, SEEK_SET);
	fill(other, 'v', 8 << 20);
	close(other);
}

static void renames(void)
{
	int fd = open("/w/r0", O_WRONLY | O_CREAT, 0600);
	char a[32], b[32];

	fill(fd, 'f', 10);
	close(fd);
	for (int i = 0; i < RENAMES; i++) {
		snprintf(a, sizeof(a), "/w/r%d", i % 7);
		snprintf(b, sizeof(b), "/w/r%d", (i + 1) % 7);
		if (rename(a, b))
			_exit(1);
	}
	snprintf(a, sizeof(a), "/w/r%d", RENAMES % 7);
	if (rename(a, "/w/final"))
		_exit(1);
}

static void ring(void)
{
	for (int i = 0; i < RING; i++) {
		int fd = open("/w/ring", O_WRONLY | O_CREAT | O_EXCL, 0600);

		close(fd);
		unlink("/w/ring");
	}
}

static void marks(void)
{
	char name[32];
	int refused = 0, n;

	mkdir("/w/marks", 0700);
	for (n = 0; n < MARKS && !refused; n++) {
		int fd;
		char *p;

		snprintf(name, sizeof(name), "/w/marks/%d", n);
		fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, 4096))
			break;
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		refused = p == MAP_FAILED && errno == ENOMEM;
		if (p != MAP_FAILED)
			*p = 'm';
		close(fd);
	}
	check(refused, "more mappings than the journal can mark are refused (after %d)", n);
}

/* What is written in a mount that is gone. */
static void detached(void)
{
	int fd;

	mkdir("/w/mount", 0700);
	if (mount("none", "/w/mount", "tmpfs", 0, NULL)) {
		check(errno == EPERM || errno == ENOSYS, "no mount, no attack");
		return;
	}
	fd = open("/w/mount/orphan", O_WRONLY | O_CREAT, 0600);
	check(umount2("/w/mount", MNT_DETACH) == 0, "a mount is detached while a file is open");
	fill(fd, 'h', 10);
	close(fd);
}

int main(void)
{
	static const char odd[] = "/w/\033[2J\n\xff\xfe\rodd";
	struct rlimit few = { 64, 64 };
	int fd;

	setrlimit(RLIMIT_NOFILE, &few);
	mkdir("/w", 0700);
	tell_file("/w/mapped", 'a', 4096, child(mapped));
	tell_file("/w/private", 'g', 4096, child(private_mapped));
	tell_file("/w/nameless", 'b', 100, child(nameless));
	/* It ends before the file is closed; its number may be another process's by then. */
	left_open = open("/w/left", O_WRONLY | O_CREAT, 0600);
	tell_file("/w/left", 'c', 10, child(leaver));
	for (int i = 0; i < 300; i++)
		child(private_mapped);
	close(left_open);
	tell_file("(lost)", 'd', 10, child(deep));
	fd = open(odd, O_WRONLY | O_CREAT, 0600);
	fill(fd, 'e', 10);
	close(fd);
	tell_file("(odd)", 'e', 10, getpid());
	tell_file("/w/final", 'f', 10, child(renames));
	child(ring);
	printf("# ring %d\n# renames %d\n", RING, RENAMES + 1);
	child(marks);
	child(detached);
	tell_file("/w/unsteady", 'v', 8 << 20, child(unsteady));
	check(1, "all tricks were tried");
	return done();
}
