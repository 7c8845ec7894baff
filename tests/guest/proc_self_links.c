/* /proc/self and its links: exe, cwd, root; who /proc/self is in a child. */
#include "guest.h"

static const char *target(const char *link)
{
	static char buf[4200];
	ssize_t n = readlink(link, buf, sizeof(buf) - 1);
	if (n < 0)
		return ename(errno);
	buf[n] = '\0';
	return buf;
}

static void child(void)
{
	CHECK(atoi(target("/proc/self")) == getpid());
	CHECK(strcmp(strrchr(target("/proc/self/exe"), '/'), "/proc_self_links") == 0);
	SHOW(chdir(".."));
}

int main(void)
{
	char cwd[4096], name[64];
	struct stat a, b;
	getcwd(cwd, sizeof(cwd));
	CHECK(atoi(target("/proc/self")) == getpid());
	CHECK(strcmp(target("/proc/self/cwd"), cwd) == 0);
	CHECK(strcmp(target("/proc/self/root"), "/") == 0);
	CHECK(strcmp(strrchr(target("/proc/self/exe"), '/'), "/proc_self_links") == 0);
	in_child(child);
	mkdir("d", 0755);
	SHOW(chdir("d"));
	CHECK(strcmp(strrchr(target("/proc/self/cwd"), '/'), "/d") == 0);
	/* The links are followed to the thing itself. */
	CHECK(stat("/proc/self/cwd", &a) == 0 && stat(".", &b) == 0 && a.st_ino == b.st_ino);
	CHECK(stat("/proc/self/root", &a) == 0 && stat("/", &b) == 0 && a.st_ino == b.st_ino);
	char magic[4] = "";
	int fd = open("/proc/self/exe", O_RDONLY);
	SHOW(read(fd, magic, 4));
	CHECK(memcmp(magic, "\177ELF", 4) == 0);
	SHOW(chdir(".."));
	snprintf(name, sizeof(name), "/proc/%d", (int)getpid());
	CHECK(stat(name, &a) == 0 && stat("/proc/self", &b) == 0 && a.st_ino == b.st_ino &&
	      S_ISDIR(a.st_mode));
	CHECK(a.st_uid == geteuid() && (a.st_mode & 07777) == 0555);
	snprintf(name, sizeof(name), "%d/task/%d", (int)getpid(), (int)gettid());
	CHECK(strcmp(target("/proc/thread-self"), name) == 0);
	rmdir("d");
	return 0;
}
