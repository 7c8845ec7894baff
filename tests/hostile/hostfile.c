/* Single files of the host in a cell, and FIFOs, sockets and owners in a directory of the host:
 * nothing leads to the files beside them, to the host's own FIFOs and sockets, or past what the
 * cell's users may do. usage: hostfile RW RO DIR SECRET: RW and RO are mounted files, DIR is a
 * directory with "host.fifo", into which a process of the host writes SECRET, and "host.sock", at
 * which one listens. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "hostile.h"

static const char *rw, *ro, *dir, *secret;

/* No way from a file to where it lies on the host. */
static void beside(void)
{
	static const char *const ways[] = { "..",	  "../secret", "/..",
					    "/../secret", "./.",       "../../etc/shadow" };
	char p[512], buf[256];
	int found = 0, fd = open(rw, O_RDWR), pfd = open(rw, O_PATH);
	struct stat st;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int got;

		found += (got = openat(fd, ways[i], O_RDONLY)) >= 0 && ways[i][0] != '/';
		found += (got = openat(pfd, ways[i], O_RDONLY)) >= 0 && ways[i][0] != '/';
		snprintf(p, sizeof(p), "/proc/self/fd/%d/%s", fd, ways[i]);
		found += (got = open(p, O_RDONLY)) >= 0;
	}
	check(!found, "a mounted file leads nowhere");
	ssize_t n = 0;
	snprintf(p, sizeof(p), "/proc/self/fd/%d", fd);
	n = readlink(p, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = 0;
	check(!strcmp(buf, rw), "its name is the cell's");
	check(rename(rw, "/tmp/x") < 0 && errno == EBUSY && unlink(rw) < 0 && errno == EBUSY,
	      "it can be neither moved nor removed");
	check(link(rw, "/tmp/x") < 0 && errno == EXDEV, "it has no other name");
	check(fchmod(fd, 06755) == 0 && fstat(fd, &st) == 0 && !(st.st_mode & 06000),
	      "it takes no set-id bits");
	check(fsetxattr(fd, "security.capability", "x", 1, 0) < 0 &&
		      fsetxattr(fd, "trusted.x", "x", 1, 0) < 0,
	      "and no attributes but the user's");
	close(fd);
	close(pfd);
}

/* The descriptor that a mapping gets must not write what the file's own does not. */
static void *map_written(const char *path, int flags)
{
	int fd = open(path, flags);
	char *m = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED || mprotect(m, 4096, PROT_READ | PROT_WRITE) < 0)
		return NULL;
	return m;
}

static void readonly(void)
{
	struct timespec ts[2] = { { 1, 0 }, { 1, 0 } };
	int n = 0, fd = open(ro, O_RDONLY);

	n += open(ro, O_RDWR) >= 0;
	n += open(ro, O_WRONLY | O_TRUNC) >= 0;
	n += truncate(ro, 0) == 0;
	n += chmod(ro, 0777) == 0;
	n += chown(ro, 5, 5) == 0;
	n += utimensat(AT_FDCWD, ro, ts, 0) == 0;
	n += setxattr(ro, "user.x", "y", 1, 0) == 0;
	n += fchmod(fd, 0777) == 0;
	n += ftruncate(fd, 0) == 0;
	n += write(fd, "x", 1) == 1;
	check(n == 0, "a read-only file cannot be changed (%d ways)", n);
	check(!map_written(ro, O_RDONLY), "not through a mapping");
	close(fd);
}

/* As another user of the cell, who may read the file only. */
static void other_user(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		int bad = 0;

		if (setgid(4242) || setuid(4242))
			_exit(9);
		bad |= open(rw, O_RDWR) >= 0;
		bad |= (map_written(rw, O_RDONLY) != NULL) << 1;
		bad |= (chmod(rw, 0666) == 0) << 2;
		bad |= (chown(rw, 4242, 4242) == 0) << 3;
		bad |= (setxattr(rw, "user.vivarium.owner", "4242:4242", 9, 0) == 0) << 4;
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	check(status == 0, "another user of the cell has no more than its mode says (%x)", status);
}

static void owners(void)
{
	static const char *const lies[] = { "0:0", "4242:4242", "-1:0",		"4294967295:0",
					    "1",   "",		"99999999999:1" };
	char p[512], buf[64];
	struct stat st;
	int n = 0;

	snprintf(p, sizeof(p), "%s/owned", dir);
	close(open(p, O_CREAT | O_WRONLY, 0600));
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		n += setxattr(p, "user.vivarium.owner", lies[i], strlen(lies[i]), 0) == 0;
		n += setxattr(dir, "user.vivarium.owners", lies[i], strlen(lies[i]), 0) == 0;
	}
	check(n == 0, "the attribute that keeps an owner is not the guest's to write");
	check(chown(p, 77, 88) == 0 && stat(p, &st) == 0 && st.st_uid == 77 && st.st_gid == 88,
	      "an owner is kept");
	check(getxattr(p, "user.vivarium.owner", buf, sizeof(buf)) < 0 &&
		      listxattr(p, NULL, 0) == 0 && removexattr(p, "user.vivarium.owner") < 0 &&
		      stat(p, &st) == 0 && st.st_uid == 77,
	      "nor to read or remove");
	check(chmod(p, 06755) == 0 && stat(p, &st) == 0 && !(st.st_mode & 06000),
	      "no set-id bits beside it");
	unlink(p);
}

/* The host's FIFO and socket are of no use; those of the cell meet inside. */
static void rendezvous(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char p[512], buf[256] = "";
	int fd, s, n = 0, made = 0;
	struct pollfd pfd;

	snprintf(p, sizeof(p), "%s/host.fifo", dir);
	fd = open(p, O_RDONLY | O_NONBLOCK);
	pfd = (struct pollfd){ fd, POLLIN, 0 };
	for (int i = 0; i < 10 && fd >= 0; i++) {
		poll(&pfd, 1, 50);
		n += read(fd, buf, sizeof(buf) - 1) > 0 && strstr(buf, secret);
	}
	check(fd >= 0 && !n, "what a process of the host writes to a FIFO stays on the host");
	close(fd);
	check(open(p, O_WRONLY | O_NONBLOCK) < 0 && errno == ENXIO, "and it hears nobody");
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/host.sock", dir);
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	check(connect(s, (void *)&un, sizeof(un)) < 0 && errno == ECONNREFUSED,
	      "a socket of the host refuses");
	close(s);
	for (int i = 0; i < 200; i++) {
		static const mode_t types[] = { S_IFCHR, S_IFBLK, S_IFIFO, S_IFSOCK, S_IFREG };

		snprintf(p, sizeof(p), "%s/n%d", dir, i);
		int r = mknod(p, types[i % 5] | 07777, 0x103);
		struct stat st;

		if (i % 5 < 2)
			made += r == 0;
		else
			made += r != 0 || stat(p, &st) || (st.st_mode & 06000) ||
				(st.st_mode & S_IFMT) != types[i % 5];
		unlink(p);
	}
	check(!made, "nodes that can be made, and no devices");
}

/* Many at once, removed and renamed while they are open. */
static void storm(void)
{
	double end = seconds() + 2;
	int bad = 0;

	for (int k = 0; k < 4; k++) {
		if (fork())
			continue;
		srand((unsigned)k);
		while (seconds() < end) {
			struct sockaddr_un un = { .sun_family = AF_UNIX };
			char a[128], b[128];
			int x = rand() % 4, y = rand() % 4, fd = -1, s = -1;

			snprintf(a, sizeof(a), "%s/s%d", dir, x);
			snprintf(b, sizeof(b), "%s/s%d", dir, y);
			strcpy(un.sun_path, a);
			switch (rand() % 8) {
			case 0:
				mkfifo(a, 0600);
				break;
			case 1:
				s = socket(AF_UNIX, SOCK_STREAM, 0);
				if (bind(s, (void *)&un, sizeof(un)) == 0)
					listen(s, 3);
				break;
			case 2:
				s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
				connect(s, (void *)&un, sizeof(un));
				break;
			case 3:
				unlink(a);
				break;
			case 4:
				rename(a, b);
				break;
			case 5:
				fd = open(a, O_RDWR | O_NONBLOCK);
				if (fd >= 0 && write(fd, "x", 1) == 1)
					bad += read(fd, b, 1) < 0;
				break;
			case 6:
				chown(a, (uid_t)(rand() % 3), 0);
				break;
			default:
				fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
				write(fd, "3", 1);
				close(fd);
				fd = open(a, O_RDONLY | O_NONBLOCK);
			}
			close(fd);
			close(s);
		}
		_exit(0);
	}
	for (int k = 0; k < 4; k++) {
		int status = 1;

		wait(&status);
		bad += status != 0;
	}
	for (int i = 0; i < 4; i++) {
		char a[128];

		snprintf(a, sizeof(a), "%s/s%d", dir, i);
		unlink(a);
	}
	check(!bad, "names that change under FIFOs and sockets");
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	rw = argv[1], ro = argv[2], dir = argv[3], secret = argv[4];
	beside();
	readonly();
	other_user();
	owners();
	rendezvous();
	storm();
	return done();
}
