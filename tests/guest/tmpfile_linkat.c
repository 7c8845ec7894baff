/* O_TMPFILE: a file without a name, which linkat through /proc/self/fd can give one. */
#include "guest.h"

static int count_names(void)
{
	return system("test -z \"$(ls -A)\"");
}

int main(void)
{
	char name[64];
	struct stat st;
	int fd = open(".", O_TMPFILE | O_RDWR, 0640);
	CHECK(fd >= 0);
	SHOW(fstat(fd, &st));
	printf("nlink %d mode %o regular %d\n", (int)st.st_nlink, st.st_mode & 07777,
	       S_ISREG(st.st_mode));
	SHOW(write(fd, "hidden", 6));
	SHOW(count_names());
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	SHOW(linkat(AT_FDCWD, name, AT_FDCWD, "shown", AT_SYMLINK_FOLLOW));
	printf("%s\n", get_file("shown"));
	SHOW(fstat(fd, &st));
	SHOW(st.st_nlink);
	SHOW(linkat(AT_FDCWD, name, AT_FDCWD, "shown", AT_SYMLINK_FOLLOW));
	SHOW(pwrite(fd, "H", 1, 0));
	printf("%s\n", get_file("shown"));
	SHOW(unlink("shown"));
	SHOW(fstat(fd, &st));
	SHOW(st.st_nlink);
	return 0;
}
