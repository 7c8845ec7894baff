/*
 * fexecve and execveat: by descriptor alone, relative to a directory, without following a link; of
 * a deleted file.
 */
#include "guest.h"
#include <sys/sendfile.h>
#include <sys/syscall.h>

static char *args[] = { "given name", "arg", NULL };

static int by(int fd, const char *path, int flags)
{
	pid_t pid = xfork();
	if (pid == 0) {
		syscall(SYS_execveat, fd, path, args, environ, flags);
		_exit(errno);
	}
	int status = xwait(pid);
	if (!WIFEXITED(status))
		return -1;
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct stat st;

	if (argc > 1) {
		char exe[512] = "";
		(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		printf("running as '%s', exe ends in: %s\n", argv[0],
		       strstr(exe, "(deleted)") ? "prog (deleted)" : strrchr(exe, '/') + 1);
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	mkdir("d", 0755);
	int in = open("/proc/self/exe", O_RDONLY),
	    out = open("d/prog", O_WRONLY | O_CREAT | O_TRUNC, 0755);
	fstat(in, &st);
	while (sendfile(out, in, NULL, st.st_size) > 0)
		;
	close(out);
	(void)!symlink("prog", "d/link");
	int dir = open("d", O_RDONLY | O_DIRECTORY), fd = open("d/prog", O_RDONLY | O_CLOEXEC);
	int opath = open("d/prog", O_PATH | O_CLOEXEC);
	SHOW(by(dir, "prog", 0));
	SHOW(by(dir, "link", 0));
	SHOW(by(dir, "link", AT_SYMLINK_NOFOLLOW));
	SHOW(by(fd, "", AT_EMPTY_PATH));
	SHOW(by(opath, "", AT_EMPTY_PATH));
	SHOW(by(fd, "", 0));
	SHOW(by(fd, "prog", 0));
	SHOW(by(999, "prog", 0));
	SHOW(by(dir, "", AT_EMPTY_PATH));
	SHOW(by(dir, "prog", 0x40000000));
	unlink("d/link");
	unlink("d/prog");
	SHOW(by(fd, "", AT_EMPTY_PATH));
	put_file("script", "#!/bin/true\n");
	chmod("script", 0755);
	int sfd = open("script", O_RDONLY), sclo = open("script", O_RDONLY | O_CLOEXEC);
	SHOW(by(sfd, "", AT_EMPTY_PATH));
	SHOW(by(sclo, "", AT_EMPTY_PATH));
	unlink("script");
	rmdir("d");
	return 0;
}
