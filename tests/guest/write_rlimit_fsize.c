/* RLIMIT_FSIZE: a write is cut at the limit; at the limit it is EFBIG and SIGXFSZ. */
#include "guest.h"
#include <sys/resource.h>

static rlim_t old;

static int limit(rlim_t cur)
{
	struct rlimit rl;
	getrlimit(RLIMIT_FSIZE, &rl);
	old = rl.rlim_cur;
	rl.rlim_cur = cur;
	return setrlimit(RLIMIT_FSIZE, &rl);
}

/* The limit holds for stdout too, if that is a file: it is lifted before anything is printed. */
static long long lifted(long long result)
{
	int e = errno;
	limit(old);
	errno = e;
	return result;
}

#define LIMITED(expr) (limit(100), errno = 0, show_(#expr, lifted(expr)))

static void over(void)
{
	int fd = open("f", O_WRONLY | O_APPEND);
	limit(100);
	write(fd, "x", 1);
	_exit(1);
}

int main(void)
{
	char buf[64];
	int p[2];
	memset(buf, 'a', sizeof(buf));
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	LIMITED(write(fd, buf, 64));
	LIMITED(write(fd, buf, 64));
	show_status("past the limit", in_child(over));
	signal(SIGXFSZ, SIG_IGN);
	LIMITED(write(fd, buf, 64));
	LIMITED(pwrite(fd, buf, 64, 90));
	LIMITED(pwrite(fd, buf, 1, 500));
	LIMITED(ftruncate(fd, 101));
	LIMITED(ftruncate(fd, 100));
	LIMITED(truncate("f", 5000));
	LIMITED(fallocate(fd, 0, 0, 200));
	SHOW(lseek(fd, 0, SEEK_END));
	/* Pipes have no such limit. */
	SHOW(pipe(p));
	LIMITED(write(p[1], buf, 64));
	LIMITED(write(p[1], buf, 64));
	unlink("f");
	return 0;
}
