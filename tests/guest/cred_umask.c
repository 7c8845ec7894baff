/*
 * umask: the old one is returned, only permission bits count, inherited by fork and exec, applied
 * to new files.
 */
#include "guest.h"

static int mode(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	umask(0);
	printf("%03o\n", umask(07027));
	printf("%03o\n", umask(027));
	close(open("f", O_CREAT | O_WRONLY, 0666));
	mkdir("d", 0777);
	mkfifo("p", 0666);
	printf("file %03o, directory %03o, pipe %03o\n", mode("f"), mode("d"), mode("p"));
	chmod("f", 0666);
	printf("chmod %03o\n", mode("f"));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(umask(0));
	show_status("child", xwait(pid));
	printf("parent %03o\n", umask(027));
	fflush(stdout);
	show_status("sh", system("umask"));
	unlink("f");
	rmdir("d");
	unlink("p");
	return 0;
}
