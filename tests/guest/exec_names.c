/*
 * After exec: comm is the last part of the path given, cut at 15 bytes; /proc/self/exe is the real
 * file.
 */
#include "guest.h"

int main(int argc, char **argv)
{
	char comm[17] = "", exe[512] = "", real[512] = "";

	if (argc > 1) {
		(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		prctl(PR_GET_NAME, comm);
		printf("comm '%s', argv[0] '%s', exe is the real file %d\n", comm, argv[0],
		       strcmp(exe, argv[1]) == 0);
		printf("/proc/self/comm %s", get_file("/proc/self/comm"));
		const char *stat = get_file("/proc/self/stat");
		printf("stat name right %d\n",
		       strncmp(strchr(stat, '(') + 1, comm, strlen(comm)) == 0);
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	(void)!readlink("/proc/self/exe", real, sizeof(real) - 1);
	(void)!symlink(real, "a-rather-long-link-name");
	(void)!symlink("a-rather-long-link-name", "short");
	mkdir("sub", 0755);
	char *path[] = { "./short", "a-rather-long-link-name", "sub/../short" };
	for (int i = 0; i < 3; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			prctl(PR_SET_NAME, "before");
			execl(path[i], "zero", real, (char *)NULL);
			_exit(127);
		}
		show_status(path[i], xwait(pid));
	}
	unlink("short");
	unlink("a-rather-long-link-name");
	rmdir("sub");
	return 0;
}
