/*
 * What one process changes, another sees at its next look, however often it has looked before: by
 * the same path, in a tight loop. Each change is made and undone many times, and the other process
 * is asked after each.
 */
#include "guest.h"
#include <sys/mman.h>
#include <sys/sendfile.h>

#define ROUNDS 24
#define LOOKS 4

struct question {
	int kind; /* 's' stat, 'l' lstat, 'r' readlink, 'a' access */
	char path[256];
};
struct answer {
	int err;
	long size, mode, nlink, mtime, ino;
	char text[64];
};

static int ask_fd[2], tell_fd[2];

static void look(const struct question *q, struct answer *a)
{
	struct stat st;
	int r = -1;

	memset(a, 0, sizeof(*a));
	memset(&st, 0, sizeof(st));
	errno = 0;
	if (q->kind == 's')
		r = stat(q->path, &st);
	else if (q->kind == 'l')
		r = lstat(q->path, &st);
	else if (q->kind == 'a')
		r = access(q->path, F_OK);
	else
		r = (int)readlink(q->path, a->text, sizeof(a->text) - 1);
	if (r < 0)
		a->err = errno;
	a->size = st.st_size;
	a->mode = st.st_mode;
	a->nlink = (long)st.st_nlink;
	a->mtime = st.st_mtime;
	a->ino = (long)st.st_ino;
}

static void watcher(void)
{
	struct question q;
	struct answer a, b;

	close(ask_fd[1]);
	while (read(ask_fd[0], &q, sizeof(q)) == sizeof(q)) {
		look(&q, &a);
		for (int i = 1; i < LOOKS; i++) {
			look(&q, &b);
			if (memcmp(&a, &b, sizeof(a)))
				a.err = 9999;
		}
		if (write(tell_fd[1], &a, sizeof(a)) != sizeof(a))
			break;
	}
	_exit(0);
}

static struct answer ask(int kind, const char *path)
{
	struct question q = { .kind = kind };
	struct answer a = { .err = 9998 };

	snprintf(q.path, sizeof(q.path), "%s", path);
	if (write(ask_fd[1], &q, sizeof(q)) != sizeof(q) || read(tell_fd[0], &a, sizeof(a)) != sizeof(a))
		printf("the other process is gone\n");
	return a;
}

static int bad;
static void want(const char *what, int round, long got, long wanted)
{
	if (got != wanted && bad++ < 10)
		printf("%s, round %d: got %ld, want %ld\n", what, round, got, wanted);
}
#define WANT(what, got, wanted) want(what, i, got, wanted)

static void names(void)
{
	mkdir("a", 0755);
	mkdir("a/b", 0755);
	for (int i = 0; i < ROUNDS; i++) {
		WANT("before", ask('s', "a/b/f").err, ENOENT);
		WANT("before, access", ask('a', "a/b/f").err, ENOENT);
		put_file("a/b/f", "hello");
		WANT("created", ask('s', "a/b/f").err, 0);
		WANT("created, access", ask('a', "a/b/f").err, 0);
		rename("a/b", "a/c");
		WANT("parent renamed", ask('s', "a/b/f").err, ENOENT);
		WANT("parent renamed, new", ask('s', "a/c/f").err, 0);
		rename("a", "z");
		WANT("grandparent renamed", ask('s', "a/c/f").err, ENOENT);
		WANT("grandparent renamed, new", ask('s', "z/c/f").err, 0);
		rename("z", "a");
		rename("a/c", "a/b");
		WANT("renamed back", ask('s', "a/b/f").err, 0);
		WANT("up and down", ask('s', "a/b/../b/f").err, 0);
		rename("a/b", "bb");
		mkdir("a/b", 0755);
		WANT("another directory", ask('s', "a/b/../b/f").err, ENOENT);
		WANT("moved, up", ask('s', "bb/../a/b").err, 0);
		rename("bb", "a/b");
		unlink("a/b/f");
		WANT("unlinked", ask('s', "a/b/f").err, ENOENT);
		rmdir("a/b");
		put_file("a/b", "");
		WANT("a file on the way", ask('s', "a/b/f").err, ENOTDIR);
		unlink("a/b");
		WANT("nothing on the way", ask('s', "a/b/f").err, ENOENT);
		mkdir("a/b", 0755);
	}
	rmdir("a/b");
	rmdir("a");
	printf("names: %d wrong\n", bad);
}

static void inodes(void)
{
	struct stat x, y;

	bad = 0;
	for (int i = 0; i < ROUNDS; i++) {
		put_file("f", "one");
		put_file("g", "three");
		stat("f", &x);
		stat("g", &y);
		WANT("f", ask('s', "f").ino, (long)x.st_ino);
		WANT("links", ask('s', "f").nlink, 1);
		link("f", "h");
		WANT("linked", ask('s', "f").nlink, 2);
		WANT("the other name", ask('s', "h").ino, (long)x.st_ino);
		unlink("h");
		WANT("unlinked", ask('s', "f").nlink, 1);
		renameat2(AT_FDCWD, "f", AT_FDCWD, "g", RENAME_EXCHANGE);
		WANT("exchanged", ask('s', "f").ino, (long)y.st_ino);
		rename("g", "f");
		WANT("replaced", ask('s', "f").ino, (long)x.st_ino);
		WANT("replaced, old", ask('s', "g").err, ENOENT);
		WANT("directory", ask('s', ".").nlink, 2);
		mkdir("d", 0755);
		WANT("a directory in it", ask('s', ".").nlink, 3);
		rmdir("d");
		WANT("none in it", ask('s', ".").nlink, 2);
		unlink("f");
	}
	printf("inodes: %d wrong\n", bad);
}

static void links(void)
{
	bad = 0;
	put_file("short", "1");
	put_file("long", "22222");
	for (int i = 0; i < ROUNDS; i++) {
		symlink("short", "l");
		WANT("text", strcmp(ask('r', "l").text, "short"), 0);
		WANT("through", ask('s', "l").size, 1);
		WANT("itself", ask('l', "l").size, 5);
		unlink("l");
		WANT("gone", ask('r', "l").err, ENOENT);
		symlink("long", "l");
		WANT("text, other", strcmp(ask('r', "l").text, "long"), 0);
		WANT("through, other", ask('s', "l").size, 5);
		unlink("l");
		put_file("l", "333");
		WANT("no link", ask('r', "l").err, EINVAL);
		unlink("l");
		symlink("l2", "l");
		WANT("dangling", ask('s', "l").err, ENOENT);
		symlink("long", "l2");
		WANT("no longer", ask('s', "l").size, 5);
		unlink("l2");
		unlink("l");
	}
	unlink("short");
	unlink("long");
	printf("links: %d wrong\n", bad);
}

static void attributes(void)
{
	struct timespec ts[2] = { { 1000, 0 }, { 0, 0 } };
	int fd = open("f", O_RDWR | O_CREAT, 0644), in = open("in", O_RDWR | O_CREAT, 0644), p[2];
	off_t off;

	bad = 0;
	(void)!write(in, "0123456789", 10);
	(void)!pipe(p);
	for (int i = 0; i < ROUNDS; i++) {
		ftruncate(fd, 0);
		WANT("empty", ask('s', "f").size, 0);
		WANT("write", (write(fd, "abc", 3), ask('s', "f").size), 3);
		WANT("pwrite", (pwrite(fd, "abc", 3, 7), ask('s', "f").size), 10);
		WANT("ftruncate", (ftruncate(fd, 5), ask('s', "f").size), 5);
		WANT("truncate", (truncate("f", 50), ask('s', "f").size), 50);
		WANT("fallocate", (fallocate(fd, 0, 0, 100), ask('s', "f").size), 100);
		lseek(fd, 0, SEEK_END);
		off = 0;
		WANT("sendfile", (sendfile(fd, in, &off, 10), ask('s', "f").size), 110);
		off = 0;
		WANT("copy_file_range", (copy_file_range(in, &off, fd, NULL, 10, 0), ask('s', "f").size), 120);
		(void)!write(p[1], "xyz", 3);
		WANT("splice", (splice(p[0], NULL, fd, NULL, 3, 0), ask('s', "f").size), 123);
		WANT("O_TRUNC", (close(open("f", O_WRONLY | O_TRUNC)), ask('s', "f").size), 0);
		lseek(fd, 0, SEEK_SET);
		WANT("chmod", (chmod("f", 0600), ask('s', "f").mode & 07777), 0600);
		WANT("fchmod", (fchmod(fd, 0644), ask('s', "f").mode & 07777), 0644);
		ts[1].tv_sec = 5000 + i;
		WANT("utimens", (utimensat(AT_FDCWD, "f", ts, 0), ask('s', "f").mtime), 5000 + i);
		WANT("futimens", (ts[1].tv_sec++, futimens(fd, ts), ask('s', "f").mtime), 5001 + i);
	}
	printf("attributes: %d wrong\n", bad);
	close(fd);
	close(in);
	unlink("f");
	unlink("in");
}

/* The size may grow by another's truncate while it is mapped; times follow the mapping at the
 * host's pace only. */
static void mapped(void)
{
	int fd = open("m", O_RDWR | O_CREAT, 0644);
	char *map;

	bad = 0;
	ftruncate(fd, 4096);
	ask('s', "m");
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < ROUNDS; i++) {
		map[i] = 'x';
		WANT("mapped", ask('s', "m").size, 4096 + i);
		ftruncate(fd, 4097 + i);
	}
	printf("mapped: %d wrong\n", bad);
	munmap(map, 4096);
	close(fd);
	unlink("m");
}

int main(void)
{
	pid_t pid;

	if (pipe(ask_fd) || pipe(tell_fd))
		return 1;
	pid = xfork();
	if (pid == 0)
		watcher();
	close(ask_fd[0]);
	close(tell_fd[1]);
	names();
	inodes();
	links();
	attributes();
	mapped();
	close(ask_fd[1]);
	show_status("the other process", xwait(pid));
	return 0;
}
