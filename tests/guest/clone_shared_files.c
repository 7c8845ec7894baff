/*
 * CLONE_FILES shares the descriptor table between processes until exec or unshare; CLONE_FS
 * directory and umask.
 */
#include "guest.h"
#include <sched.h>

static char stack[65536] __attribute__((aligned(64)));
static int gate[2];

static int files(void *arg)
{
	char c;

	(void)arg;
	dup2(1, 60);
	close(61);
	(void)!read(gate[0], &c, 1);
	if (c == 'e')
		execl("/bin/true", "true", (char *)NULL);
	if (c == 'u') {
		unshare(CLONE_FILES);
		close(62);
	}
	return fcntl(63, F_GETFD) == 0 ? 5 : 6;
}

static int fs(void *arg)
{
	umask(055);
	return chdir(arg) == 0 ? 7 : 8;
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	for (const char *c = "enu"; *c; c++) {
		(void)!pipe(gate);
		dup2(1, 61);
		dup2(1, 62);
		pid_t pid = clone(files, stack + sizeof(stack), CLONE_FILES | SIGCHLD, NULL);
		while (fcntl(60, F_GETFD) < 0)
			usleep(1000);
		dup2(1, 63);
		while (fcntl(61, F_GETFD) == 0)
			usleep(1000);
		(void)!write(gate[1], c, 1);
		show_status("files", xwait(pid));
		printf("%c: 60 %s, 61 %s, 62 %s\n", *c, fcntl(60, F_GETFD) ? "closed" : "open",
		       fcntl(61, F_GETFD) ? "closed" : "open",
		       fcntl(62, F_GETFD) ? "closed" : "open");
		close(60);
		close(63);
	}
	mkdir("sub", 0755);
	pid_t pid = clone(fs, stack + sizeof(stack), CLONE_FS | SIGCHLD, "sub");
	show_status("fs", xwait(pid));
	char *cwd = getcwd(NULL, 0);
	printf("directory %s, umask %03o\n", strrchr(cwd, '/') + 1, umask(022));
	free(cwd);
	(void)!chdir("..");
	pid = clone(fs, stack + sizeof(stack), SIGCHLD, "sub");
	show_status("without CLONE_FS", xwait(pid));
	printf("still above %d, umask %03o\n", access("sub", F_OK) == 0, umask(022));
	rmdir("sub");
	return 0;
}
