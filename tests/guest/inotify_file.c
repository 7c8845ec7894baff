/* Watches on files themselves: unlink while open, hard links, one shot, masks, errors, limits of
 * the buffer. */
#include "guest.h"
#include <poll.h>
#include <sys/inotify.h>

static int fd;

static void events(const char *what)
{
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n = read(fd, buf, sizeof(buf));

	printf("%s:", what);
	if (n < 0)
		printf(" %s", ename(errno));
	for (char *p = buf; p < buf + n;) {
		struct inotify_event *e = (struct inotify_event *)p;
		printf(" %d:%x%s%s", e->wd, e->mask, e->len ? ":" : "", e->len ? e->name : "");
		p += sizeof(*e) + e->len;
	}
	printf("\n");
}

int main(void)
{
	char buf[64];
	int f;

	put_file("a", "x");
	put_file("b", "x");
	mkdir("d", 0755);
	symlink("a", "l");
	fd = inotify_init1(IN_NONBLOCK);
	SHOW(inotify_add_watch(fd, "a", IN_ALL_EVENTS));
	SHOW(inotify_add_watch(fd, "b", IN_MODIFY | IN_ONESHOT));
	SHOW(inotify_add_watch(fd, "a", IN_OPEN));
	f = open("a", O_RDWR);
	write(f, "1", 1);
	events("open only");
	SHOW(inotify_add_watch(fd, "a", IN_MODIFY | IN_MASK_ADD));
	write(f, "1", 1);
	events("write added");
	SHOW(inotify_add_watch(fd, "a", IN_ALL_EVENTS | IN_MASK_CREATE));
	SHOW(inotify_add_watch(fd, "a", IN_ALL_EVENTS));
	link("a", "c");
	unlink("a");
	events("link and unlink of one name");
	unlink("c");
	events("unlink of the last, still open");
	close(f);
	events("close");
	put_file("b", "12");
	put_file("b", "123");
	events("one shot");
	SHOW(inotify_rm_watch(fd, 2));
	SHOW(inotify_add_watch(fd, "b", IN_CLOSE));
	SHOW(inotify_rm_watch(fd, 3));
	put_file("b", "1");
	events("removed");
	SHOW(inotify_add_watch(fd, "d", IN_ONLYDIR | IN_CREATE | IN_MODIFY));
	SHOW(inotify_add_watch(fd, "b", IN_ONLYDIR | IN_CREATE));
	put_file("d/0123456789abcdef", "x");
	SHOW(read(fd, buf, 16));
	SHOW(read(fd, buf, 47));
	SHOW(read(fd, buf, 48));
	events("the rest");
	SHOW(inotify_add_watch(fd, "l", IN_OPEN));
	SHOW(inotify_add_watch(fd, "l", IN_OPEN | IN_DONT_FOLLOW));
	SHOW(inotify_add_watch(fd, "b", 0));
	SHOW(inotify_add_watch(fd, "b", 0x00100000));
	SHOW(inotify_add_watch(fd, "b", IN_OPEN | IN_MASK_ADD | IN_MASK_CREATE));
	SHOW(inotify_add_watch(fd, "none", IN_OPEN));
	SHOW(inotify_add_watch(fd, (void *)8, IN_OPEN));
	SHOW(inotify_add_watch(0, "b", IN_OPEN));
	SHOW(inotify_add_watch(77, "b", IN_OPEN));
	SHOW(inotify_rm_watch(fd, 77));
	SHOW(inotify_rm_watch(0, 1));
	SHOW(inotify_init1(1));
	SHOW(write(fd, buf, 1));

	/* Unlinked while open: only those who did not ask to be left alone are told. */
	int two = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(two, "d", IN_MODIFY | IN_EXCL_UNLINK);
	f = open("d/0123456789abcdef", O_WRONLY);
	unlink("d/0123456789abcdef");
	write(f, "x", 1);
	events("unlinked and written");
	SHOW(read(two, buf, sizeof(buf)));
	close(f);
	close(two);

	pid_t pid = xfork();
	if (pid == 0) {
		usleep(20000);
		put_file("d/late", "x");
		_exit(0);
	}
	struct pollfd p = { .fd = fd, .events = POLLIN };
	SHOW(poll(&p, 1, 10000));
	printf("revents %x\n", p.revents);
	xwait(pid);
	events("by another process");
	unlink("d/late");
	rmdir("d");
	unlink("b");
	unlink("l");
	return 0;
}
