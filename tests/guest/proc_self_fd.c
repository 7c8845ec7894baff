/* /proc/self/fd: one link for each descriptor, its target, and the mode bits of its access mode. */
#include "guest.h"
#include <dirent.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

static bool listed(int fd)
{
	bool found = false;
	DIR *dir = opendir("/proc/self/fd");
	for (struct dirent *e; (e = readdir(dir));)
		found |= e->d_name[0] != '.' && atoi(e->d_name) == fd && e->d_type == DT_LNK;
	closedir(dir);
	return found;
}

static void show(const char *what, int fd)
{
	char name[64], target[4200] = "", *tail;
	struct stat st;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, target, sizeof(target) - 1) < 0 || lstat(name, &st)) {
		printf("%s: %s\n", what, ename(errno));
		return;
	}
	/* Of a path its last part, of others all but the inode number. */
	if (target[0] == '/' && strncmp(target, "/dev/", 5))
		tail = strrchr(target, '/');
	else {
		tail = target;
		if (strpbrk(tail, "0123456789"))
			*strpbrk(tail, "0123456789") = '\0';
	}
	printf("%s: %s mode %04o size %d\n", what, tail, st.st_mode & 07777, (int)st.st_size);
}

int main(void)
{
	int p[2], sp[2];
	put_file("f", "x");
	int rd = open("f", O_RDONLY), wr = open("f", O_WRONLY), rw = open("f", O_RDWR);
	pipe(p);
	show("read", rd);
	show("write", wr);
	show("both", rw);
	show("path", open("f", O_PATH));
	show("pipe", p[0]);
	show("pipe", p[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sp);
	show("socket", sp[0]);
	show("eventfd", eventfd(0, 0));
	show("epoll", epoll_create1(0));
	show("device", open("/dev/null", O_RDWR));
	show("directory", open("/proc", O_RDONLY));
	CHECK(listed(rd) && listed(p[1]));
	dup2(rd, 100);
	CHECK(listed(100));
	close(100);
	CHECK(!listed(100));
	show("closed", 100);
	struct stat st;
	SHOW(stat("/proc/self/fd/9999", &st));
	SHOW(open("/proc/self/fd/x", O_RDONLY));
	SHOW(open("/proc/self/fd/01", O_RDONLY));
	unlink("f");
	return 0;
}
