/*
 * Signals that come while paths are looked up in a loop: results and registers stay right, the
 * handler may look up paths itself or leave by siglongjmp, and sees no call interrupted.
 */
#include "guest.h"
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

static volatile long handled, wrong_in_handler;
static sigjmp_buf env;
static volatile int leave;

static void on_signal(int sig)
{
	struct stat st;
	int e = errno;

	(void)sig;
	handled++;
	if (stat("dir/file", &st) || st.st_size != 5)
		wrong_in_handler++;
	errno = e;
	if (leave) {
		leave = 0;
		siglongjmp(env, 1);
	}
}

static long one_round(long salt)
{
	volatile long v = salt;
	long a = v + 1, b = v + 2, c = v + 3, d = v + 4, e = v + 5, f = v + 6, wrong = 0;
	char text[32];
	struct stat st;

	wrong += stat("dir/file", &st) != 0 || st.st_size != 5;
	wrong += lstat("link", &st) != 0 || st.st_size != 8;
	wrong += readlink("link", text, sizeof(text)) != 8 || memcmp(text, "dir/file", 8);
	wrong += access("dir/none", F_OK) != -1 || errno != ENOENT;
	wrong += a != salt + 1 || b != salt + 2 || c != salt + 3 || d != salt + 4 || e != salt + 5 || f != salt + 6;
	return wrong;
}

static volatile int stop;
static void *sender(void *arg)
{
	while (!stop) {
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		usleep(300);
	}
	return NULL;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct itimerval it = { { 0, 2000 }, { 0, 2000 } }, none = { 0 };
	pthread_t self = pthread_self(), t;
	volatile long wrong = 0;

	mkdir("dir", 0755);
	put_file("dir/file", "hello");
	symlink("dir/file", "link");
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	alarm(0);
	setitimer(ITIMER_REAL, &it, NULL);
	for (long i = 0; handled < 100; i++)
		wrong += one_round(i);
	setitimer(ITIMER_REAL, &none, NULL);
	printf("timer: %ld wrong, %ld in the handler\n", wrong, wrong_in_handler);
	alarm(15);
	handled = 0;
	pthread_create(&t, NULL, sender, &self);
	for (long i = 0; handled < 300; i++)
		wrong += one_round(i);
	for (int k = 0; k < 100; k++) {
		if (sigsetjmp(env, 1) == 0) {
			leave = 1;
			for (;;)
				wrong += one_round(k);
		}
		wrong += one_round(k);
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("thread: %ld wrong, %ld in the handler\n", wrong, wrong_in_handler);
	unlink("link");
	unlink("dir/file");
	rmdir("dir");
	return 0;
}
