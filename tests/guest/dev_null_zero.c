/* /dev/null swallows and is empty; /dev/zero is endless zeros and can be mapped. */
#include "guest.h"
#include <sys/mman.h>
#include <sys/uio.h>

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	static char buf[100000];
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	SHOW(read(null, buf, 10));
	SHOW(write(null, buf, sizeof(buf)));
	SHOW(pwrite(null, buf, 10, 1000));
	SHOW(lseek(null, 0, SEEK_CUR));
	SHOW(write(null, bad, 10));
	memset(buf, 'x', sizeof(buf));
	SHOW(read(zero, buf, sizeof(buf)));
	long sum = 0;
	for (size_t i = 0; i < sizeof(buf); i++)
		sum += buf[i];
	SHOW(sum);
	SHOW(write(zero, buf, 10));
	SHOW(pread(zero, buf, 10, 12345));
	SHOW(read(zero, bad, 10));
	struct iovec iov[2] = { { buf, 3 }, { buf, 4 } };
	SHOW(readv(zero, iov, 2));
	SHOW(writev(null, iov, 2));
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
	CHECK(m != MAP_FAILED && m[5000] == 0);
	m[5000] = 1;
	m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
	CHECK(m != MAP_FAILED && m[5000] == 0);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, null, 0) == MAP_FAILED && errno == ENODEV);
	SHOW(ftruncate(null, 0));
	SHOWOK(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0644));
	SHOW(open("/dev/null", O_RDONLY | O_DIRECTORY));
	SHOW(open("/dev/null/x", O_RDONLY));
	return 0;
}
