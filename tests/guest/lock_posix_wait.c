/* F_SETLKW sleeps until the range is free; a circle of waiters is EDEADLK; a signal is EINTR. */
#include "guest.h"
#include <time.h>

static int set(int fd, int cmd, short type, off_t start)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = 1 };
	return fcntl(fd, cmd, &fl);
}

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000l }, NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

int main(void)
{
	int up[2], down[2];
	char c;
	put_file("f", "0123456789");
	SHOW(pipe(up));
	SHOW(pipe(down));
	int fd = open("f", O_RDWR);
	pid_t pid = xfork();
	if (pid == 0) {
		set(fd, F_SETLK, F_WRLCK, 0);
		write(up[1], "x", 1);
		read(down[0], &c, 1);
		sleep_ms(100);
		printf("child unlocks\n");
		fflush(stdout);
		set(fd, F_SETLK, F_UNLCK, 0);
		/* Then a circle: the child holds 1 and waits for 2. */
		set(fd, F_SETLK, F_WRLCK, 1);
		write(up[1], "x", 1);
		read(down[0], &c, 1);
		int r = set(fd, F_SETLKW, F_WRLCK, 2);
		_exit(r == 0 ? 5 : 6);
	}
	read(up[0], &c, 1);
	SHOW(set(fd, F_SETLK, F_WRLCK, 0));
	write(down[1], "x", 1);
	SHOW(set(fd, F_SETLKW, F_WRLCK, 0));
	read(up[0], &c, 1);
	SHOW(set(fd, F_SETLK, F_WRLCK, 2));
	write(down[1], "x", 1);
	sleep_ms(300);
	SHOW(set(fd, F_SETLKW, F_WRLCK, 1));
	struct sigaction sa = { .sa_handler = on_alarm };
	SHOW(set(fd, F_SETLK, F_UNLCK, 2));
	show_status("child", xwait(pid));
	pid = xfork();
	if (pid == 0) {
		sigaction(SIGALRM, &sa, NULL);
		ualarm(100000, 0);
		SHOW(set(fd, F_SETLKW, F_WRLCK, 0));
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
	unlink("f");
	return 0;
}
