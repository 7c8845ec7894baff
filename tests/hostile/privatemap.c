/* The descriptor that the kernel hands out for a private mapping of a file that is open for writing
 * must not write the file: the guest can map its number again, shared. */
#include "hostile.h"

static void one(const char *what, int fd)
{
	char now[2] = "";
	long lent, at;

	if (fd < 0 || write(fd, "a", 1) != 1 || ftruncate(fd, 4096) < 0) {
		check(0, "%s: can be made", what);
		return;
	}
	lent = RAW(HC_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	check(lent >= 0, "%s: can be mapped privately", what);
	at = RAW(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, STUB_MAP_FD(lent & 0xffff),
		 0);
	if (at > 0 || at < -4095)
		*(volatile char *)at = 'b';
	check(pread(fd, now, 1, 0) == 1 && now[0] == 'a', "%s: is not written through it", what);
	at = RAW(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, STUB_MAP_FD(lent & 0xffff), 0);
	if (at > 0 && mprotect((void *)at, 4096, PROT_READ | PROT_WRITE) == 0)
		*(volatile char *)at = 'b';
	check(pread(fd, now, 1, 0) == 1 && now[0] == 'a', "%s: nor when it is made writable", what);
	close(fd);
}

int main(void)
{
	one("memfd", memfd_create("m", 0));
	one("file in memory", open("/tmp/m", O_RDWR | O_CREAT, 0600));
	one("file of the layer", open("/var/tmp/m", O_RDWR | O_CREAT, 0600));
	return done();
}
