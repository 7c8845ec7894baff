/* needs: root */
/* /proc/mounts can be watched: poll reports POLLPRI and POLLERR once after each change. Other
 * files of /proc cannot be added to an epoll set. */
#include "guest.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mount.h>

static unsigned ask(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, 0) < 0 ? 0xffff : (unsigned)p.revents;
}

static void watch(const char *path)
{
	int ep = epoll_create1(0), fd = open(path, O_RDONLY);
	struct epoll_event ev = { .events = EPOLLIN };

	errno = 0;
	int r = epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	printf("%s: %s\n", path, r ? ename(errno) : "can be watched");
	close(fd);
	close(ep);
}

static void changes(void)
{
	struct epoll_event ev = { .events = EPOLLPRI | EPOLLERR };
	int fd = open("/proc/self/mounts", O_RDONLY), ep = epoll_create1(0), info;
	char buf[65536];

	info = open("/proc/self/mountinfo", O_RDONLY);
	printf("first %#x\n", ask(fd));
	CHECK(read(fd, buf, sizeof(buf)) > 0);
	printf("after read %#x\n", ask(fd));
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == 0);
	SHOW(epoll_wait(ep, &ev, 1, 0));
	CHECK(mkdir("d", 0755) == 0 && mount("x", "d", "tmpfs", 0, NULL) == 0);
	SHOW(epoll_wait(ep, &ev, 1, 10000));
	printf("events %#x\n", ev.events);
	SHOW(epoll_wait(ep, &ev, 1, 0));
	printf("after mount %#x, info %#x\n", ask(fd), ask(info));
	printf("again %#x, info %#x\n", ask(fd), ask(info));
	CHECK(umount("d") == 0);
	printf("after umount %#x, info %#x\n", ask(fd), ask(info));
	rmdir("d");
}

int main(void)
{
	watch("/proc/self/mounts");
	watch("/proc/self/mountinfo");
	watch("/proc/self/status");
	watch("/proc/self/maps");
	watch("/proc/meminfo");
	watch("/proc/uptime");
	watch("/proc/sys/kernel/ostype");
	watch("/sys/devices/system/cpu/online");
	if (geteuid() == 0)
		show_status("changes", in_child(changes));
	return 0;
}
