/* posix_spawn file actions run in the child, in order: open, dup2, close, chdir. */
#include "guest.h"
#include <spawn.h>

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	posix_spawn_file_actions_t fa;
	char *sh[] = { "sh", "-c",
		       "cat; echo err >&2; test -e /proc/self/fd/20 && echo 20 open; test -e "
		       "marker && echo in d",
		       NULL };
	char *env[] = { "PATH=/usr/bin:/bin", NULL };
	pid_t pid;

	mkdir("d", 0755);
	put_file("d/marker", "");
	put_file("in", "input text\n");
	int extra = open("/dev/null", O_RDONLY);
	dup2(extra, 21);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "in", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&fa, 1, 2);
	posix_spawn_file_actions_adddup2(&fa, 21, 20);
	posix_spawn_file_actions_addclose(&fa, 21);
	posix_spawn_file_actions_addchdir_np(&fa, "d");
	SHOW(posix_spawn(&pid, "/bin/sh", &fa, NULL, sh, env));
	show_status("sh", xwait(pid));
	printf("out: %s", get_file("out"));
	CHECK(fcntl(21, F_GETFD) == 0);
	SHOW(fcntl(20, F_GETFD));
	posix_spawn_file_actions_addopen(&fa, 5, "missing", O_RDONLY, 0);
	printf("failing action: %s\n", ename(posix_spawn(&pid, "/bin/sh", &fa, NULL, sh, env)));
	SHOW(waitpid(-1, NULL, 0));
	unlink("d/marker");
	rmdir("d");
	unlink("in");
	unlink("out");
	return 0;
}
