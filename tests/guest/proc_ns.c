/* needs: root */
/* The namespaces of a process are files: their links name kind and number, opening one gives a file
 * with that number, and setns() accepts those that the caller is in. */
#include "guest.h"

#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static const struct kind {
	const char *name, *label;
	int flag;
} kinds[] = {
	{ "cgroup", "cgroup", CLONE_NEWCGROUP }, { "ipc", "ipc", CLONE_NEWIPC },
	{ "mnt", "mnt", CLONE_NEWNS },		 { "net", "net", CLONE_NEWNET },
	{ "pid", "pid", CLONE_NEWPID },		 { "pid_for_children", "pid", CLONE_NEWPID },
	{ "time", "time", CLONE_NEWTIME },	 { "time_for_children", "time", CLONE_NEWTIME },
	{ "user", "user", CLONE_NEWUSER },	 { "uts", "uts", CLONE_NEWUTS },
};

static void look(const struct kind *k)
{
	char path[64], text[64], want[64], label[64];
	struct stat st, of_child;
	struct statfs sfs;
	int fd, fd2;
	ssize_t n;

	printf("-- %s\n", k->name);
	snprintf(path, sizeof(path), "/proc/self/ns/%s", k->name);
	n = readlink(path, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!CHECK(fd >= 0))
		return;
	CHECK(fstat(fd, &st) == 0);
	snprintf(want, sizeof(want), "%s:[%lu]", k->label, st.st_ino);
	CHECK(!strcmp(text, want));
	printf("mode %o\n", st.st_mode);
	CHECK(fstatfs(fd, &sfs) == 0 && sfs.f_type == 0x6e736673);
	snprintf(label, sizeof(label), "/proc/self/fd/%d", fd);
	n = readlink(label, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = 0;
	CHECK(!strcmp(text, want));
	CHECK(ioctl(fd, NS_GET_NSTYPE) == k->flag);
	fd2 = ioctl(fd, NS_GET_USERNS);
	if (k->flag != CLONE_NEWUSER) {
		CHECK(fd2 >= 0 && ioctl(fd2, NS_GET_NSTYPE) == CLONE_NEWUSER);
		SHOW(ioctl(fd, NS_GET_OWNER_UID, &(uid_t){ 0 }));
	}
	if (k->flag != CLONE_NEWUSER && k->flag != CLONE_NEWPID)
		SHOW(ioctl(fd, NS_GET_PARENT));
	close(fd2);
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", getppid(), k->name);
	CHECK(stat(path, &of_child) == 0 && of_child.st_ino == st.st_ino &&
	      of_child.st_dev == st.st_dev);
	SHOW(read(fd, text, 1));
	SHOW(write(fd, text, 1));
	SHOW(open(path, O_RDWR));
	SHOW(setns(fd, k->flag == CLONE_NEWUTS ? CLONE_NEWIPC : CLONE_NEWUTS));
	if (geteuid() == 0 || k->flag == CLONE_NEWUSER) {
		SHOW(setns(fd, 0));
		SHOW(setns(fd, k->flag));
	} else {
		SHOW(setns(fd, 0));
	}
	close(fd);
}

static void all(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		look(&kinds[i]);
}

static void other_user(void)
{
	char path[64], text[64];
	struct stat st;

	drop_to_user();
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", getppid());
	if (getuid() != 1000)
		return;
	SHOW(readlink(path, text, sizeof(text)));
	SHOW(stat(path, &st));
	CHECK(lstat(path, &st) == 0);
	SHOW(open("/proc/self/ns/mnt", O_RDONLY) >= 0);
	SHOW(setns(open("/proc/self/ns/uts", O_RDONLY), 0));
}

int main(void)
{
	int fd = open("/dev/null", O_RDONLY), pidfd;

	show_status("all", in_child(all));
	SHOW(setns(fd, 0));
	SHOW(setns(-1, 0));
	SHOW(setns(1000, 0));
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	SHOW(setns(pidfd, 0));
	SHOW(setns(pidfd, CLONE_FS));
	if (geteuid() == 0) {
		SHOW(setns(pidfd, CLONE_NEWUTS | CLONE_NEWNET));
		show_status("other user", in_child(other_user));
	}
	return 0;
}
