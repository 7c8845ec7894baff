/* Tries to write, and to read, outside of a mounted host directory. usage: mounts ro|rw MOUNT
 * SECRET: MOUNT in the cell holds files, "out" (a link to the host's OUTSIDE directory, absolute),
 * "up" (a link to ../outside), "inside/". Nothing may change in OUTSIDE; SECRET stands in a file
 * there and must not be seen. */
#include <pthread.h>
#include <sys/xattr.h>

#include "hostile.h"

static const char *m, *secret;
static int leaks, writes;
static volatile int stop;

static void look(int fd)
{
	char buf[256] = "";

	if (fd < 0)
		return;
	if (read(fd, buf, sizeof(buf) - 1) > 0 && strstr(buf, secret))
		leaks++;
	if (write(fd, "WRITTEN", 7) == 7)
		writes++;
	close(fd);
}

static void try(const char *path)
{
	char p[512];

	look(open(path, O_RDONLY));
	look(open(path, O_RDWR));
	snprintf(p, sizeof(p), "%s.new", path);
	look(open(p, O_RDWR | O_CREAT, 0666));
}

static void *swapper(void *arg)
{
	char a[256], b[256];

	(void)arg;
	snprintf(a, sizeof(a), "%s/swap", m);
	snprintf(b, sizeof(b), "%s/swapl", m);
	while (!stop)
		renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
	return NULL;
}

/* The same with plain renames. */
static void *mover(void *arg)
{
	char a[256], b[256], c[256];

	(void)arg;
	snprintf(a, sizeof(a), "%s/inside/deep", m);
	snprintf(b, sizeof(b), "%s/deep", m);
	snprintf(c, sizeof(c), "%s/inside", m);
	while (!stop) {
		rename(a, b);
		rename(b, a);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "out/secret", "up/secret", "../outside/secret", "inside/../../outside/secret",
					    "inside/../../../../../../etc/shadow", "out/../outside/secret", "abs" };
	int rw, before, ino_writes = 0, fd, dirfd;
	char p[512], q[512];
	pthread_t t[2];
	double end;

	if (argc < 4)
		return 2;
	rw = !strcmp(argv[1], "rw");
	m = argv[2];
	secret = argv[3];
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(p, sizeof(p), "%s/%s", m, ways[i]);
		try(p);
		snprintf(p, sizeof(p), "/proc/self/root%s/%s", m, ways[i]);
		try(p);
		/* By a handle, and from inside. */
		dirfd = open(m, O_PATH | O_DIRECTORY);
		look(openat(dirfd, ways[i], O_RDWR));
		snprintf(p, sizeof(p), "/proc/self/fd/%d/%s", dirfd, ways[i]);
		try(p);
		fchdir(dirfd);
		try(ways[i]);
		fd = openat(dirfd, ways[i], O_PATH | O_NOFOLLOW);
		snprintf(p, sizeof(p), "/proc/self/fd/%d", fd);
		try(p);
		chdir("..");
		snprintf(p, sizeof(p), "outside/secret");
		try(p);
		chdir("/");
		close(fd);
		close(dirfd);
	}
	check(!leaks, "%s: links and .. do not lead out", argv[1]);
	writes = 0; /* those went into the cell's own tree, or into the mount; the host looks at its files */

	/* Links of our own making. */
	snprintf(p, sizeof(p), "%s/mine", m);
	symlink("../outside/secret", p);
	try(p);
	snprintf(q, sizeof(q), "%s/mine2", m);
	symlink("/proc/1/root", q);
	snprintf(q, sizeof(q), "%s/mine2/etc/shadow", m);
	try(q);
	snprintf(q, sizeof(q), "%s/hard", m);
	link(p, q);
	linkat(AT_FDCWD, p, AT_FDCWD, q, AT_SYMLINK_FOLLOW);
	try(q);
	fd = open(m, O_RDONLY | O_DIRECTORY);
	linkat(fd, "out/secret", fd, "hard2", AT_SYMLINK_FOLLOW);
	linkat(fd, "up/secret", fd, "hard3", AT_SYMLINK_FOLLOW);
	snprintf(q, sizeof(q), "%s/hard2", m);
	try(q);
	snprintf(q, sizeof(q), "%s/hard3", m);
	try(q);
	renameat(fd, "file", fd, "../outside/stolen");
	renameat(fd, "file", fd, "up/stolen");
	renameat(fd, "up/secret", fd, "got");
	mkdirat(fd, "up/dir", 0777);
	unlinkat(fd, "up/secret", 0);
	unlinkat(fd, "out/secret", 0);
	symlinkat("x", fd, "up/link");
	mknodat(fd, "up/node", S_IFREG | 0666, 0);
	mknodat(fd, "dev", S_IFCHR | 0666, 0x103);
	fchmodat(fd, "up/secret", 0777, 0);
	fchownat(fd, "up/secret", 1, 1, 0);
	utimensat(fd, "up/secret", NULL, 0);
	truncate("up/secret", 0);
	look(openat(fd, "got", O_RDONLY));
	check(!leaks, "%s: links of the guest's own do not lead out", argv[1]);

	if (!rw) {
		/* Read-only stays so, by every way of writing. */
		struct stat st;

		snprintf(p, sizeof(p), "%s/file", m);
		before = open(p, O_RDONLY);
		ino_writes += open(p, O_RDWR) >= 0;
		ino_writes += open(p, O_WRONLY | O_TRUNC) >= 0;
		ino_writes += truncate(p, 0) == 0;
		ino_writes += chmod(p, 0777) == 0;
		ino_writes += unlink(p) == 0;
		snprintf(q, sizeof(q), "/proc/self/fd/%d", before);
		ino_writes += open(q, O_RDWR) >= 0;
		ino_writes += ftruncate(before, 0) == 0;
		ino_writes += mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, before, 0) != MAP_FAILED;
		void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, before, 0);
		ino_writes += at != MAP_FAILED && mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0;
		/* The descriptor that the runner is lent for a mapping, used directly. */
		long lent = RAW(HC_MMAP, 0, 4096, PROT_READ, MAP_SHARED, before, 0);
		if (lent >= 0) {
			long a = RAW(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, STUB_MAP_FD(lent & 0xffff), 0);

			if (a > 0) {
				*(char *)a = 'X';
				ino_writes++;
			}
		}
		ino_writes += fsetxattr(before, "user.x", "y", 1, 0) == 0;
		check(fstat(before, &st) == 0 && st.st_size > 0 && !ino_writes, "ro: nothing can be written (%d ways)", ino_writes);
	} else {
		pthread_create(&t[0], NULL, swapper, NULL);
		pthread_create(&t[1], NULL, mover, NULL);
		mkdirat(fd, "swap", 0777);
		mkdirat(fd, "inside/deep", 0777);
		symlinkat("../outside", fd, "swapl");
		look(openat(fd, "swap/secret", O_RDWR | O_CREAT, 0666));
		end = seconds() + 1.5;
		writes = 0;
		while (seconds() < end) {
			snprintf(p, sizeof(p), "%s/swap/secret", m);
			look(open(p, O_RDONLY));
			snprintf(p, sizeof(p), "%s/swapl/secret", m);
			look(open(p, O_RDONLY));
			snprintf(p, sizeof(p), "%s/swap/raced", m);
			close(open(p, O_RDWR | O_CREAT, 0666));
			snprintf(p, sizeof(p), "%s/inside/deep/../../../outside/secret", m);
			look(open(p, O_RDONLY));
			dirfd = openat(fd, "inside/deep", O_PATH);
			look(openat(dirfd, "../../../outside/secret", O_RDONLY));
			look(openat(dirfd, "../../outside/secret", O_RDONLY));
			close(dirfd);
			snprintf(p, sizeof(p), "%s/swap", m);
			chdir(p);
			look(open("secret", O_RDONLY));
			look(open("../../outside/secret", O_RDONLY));
			chdir("/");
		}
		stop = 1;
		pthread_join(t[0], NULL);
		pthread_join(t[1], NULL);
		check(!leaks, "rw: no race leads out");
	}
	check(cell_is_well(), "%s: the kernel goes on", argv[1]);
	return done();
}
