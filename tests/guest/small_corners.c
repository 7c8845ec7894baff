/*
 * Corners of calls that programs probe: who a thread is, devices that are sent from, lengths that
 * are none, O_ASYNC by the kind of file, vectors for an eventfd, owners of pipes, flags of statx.
 */
/* needs: root */
#include "guest.h"

#include <linux/capability.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#pragma GCC diagnostic ignored "-Wunused-result"

int main(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 1 };
	struct __user_cap_data_struct d[2] = { 0 };
	SHOW(syscall(SYS_capget, &h, d));
	printf("%d\n", d[0].effective != 0);
	h.pid = 99999999;
	SHOW(syscall(SYS_capget, &h, d));
	h.pid = -1;
	SHOW(syscall(SYS_capget, &h, d));
	void *pg = mmap(0, 4096, 3, 0x22, -1, 0);
	*(char *)pg = 1;
	int st = 77;
	SHOW(syscall(SYS_move_pages, 0, 1L, &pg, NULL, &st, 0));
	printf("%d\n", st);
	pid_t me = getpid();
	SHOW(syscall(SYS_tgkill, me, me, 99));
	SHOW(syscall(SYS_tgkill, me, me + 100000, 0));
	SHOW(syscall(SYS_tgkill, me, 1, 0));
	SHOW(syscall(SYS_tgkill, me, 99999999, 99));
	SHOW(syscall(SYS_tkill, 99999999, 99));
	SHOW(syscall(SYS_tkill, 0, 99));
	SHOW(syscall(SYS_tgkill, -1, me, 99));
	SHOW(syscall(SYS_tkill, 99999999, 0));
	SHOW(syscall(SYS_tkill, me, -1));
	int z = open("/dev/zero", O_RDONLY), f = open("pf", O_CREAT | O_RDWR | O_TRUNC, 0600), p[2];
	pipe(p);
	SHOW(sendfile(f, z, NULL, 100));
	SHOW(sendfile(p[1], z, NULL, 100));
	SHOW(splice(z, NULL, p[1], NULL, 100, 0));
	SHOW(sendfile(f, z, NULL, -1));
	SHOW(splice(f, NULL, p[1], NULL, -1, 0));
	SHOW(splice(p[0], NULL, f, NULL, (size_t)1 << 63, 0));
	int n = open("/dev/null", O_WRONLY);
	SHOW(sendfile(n, f, NULL, 10));
	int one = 1;
	SHOW(ioctl(f, FIOASYNC, &one));
	SHOW(ioctl(p[0], FIOASYNC, &one));
	SHOW(fcntl(p[0], F_GETFL));
	SHOW(fcntl(f, F_GETFL));
	SHOW(ioctl(z, FIOASYNC, &one));
	close(f);
	int e = eventfd(0, EFD_NONBLOCK);
	uint64_t v = 5, w = 6;
	struct iovec iv[2] = { { &v, 8 }, { &w, 8 } };
	SHOW(writev(e, iv, 2));
	SHOW(readv(e, iv, 1));
	printf("%lu\n", v);
	v = 5;
	struct iovec sp[2] = { { &v, 4 }, { ((char *)&v) + 4, 4 } };
	SHOW(writev(e, sp, 2));
	SHOW(read(e, &v, 8));
	struct iovec e3[2] = { { &v, 0 }, { &w, 8 } };
	SHOW(writev(e, e3, 2));
	SHOW(readv(e, sp, 2));
	v = 1;
	SHOW(pwrite(e, &v, 8, 0));
	SHOW(fchown(p[0], 5, 6));
	struct stat s;
	fstat(p[0], &s);
	printf("%d %d %o\n", s.st_uid, s.st_gid, s.st_mode);
	SHOW(fchmod(p[0], 0400));
	fstat(p[1], &s);
	printf("%o\n", s.st_mode);
	struct statx sx;
	SHOW(statx(AT_FDCWD, "/", 0x10000, 0xfff, &sx));
	SHOW(statx(AT_FDCWD, "/", 0x6000, 0xfff, &sx));
	SHOW(statx(AT_FDCWD, "/", 0x2000, 0xfff, &sx));
	SHOW(statx(AT_FDCWD, "/", 0x4000, STATX__RESERVED, &sx));
	SHOW(statx(AT_FDCWD, "/", AT_NO_AUTOMOUNT, 0, &sx));
	SHOW(statx(e, "", AT_EMPTY_PATH, 0xfff, &sx));
	close(n);
	unlink("pf");
	return 0;
}
