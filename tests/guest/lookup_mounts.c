/* Paths that were looked up often, while mounts come, go and change above, below and beside them,
 * in a tree of the process's own. */
/* needs: root */
#include "guest.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

static long size_of(const char *path)
{
	struct stat st;
	long r = -1;

	for (int i = 0; i < 6; i++)
		r = stat(path, &st) ? -errno : st.st_size;
	return r;
}

static int may_write(const char *path)
{
	int e = 0;

	for (int i = 0; i < 6; i++)
		e = access(path, W_OK) ? errno : 0;
	return e;
}

static int go[2], ready[2];

/* In the tree of mounts that everybody else has. */
static void stays_behind(void)
{
	char c;

	close(go[1]);
	printf("behind: %ld\n", size_of("d/f"));
	(void)!write(ready[1], "x", 1);
	while (read(go[0], &c, 1) == 1) {
		printf("behind: %ld\n", size_of("d/f"));
		(void)!write(ready[1], "x", 1);
	}
	fflush(stdout);
	_exit(0);
}

static void ask_behind(void)
{
	char c;

	(void)!write(go[1], "x", 1);
	(void)!read(ready[0], &c, 1);
}

static void moves(void)
{
	char c;

	(void)!read(ready[0], &c, 1);
	CHECK(size_of("d/f") == 1);
	SHOW(unshare(CLONE_NEWNS));
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	CHECK(size_of("d/f") == 1);
	for (int i = 0; i < 4; i++) {
		CHECK(mount("none", "d", "tmpfs", 0, NULL) == 0);
		CHECK(size_of("d/f") == -ENOENT);
		put_file("d/f", "22");
		CHECK(size_of("d/f") == 2);
		ask_behind();
		CHECK(umount("d") == 0);
		CHECK(size_of("d/f") == 1);
	}
	CHECK(mount("e", "d", NULL, MS_BIND, NULL) == 0);
	CHECK(size_of("d/f") == 3 && may_write("d/f") == 0);
	CHECK(mount(NULL, "d", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0);
	CHECK(may_write("d/f") == EROFS && may_write("e/f") == 0);
	CHECK(mount(NULL, "d", NULL, MS_REMOUNT | MS_BIND, NULL) == 0);
	CHECK(may_write("d/f") == 0);
	put_file("e/f", "4444");
	CHECK(size_of("d/f") == 4 && size_of("e/f") == 4);
	/* The directory under a mount, from inside of it. */
	chdir("d");
	CHECK(size_of("f") == 4 && size_of("../d/f") == 4);
	CHECK(umount2(".", MNT_DETACH) == 0);
	CHECK(size_of("f") == 4);
	SHOW(chdir(".."));
	ask_behind();
}

static void pivots(void)
{
	char here[4096], path[5000];

	if (unshare(CLONE_NEWNS) || !getcwd(here, sizeof(here)))
		return;
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	snprintf(path, sizeof(path), "%s/e/f", here);
	CHECK(mount("e", "e", NULL, MS_BIND, NULL) == 0);
	CHECK(size_of(path) > 0 && size_of("/f") == -ENOENT);
	chdir("e");
	CHECK(syscall(SYS_pivot_root, ".", "old") == 0);
	CHECK(size_of(path) == -ENOENT && size_of("/f") > 0);
	chdir("/");
	CHECK(umount2("old", MNT_DETACH) == 0);
	CHECK(size_of("f") > 0 && size_of("/../f") > 0);
}

int main(void)
{
	pid_t pid;

	mkdir("d", 0755);
	mkdir("e", 0755);
	mkdir("e/old", 0755);
	put_file("d/f", "1");
	put_file("e/f", "333");
	if (pipe(go) || pipe(ready))
		return 1;
	pid = xfork();
	if (pid == 0)
		stays_behind();
	show_status("moves", in_child(moves));
	close(go[1]);
	show_status("behind", xwait(pid));
	show_status("pivots", in_child(pivots));
	CHECK(size_of("d/f") == 1);
	unlink("d/f");
	unlink("e/f");
	rmdir("e/old");
	rmdir("d");
	rmdir("e");
	return 0;
}
