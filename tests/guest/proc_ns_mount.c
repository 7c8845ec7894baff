/* needs: root */
/* A mount namespace of another process can be told apart by its number, and entered and left with
 * setns(). */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>

static int there[2], done[2];

static void inside(void)
{
	char c;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("inner", "d", "tmpfs", 0, NULL) || put_file("d/inner", "x"))
		printf("inner: %s\n", ename(errno));
	(void)!write(there[1], "x", 1);
	(void)!read(done[0], &c, 1);
}

static ino_t number(pid_t pid)
{
	struct stat st = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	stat(path, &st);
	return st.st_ino;
}

static void enter(int own, int other, const char *dir)
{
	char path[256], cwd[256];

	snprintf(path, sizeof(path), "%s/d/inner", dir);
	SHOW(access(path, F_OK));
	SHOW(setns(other, CLONE_NEWNS));
	CHECK(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/"));
	SHOW(access(path, F_OK));
	CHECK(number(getpid()) != number(getppid()));
	SHOW(setns(own, CLONE_NEWNS));
	SHOW(access(path, F_OK));
	CHECK(number(getpid()) == number(getppid()));
}

int main(void)
{
	char dir[256], path[64], c;
	int own, other;
	pid_t pid, p2;

	CHECK(getcwd(dir, sizeof(dir)) && mkdir("d", 0755) == 0);
	CHECK(pipe(there) == 0 && pipe(done) == 0);
	pid = xfork();
	if (pid == 0) {
		inside();
		_exit(0);
	}
	(void)!read(there[0], &c, 1);
	CHECK(number(pid) != number(getpid()));
	own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	p2 = xfork();
	if (p2 == 0) {
		enter(own, other, dir);
		_exit(0);
	}
	show_status("enter", xwait(p2));
	/* The namespace outlives its last process while a file stands for it. */
	(void)!write(done[1], "x", 1);
	show_status("inside", xwait(pid));
	p2 = xfork();
	if (p2 == 0) {
		enter(own, other, dir);
		_exit(0);
	}
	show_status("enter again", xwait(p2));
	CHECK(rmdir("d") == -1 || errno == 0);
	close(other);
	rmdir("d");
	return 0;
}
