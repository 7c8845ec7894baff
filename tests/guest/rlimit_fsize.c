/*
 * RLIMIT_FSIZE: a write is cut at the limit; at the limit SIGXFSZ, or EFBIG when that is ignored.
 */
#include "guest.h"
#include <sys/resource.h>

static int fd;

static void die(void)
{
	signal(SIGXFSZ, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	(void)!write(fd, "x", 1);
	printf("not reached\n");
}

int main(void)
{
	struct rlimit lim;
	static char buf[1000];

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &lim);
	lim.rlim_cur = 1500;
	SHOW(setrlimit(RLIMIT_FSIZE, &lim));
	signal(SIGXFSZ, SIG_IGN);
	fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
	SHOW(write(fd, buf, 1000));
	SHOW(write(fd, buf, 1000));
	SHOW(write(fd, buf, 1));
	SHOW(pwrite(fd, buf, 10, 1495));
	SHOW(ftruncate(fd, 1500));
	SHOW(ftruncate(fd, 1501));
	SHOW(lseek(fd, 0, SEEK_END));
	show_status("default", in_child(die));
	/* Pipes are not files in this sense. */
	int p[2];
	(void)!pipe(p);
	SHOW(write(p[1], buf, 1000));
	SHOW(write(p[1], buf, 1000));
	unlink("f");
	return 0;
}
