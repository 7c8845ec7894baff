/*
 * The umask: 9 bits, returned on change, applied to files, directories and fifos, inherited, not
 * for symlinks or chmod.
 */
#include "guest.h"

static void mode_of(const char *path)
{
	struct stat st;
	if (lstat(path, &st))
		printf("%s: %s\n", path, ename(errno));
	else
		printf("%s: %04o\n", path, st.st_mode & 07777);
}

static void child(void)
{
	printf("child has %03o\n", umask(0777));
}

static void status_line(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Umask:", 6))
			printf("%s", line);
}

int main(void)
{
	printf("%03o\n", umask(027));
	printf("%03o\n", umask(070707));
	printf("%03o\n", umask(027));
	status_line();
	close(open("f", O_WRONLY | O_CREAT, 0777));
	mkdir("d", 0777);
	mkfifo("p", 0666);
	symlink("x", "l");
	mknod("n", S_IFREG | 0666, 0);
	mode_of("f");
	mode_of("d");
	mode_of("p");
	mode_of("l");
	mode_of("n");
	chmod("f", 0777);
	mode_of("f");
	in_child(child);
	printf("%03o\n", umask(0));
	mkdir("e", 01777);
	mode_of("e");
	umask(0777);
	close(open("g", O_WRONLY | O_CREAT, 0666));
	mode_of("g");
	unlink("f");
	unlink("g");
	unlink("p");
	unlink("l");
	unlink("n");
	rmdir("d");
	rmdir("e");
	return 0;
}
