/* /proc/self/mem reads and writes memory at its address; what is not mapped is EIO. */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	char text[] = "in memory", buf[16] = "";
	int fd = open("/proc/self/mem", O_RDWR);
	CHECK(fd >= 0);
	SHOW(pread(fd, buf, 9, (off_t)(uintptr_t)text));
	printf("%s\n", buf);
	SHOW(pwrite(fd, "IN", 2, (off_t)(uintptr_t)text));
	printf("%s\n", text);
	CHECK(lseek(fd, (off_t)(uintptr_t)text + 3, SEEK_SET) == (off_t)(uintptr_t)text + 3);
	SHOW(read(fd, buf, 6));
	printf("%.6s\n", buf);
	SHOW(pread(fd, buf, 4, 0));
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(m, 4096);
	SHOW(pread(fd, buf, 4, (off_t)(uintptr_t)m));
	SHOW(pwrite(fd, buf, 4, (off_t)(uintptr_t)m));
	return 0;
}
