/* open of what is not there, again and again: ENOENT until it is there, EMFILE as soon as there is
 * no descriptor for it. */
#include "guest.h"
#include <sys/resource.h>

static int err_of(const char *path, int flags)
{
	int e = 0;

	for (int i = 0; i < 6; i++) {
		int fd = open(path, flags, 0644);

		e = fd < 0 ? errno : 0;
		if (fd >= 0)
			close(fd);
	}
	return e;
}
#define ERR(path, flags) printf("%s, %s: %s\n", path, #flags, ename(err_of(path, flags)))

int main(void)
{
	struct rlimit rl = { 32, 32 }, was;
	int fd[40], n = 0;

	for (int i = 0; i < 3; i++) {
		ERR("none", O_RDONLY);
		ERR("none", O_RDWR | O_NOFOLLOW);
		ERR("none", O_PATH);
		ERR("none", O_DIRECTORY);
		ERR("none/x", O_RDONLY);
		symlink("none", "l");
		ERR("l", O_RDONLY);
		ERR("l", O_RDONLY | O_NOFOLLOW);
		ERR("l", O_PATH | O_NOFOLLOW);
		put_file("none", "");
		ERR("none", O_RDONLY);
		ERR("l", O_RDONLY);
		ERR("none/x", O_RDONLY);
		ERR("none", O_DIRECTORY);
		unlink("none");
		ERR("l", O_RDONLY);
		ERR("l", O_RDONLY | O_CREAT);
		unlink("none");
		ERR("none", O_RDWR | O_CREAT);
		unlink("none");
		unlink("l");
	}
	getrlimit(RLIMIT_NOFILE, &was);
	rl.rlim_max = was.rlim_max;
	SHOW(setrlimit(RLIMIT_NOFILE, &rl));
	ERR("none", O_RDONLY);
	while (n < 40 && (fd[n] = open(".", O_RDONLY)) >= 0)
		n++;
	ERR("none", O_RDONLY);
	pid_t pid = xfork();
	if (pid == 0) {
		ERR("none", O_RDONLY);
		exit(0);
	}
	xwait(pid);
	close(fd[0]);
	ERR("none", O_RDONLY);
	SHOWOK(fd[0] = dup(0));
	ERR("none", O_RDONLY);
	for (int i = 0; i < n; i++)
		close(fd[i]);
	ERR("none", O_RDONLY);
	rl.rlim_cur = 3;
	SHOW(setrlimit(RLIMIT_NOFILE, &rl));
	ERR("none", O_RDONLY);
	return 0;
}
