/* A blocked flock is woken by the unlock, by the holder's exit, and by a signal with EINTR. */
#include "guest.h"
#include <sys/file.h>
#include <time.h>

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

int main(void)
{
	int p[2], go[2];
	char c;
	put_file("f", "x");
	SHOW(pipe(p));
	SHOW(pipe(go));
	for (int how = 0; how < 2; how++) {
		pid_t pid = xfork();
		if (pid == 0) {
			int fd = open("f", O_RDWR);
			flock(fd, LOCK_EX);
			write(p[1], "L", 1);
			read(go[0], &c, 1);
			sleep_ms(100);
			printf("holder %s\n", how ? "exits" : "unlocks");
			fflush(stdout);
			if (how)
				_exit(0);
			flock(fd, LOCK_UN);
			sleep_ms(300);
			_exit(0);
		}
		int fd = open("f", O_RDWR);
		read(p[0], &c, 1);
		SHOW(flock(fd, LOCK_EX | LOCK_NB));
		write(go[1], "G", 1);
		SHOW(flock(fd, LOCK_EX));
		close(fd);
		show_status("holder", xwait(pid));
	}
	int a = open("f", O_RDWR), b = open("f", O_RDWR);
	SHOW(flock(a, LOCK_EX));
	struct sigaction sa = { .sa_handler = on_alarm };
	sigaction(SIGALRM, &sa, NULL);
	ualarm(100000, 0);
	SHOW(flock(b, LOCK_SH));
	unlink("f");
	return 0;
}
