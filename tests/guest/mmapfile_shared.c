/*
 * MAP_SHARED and read/write are one thing: each sees at once what the other does, in every process.
 */
#include "guest.h"
#include <sys/mman.h>

static char *m;

static void child(void)
{
	printf("child sees %.5s\n", m);
	memcpy(m, "CHILD", 5);
	int fd = open("f", O_RDWR);
	pwrite(fd, "wrote", 5, 5);
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char buf[16] = "";
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED);
	memcpy(m + 2, "ab", 2);
	SHOW(pread(fd, buf, 10, 0));
	printf("%s\n", buf);
	SHOW(pwrite(fd, "XYZ", 3, 4));
	printf("%.10s\n", m);
	char *n = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	m[9] = '!';
	printf("%.10s\n", n);
	show_status("child", in_child(child));
	printf("%.10s\n", m);
	printf("%.10s\n", get_file("f"));
	/* Bytes after the end of the file are zero, and do not make it longer. */
	SHOW(m[10]);
	m[20] = 'z';
	struct stat st;
	fstat(fd, &st);
	SHOW(st.st_size);
	SHOW(msync(m, page, MS_SYNC));
	SHOW(munmap(m, page));
	printf("%.10s\n", n);
	printf("%s\n", get_file("f"));
	unlink("f");
	return 0;
}
