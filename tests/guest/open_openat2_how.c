/*
 * openat2 checks its structure: sizes, unknown flags and a mode without O_CREAT, which open lets
 * pass.
 */
#include "guest.h"
#include <linux/openat2.h>
#include <sys/syscall.h>

static int try(uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .mode = mode, .resolve = resolve };
	int fd = syscall(SYS_openat2, AT_FDCWD, "f", &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

int main(void)
{
	struct {
		struct open_how how;
		uint64_t more;
	} big = { .how = { .flags = O_RDONLY } };
	put_file("f", "x");
	SHOW(try(O_RDONLY, 0, 0));
	SHOW(try(O_RDONLY, 0644, 0));
	SHOW(try(O_RDWR | O_CREAT, 0644, 0));
	SHOW(try(O_RDWR | O_CREAT, 0100644, 0));
	SHOW(try(O_RDONLY | 1ull << 40, 0, 0));
	SHOW(try(O_RDONLY | 1u << 30, 0, 0));
	SHOW(try(O_RDONLY, 0, 1ull << 30));
	SHOW(try(O_PATH | O_RDWR, 0, 0));
	SHOW(try(O_TMPFILE | O_RDONLY, 0600, 0));
	SHOW(syscall(SYS_openat2, AT_FDCWD, "f", &big, sizeof(big.how) - 8));
	SHOW(syscall(SYS_openat2, AT_FDCWD, "f", &big, 0));
	SHOWOK(syscall(SYS_openat2, AT_FDCWD, "f", &big, sizeof(big)));
	big.more = 1;
	SHOW(syscall(SYS_openat2, AT_FDCWD, "f", &big, sizeof(big)));
	SHOW(syscall(SYS_openat2, AT_FDCWD, "f", &big, 1 << 20));
	SHOW(syscall(SYS_openat2, AT_FDCWD, "f", (void *)8, sizeof(big.how)));
	SHOW(syscall(SYS_openat2, -1, "f", &big.how, sizeof(big.how)));
	unlink("f");
	return 0;
}
