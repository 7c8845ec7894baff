/* needs: root */
/* A file made in a set-group-ID directory by somebody outside of its group loses its set-group-ID
 * bit, whatever the umask is, in every way of making it. */
#include "guest.h"

static unsigned mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mode;
}

static void make(mode_t mask, const char *dir)
{
	char path[64];
	int fd;

	umask(mask);
	if (chdir(dir))
		printf("chdir: %s\n", ename(errno));
	close(open("a", O_CREAT | O_WRONLY, 02777));
	close(creat("b", 02766));
	mknod("c", S_IFREG | 02777, 0);
	mkdir("d", 02777);
	mkfifo("e", 02777);
	fd = open(".", O_TMPFILE | O_RDWR, 02777);
	if (fd >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW);
	}
	printf("%s %03o:", dir, mask);
	for (const char *n = "abcdef"; *n; n++) {
		snprintf(path, sizeof(path), "%c", *n);
		printf(" %c %o", *n, mode_of(path));
		remove(path);
	}
	printf("\n");
}

static void user(gid_t group, mode_t mask, const char *dir)
{
	pid_t pid = xfork();

	if (pid == 0) {
		if (setgroups(group ? 1 : 0, &group) || setresgid(1000, 1000, 1000) ||
		    setresuid(1000, 1000, 1000))
			printf("ids: %s\n", ename(errno));
		make(mask, dir);
		fflush(stdout);
		_exit(0);
	}
	xwait(pid);
}

int main(void)
{
	chmod(".", 0777);
	mkdir("g", 0777);
	if (chown("g", 0, 1001) || chmod("g", 02777))
		printf("chown: %s\n", ename(errno));
	mkdir("p", 0777);
	chmod("p", 0777);
	for (int i = 0; i < 3; i++) {
		static const mode_t masks[] = { 0, 022, 0777 };

		user(0, masks[i], "g");
		user(1001, masks[i], "g");
		user(0, masks[i], "p");
		pid_t pid = xfork();
		if (pid == 0) {
			make(masks[i], "g");
			fflush(stdout);
			_exit(0);
		}
		xwait(pid);
	}
	rmdir("g");
	rmdir("p");
	return 0;
}
