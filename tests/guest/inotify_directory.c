/* What a watched directory tells of its entries. */
#include "guest.h"
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

static const char *const names[] = { "ACCESS",	   "MODIFY",   "ATTRIB", "CLOSE_WRITE",
				     "CLOSE_NOWRITE", "OPEN",     "MOVED_FROM", "MOVED_TO",
				     "CREATE",	   "DELETE",   "DELETE_SELF", "MOVE_SELF" };
static int fd;
static uint32_t cookie;

static void events(const char *what)
{
	char buf[8192] __attribute__((aligned(8)));
	ssize_t n = read(fd, buf, sizeof(buf));

	printf("%s:\n", what);
	if (n < 0) {
		printf("  %s\n", ename(errno));
		return;
	}
	for (char *p = buf; p < buf + n;) {
		struct inotify_event *e = (struct inotify_event *)p;
		printf("  %d", e->wd);
		for (int i = 0; i < 12; i++)
			if (e->mask & (1u << i))
				printf(" %s", names[i]);
		printf("%s%s%s", e->mask & IN_ISDIR ? " ISDIR" : "", e->mask & IN_IGNORED ? " IGNORED" : "",
		       e->mask & IN_Q_OVERFLOW ? " Q_OVERFLOW" : "");
		if (e->mask & IN_MOVED_FROM)
			cookie = e->cookie;
		if (e->mask & IN_MOVED_TO)
			printf(" cookie %s", e->cookie && e->cookie == cookie ? "same" : "other");
		printf(" %s (%u)\n", e->len ? e->name : "-", e->len);
		p += sizeof(*e) + e->len;
	}
}

int main(void)
{
	char c[4];
	int f, n;

	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	mkdir("d", 0755);
	mkdir("other", 0755);
	SHOW(inotify_add_watch(fd, "d", IN_ALL_EVENTS));
	events("nothing");
	f = open("d/file", O_RDWR | O_CREAT, 0644);
	events("create");
	write(f, "abc", 3);
	write(f, "abc", 3);
	events("two writes");
	pread(f, c, 3, 0);
	pread(f, c, 3, 100);
	events("read");
	ftruncate(f, 1);
	fchmod(f, 0600);
	events("truncate, chmod");
	close(f);
	events("close");
	f = open("d/file", O_RDONLY);
	close(f);
	events("open and close");
	f = open("d/file", O_WRONLY | O_TRUNC);
	close(f);
	events("open to truncate");
	f = open("d/file", O_PATH);
	close(f);
	events("path");
	chown("d/file", -1, getgid());
	utimensat(AT_FDCWD, "d/file", NULL, 0);
	events("chown, utimes");
	truncate("d/file", 10);
	events("truncate by name");
	link("d/file", "d/hard");
	events("link");
	link("d/file", "other/hard");
	events("link elsewhere");
	rename("d/file", "d/new");
	events("rename");
	rename("d/new", "other/new");
	events("rename out");
	rename("other/new", "d/in");
	events("rename in");
	rename("d/in", "d/hard");
	events("rename over another name of it");
	put_file("d/victim", "x");
	events("second file");
	rename("d/hard", "d/victim");
	events("rename over");
	symlink("nowhere", "d/link");
	events("symlink");
	mkdir("d/sub", 0755);
	events("mkdir");
	put_file("d/sub/deep", "x");
	events("below");
	unlink("d/sub/deep");
	f = open("d/sub", O_RDONLY | O_DIRECTORY);
	close(f);
	events("open of directory");
	rmdir("d/sub");
	events("rmdir");
	mkfifo("d/fifo", 0600);
	events("fifo");
	SHOW(ioctl(fd, FIONREAD, &n));
	printf("to read: %d\n", n);
	unlink("d/fifo");
	unlink("d/link");
	unlink("d/in");
	unlink("d/hard");
	SHOW(ioctl(fd, FIONREAD, &n));
	printf("to read: %d\n", n);
	events("unlinks");
	unlink("d/victim");
	chmod("d", 0700);
	rename("d", "e");
	events("the directory itself");
	rmdir("e");
	events("is removed");
	events("and then");
	unlink("other/hard");
	rmdir("other");
	return 0;
}
