/*
 * The mode of a new file is the argument without the umask; it does not bind the descriptor that
 * made the file.
 */
#include "guest.h"

static void show_mode(const char *path)
{
	struct stat st;
	if (lstat(path, &st))
		printf("%s: %s\n", path, ename(errno));
	else
		printf("%s: %o size %lld\n", path, st.st_mode & 07777, (long long)st.st_size);
}

static void body(void)
{
	char c;
	drop_to_user();
	umask(027);
	SHOWOK(open("a", O_WRONLY | O_CREAT, 0666));
	show_mode("a");
	SHOWOK(open("b", O_WRONLY | O_CREAT, 04777));
	show_mode("b");
	SHOWOK(creat("c", 0777));
	show_mode("c");
	int fd = open("d", O_RDWR | O_CREAT, 0);
	show_mode("d");
	SHOW(write(fd, "x", 1));
	SHOW(pread(fd, &c, 1, 0));
	SHOW(open("d", O_RDONLY));
	SHOW(open("d", O_WRONLY));
	show_mode("d");
	/* Bits above 07777 are ignored by open. */
	SHOWOK(open("e", O_WRONLY | O_CREAT, 0170600));
	show_mode("e");
	for (char name[2] = "a"; name[0] <= 'e'; name[0]++)
		unlink(name);
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
