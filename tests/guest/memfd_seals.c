/* Seals take abilities from a memfd for good: growing, shrinking, writing, and sealing itself. */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
	SHOW(write(fd, "0123456789", 10));
	SHOW(fcntl(fd, F_GET_SEALS));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	SHOW(ftruncate(fd, 5));
	SHOW(ftruncate(fd, 20));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	SHOW(ftruncate(fd, 30));
	SHOW(pwrite(fd, "x", 1, 25));
	SHOW(pwrite(fd, "abc", 3, 0));
	SHOW(fallocate(fd, 0, 0, 100));
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	SHOW(munmap(m, 4096));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	SHOW(fcntl(fd, F_GET_SEALS));
	SHOW(pwrite(fd, "x", 1, 0));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED &&
	      errno == EPERM);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(m != MAP_FAILED);
	printf("%.10s\n", m);
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	SHOW(fcntl(fd, F_GET_SEALS));
	SHOW(fcntl(fd, F_ADD_SEALS, 0x4000));
	put_file("f", "x");
	SHOW(fcntl(open("f", O_RDWR), F_GET_SEALS));
	SHOW(fcntl(open("f", O_RDWR), F_ADD_SEALS, F_SEAL_WRITE));
	unlink("f");
	/* F_SEAL_FUTURE_WRITE leaves an existing mapping writable. */
	fd = memfd_create("future", MFD_ALLOW_SEALING);
	ftruncate(fd, 4096);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
	m[0] = 'm';
	SHOW(write(fd, "x", 1));
	char c;
	SHOW(pread(fd, &c, 1, 0));
	printf("%c\n", c);
	return 0;
}
