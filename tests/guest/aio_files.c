/*
 * Native asynchronous I/O on files: contexts, requests of each kind, results, eventfds, errors.
 */
#include "guest.h"

#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

static aio_context_t ctx;
static struct timespec zero;

static long setup(unsigned n, aio_context_t *c)
{
	return syscall(SYS_io_setup, n, c);
}
static long submit(aio_context_t c, long n, struct iocb **v)
{
	return syscall(SYS_io_submit, c, n, v);
}
static long getevents(aio_context_t c, long min, long n, struct io_event *e, struct timespec *ts)
{
	return syscall(SYS_io_getevents, c, min, n, e, ts);
}

static long one(int op, int fd, void *buf, size_t n, off_t off)
{
	struct iocb io = { .aio_lio_opcode = (uint16_t)op, .aio_fildes = (uint32_t)fd, .aio_buf = (uintptr_t)buf, .aio_nbytes = n, .aio_offset = off, .aio_data = 42 };
	struct iocb *v = &io;
	struct io_event e = { 0 };
	long r = submit(ctx, 1, &v);

	if (r != 1)
		return r;
	r = getevents(ctx, 1, 1, &e, NULL);
	if (r != 1 || e.data != 42 || e.obj != (uintptr_t)&io || e.res2)
		printf("odd event\n");
	if (e.res < 0) {
		errno = (int)-e.res;
		return -1;
	}
	return e.res;
}

static void *late(void *arg)
{
	struct iocb io = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = (uint32_t)*(int *)arg, .aio_buf = (uintptr_t)"late", .aio_nbytes = 4 };
	struct iocb *v = &io;

	nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
	submit(ctx, 1, &v);
	return NULL;
}

int main(void)
{
	char buf[64] = "", big[16];
	struct io_event ev[8];
	int fd = open("f", O_CREAT | O_RDWR, 0600), ro = open("f", O_RDONLY), dir = open(".", O_RDONLY);
	aio_context_t other = 5;

	SHOW(setup(0, &ctx));
	SHOW(setup(8, &other));
	SHOW(setup(8, (void *)8));
	SHOW(setup(0x7fffffff, &ctx));
	SHOW(setup(8, &ctx));
	CHECK(ctx != 0);
	SHOW(one(IOCB_CMD_PWRITE, fd, "hello world", 11, 0));
	SHOW(one(IOCB_CMD_PREAD, fd, buf, 5, 6));
	printf("%s\n", buf);
	SHOW(one(IOCB_CMD_PREAD, fd, buf, 5, 100));
	struct iovec iv[2] = { { buf, 3 }, { big, 4 } };
	SHOW(one(IOCB_CMD_PREADV, fd, iv, 2, 1));
	printf("%.3s %.4s\n", buf, big);
	SHOW(one(IOCB_CMD_PWRITEV, fd, iv, 2, 20));
	SHOW(one(IOCB_CMD_FSYNC, fd, NULL, 0, 0));
	SHOW(one(IOCB_CMD_FDSYNC, fd, NULL, 0, 0));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, 0, SEEK_END));
	/* Refused at once. */
	SHOW(one(IOCB_CMD_PREAD, -1, buf, 5, 0));
	SHOW(one(IOCB_CMD_PWRITE, ro, buf, 5, 0));
	SHOW(one(IOCB_CMD_PREAD, fd, buf, (size_t)-1, 0));
	SHOW(one(99, fd, buf, 5, 0));
	SHOW(one(IOCB_CMD_NOOP, fd, buf, 5, 0));
	SHOW(one(IOCB_CMD_FSYNC, fd, buf, 5, 0));
	SHOW(one(IOCB_CMD_PREADV, fd, iv, 2000, 0));
	SHOW(one(IOCB_CMD_PREAD, dir, buf, 5, 0));
	SHOW(submit(ctx, 1, (void *)8));
	SHOW(submit(ctx, -1, NULL));
	SHOW(submit(ctx, 0, NULL));
	SHOW(submit(77, 1, NULL));
	struct iocb *bad = (void *)8;
	SHOW(submit(ctx, 1, &bad));
	/* Several, and an eventfd. */
	int efd = eventfd(0, EFD_NONBLOCK);
	struct iocb io[4], *v[4];
	uint64_t count = 0;
	memset(io, 0, sizeof(io));
	for (int i = 0; i < 4; i++) {
		io[i] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = (uint32_t)fd, .aio_buf = (uintptr_t)"abcd" + (unsigned)i, .aio_nbytes = 1, .aio_offset = i, .aio_data = (uint64_t)i,
				       .aio_flags = IOCB_FLAG_RESFD, .aio_resfd = (uint32_t)efd };
		v[i] = &io[i];
	}
	io[3].aio_fildes = 999;
	SHOW(submit(ctx, 4, v));
	SHOW(getevents(ctx, 3, 8, ev, NULL));
	printf("%d %d %d\n", (int)ev[0].data, (int)ev[1].data, (int)ev[2].data);
	CHECK(read(efd, &count, 8) == 8 && count == 3);
	io[0].aio_resfd = (uint32_t)fd;
	SHOW(submit(ctx, 1, v));
	SHOW(pread(fd, buf, 4, 0));
	printf("%.4s\n", buf);
	/* Waiting. */
	struct timespec ts = { 0, 20000000 };
	SHOW(getevents(ctx, 0, 8, ev, NULL));
	SHOW(getevents(ctx, 1, 8, ev, &zero));
	SHOW(getevents(ctx, 1, 8, ev, &ts));
	SHOW(getevents(ctx, 2, 1, ev, &ts));
	SHOW(getevents(ctx, -1, 1, ev, &ts));
	SHOW(getevents(ctx, 1, 1, ev, (void *)8));
	SHOW(getevents(77, 1, 1, ev, &ts));
	pthread_t th;
	pthread_create(&th, NULL, late, &fd);
	SHOW(getevents(ctx, 1, 8, ev, NULL));
	pthread_join(th, NULL);
	SHOW(syscall(SYS_io_cancel, ctx, &io[0], ev));
	SHOW(syscall(SYS_io_cancel, ctx, (void *)8, ev));
	/* A child has none of it; the name is of no use there. */
	pid_t pid = xfork();
	if (pid == 0)
		_exit(submit(ctx, 0, NULL) == 0 ? 1 : errno == EINVAL ? 0 : 2);
	show_status("child", xwait(pid));
	SHOW(syscall(SYS_io_destroy, ctx));
	SHOW(syscall(SYS_io_destroy, ctx));
	SHOW(getevents(ctx, 0, 1, ev, &zero));
	unlink("f");
	return 0;
}
