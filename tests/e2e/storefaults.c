/* Makes one call of viv-store fail, by LD_PRELOAD: FAIL_CALL names it, FAIL_AT which one of them,
 * FAIL_ERRNO how. FAIL_MARK is a file that is removed then. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(const char *call)
{
	static long count;
	const char *name = getenv("FAIL_CALL");

	if (!name || strcmp(name, call) || ++count != atol(getenv("FAIL_AT")))
		return 0;
	unlink(getenv("FAIL_MARK"));
	errno = atoi(getenv("FAIL_ERRNO"));
	return 1;
}

#define REAL(name)                                                \
	static __typeof__(name) *real;                            \
	if (!real)                                                \
		real = (__typeof__(real))dlsym(RTLD_NEXT, #name); \
	if (fails(#name))                                         \
	return -1

ssize_t write(int fd, const void *data, size_t n)
{
	static __typeof__(write) *real;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "write");
	/* Messages are not what this is about. */
	return fd > 2 && fails("write") ? -1 : real(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	REAL(pwrite);
	return real(fd, data, n, at);
}

ssize_t read(int fd, void *data, size_t n)
{
	REAL(read);
	return real(fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
	REAL(pread);
	return real(fd, data, n, at);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	REAL(openat);
	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return real(dir, path, flags, mode);
}

int renameat(int from, const char *path, int to, const char *name)
{
	REAL(renameat);
	return real(from, path, to, name);
}

int rename(const char *path, const char *name)
{
	REAL(rename);
	return real(path, name);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
	REAL(linkat);
	return real(from, path, to, name, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	REAL(mkdirat);
	return real(dir, path, mode);
}

int fchmod(int fd, mode_t mode)
{
	REAL(fchmod);
	return real(fd, mode);
}

int ftruncate(int fd, off_t size)
{
	REAL(ftruncate);
	return real(fd, size);
}

int syncfs(int fd)
{
	REAL(syncfs);
	return real(fd);
}

int fsync(int fd)
{
	REAL(fsync);
	return real(fd);
}

int close(int fd)
{
	static __typeof__(close) *real;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "close");
	if (fd <= 2 || !fails("close"))
		return real(fd);
	real(fd);
	errno = atoi(getenv("FAIL_ERRNO"));
	return -1;
}
