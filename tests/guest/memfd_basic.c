/*
 * memfd_create: an unnamed file in memory that can be written, mapped, resized, reopened and passed
 * to a child.
 */
#include "guest.h"
#include <sys/mman.h>

static int fd;

static void child(void)
{
	pwrite(fd, "CHILD", 5, 0);
}

int main(void)
{
	char buf[64] = "", name[64], link[128] = "";
	struct stat st;
	fd = memfd_create("a name", MFD_CLOEXEC);
	CHECK(fd >= 0);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(fcntl(fd, F_GETFL) & O_ACCMODE);
	SHOW(fstat(fd, &st));
	printf("regular %d mode %04o nlink %d size %lld\n", S_ISREG(st.st_mode), st.st_mode & 07777,
	       (int)st.st_nlink, (long long)st.st_size);
	SHOW(write(fd, "hello world", 11));
	SHOW(ftruncate(fd, 8192));
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("%s\n", m);
	in_child(child);
	printf("%s\n", m);
	memcpy(m + 6, "WORLD", 5);
	SHOW(pread(fd, buf, 11, 0));
	printf("%s\n", buf);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	SHOW(readlink(name, link, sizeof(link) - 1));
	printf("%s\n", link);
	int again = open(name, O_RDONLY);
	SHOW(read(again, buf, 5));
	SHOW(fcntl(fd, F_GET_SEALS));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	SHOW(memfd_create("x", 0x4000));
	char long_name[300];
	memset(long_name, 'n', sizeof(long_name));
	long_name[249] = '\0';
	SHOWOK(memfd_create(long_name, 0));
	long_name[249] = 'n';
	long_name[250] = '\0';
	SHOW(memfd_create(long_name, 0));
	SHOW(memfd_create((char *)8, 0));
	SHOWOK(memfd_create("", 0));
	return 0;
}
