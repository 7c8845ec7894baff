/*
 * Descriptors of a child: kcmp compares them, pidfd_getfd takes them, and an open /proc/PID is good
 * for pidfd_send_signal.
 */
#include "guest.h"
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static long same(pid_t a, pid_t b, int type, long x, long y)
{
	long r = syscall(SYS_kcmp, a, b, type, x, y);

	return r > 0 ? 1 : r; /* which of two is greater means nothing */
}

int main(void)
{
	int ready[2], go[2], status, pfd, fd, null = open("/dev/null", O_RDWR);
	pid_t me = getpid(), pid;
	char c, name[32];

	CHECK(null >= 0 && pipe(ready) == 0 && pipe(go) == 0);
	pid = fork();
	if (!pid) {
		CHECK(dup2(open("/dev/zero", O_RDONLY), 50) == 50);
		(void)!write(ready[1], "r", 1); /* silent from here on: the parent speaks and kills */
		(void)!read(go[0], &c, 1);
		pause();
		_exit(0);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	SHOW(same(me, pid, KCMP_FILE, null, null));
	SHOW(same(me, pid, KCMP_FILE, null, 50));
	SHOW(same(me, pid, KCMP_FILE, null, 99));
	SHOW(same(me, pid, KCMP_FILES, 0, 0));
	SHOW(same(me, pid, KCMP_VM, 0, 0));
	SHOW(same(pid, pid, KCMP_VM, 0, 0));
	SHOW(same(me, pid, KCMP_SYSVSEM, 0, 0));
	SHOW(same(me, pid, 77, 0, 0));
	SHOW(same(me, 4000000, KCMP_VM, 0, 0));
	SHOW(same(0, me, KCMP_VM, 0, 0));

	pfd = syscall(SYS_pidfd_open, pid, 0);
	CHECK(pfd >= 0);
	fd = syscall(SYS_pidfd_getfd, pfd, 50, 0);
	CHECK(fd >= 0);
	c = 1;
	SHOW(read(fd, &c, 1));
	printf("byte %d, cloexec %d\n", c, fcntl(fd, F_GETFD));
	SHOW(same(me, pid, KCMP_FILE, fd, 50));
	SHOW(syscall(SYS_pidfd_getfd, pfd, 99, 0));
	SHOW(syscall(SYS_pidfd_getfd, pfd, 50, 1));
	SHOW(syscall(SYS_pidfd_getfd, null, 50, 0));

	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	fd = open(name, O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_send_signal, null, 0, NULL, 0));
	strcat(name, "/fd");
	SHOW(syscall(SYS_pidfd_send_signal, open(name, O_RDONLY | O_DIRECTORY), 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
	CHECK(waitpid(pid, &status, 0) == pid);
	printf("ended by %d\n", WTERMSIG(status));
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_getfd, pfd, 50, 0));
	return 0;
}
