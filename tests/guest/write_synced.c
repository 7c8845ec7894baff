/* Writes that sync (O_SYNC, O_DSYNC, RWF_SYNC and RWF_DSYNC): their results and positions are those
 * of any write, also of one so large that the kernel of a cell leaves the syncing to another
 * thread, with others that write at the same time. No signal cuts them short, and whoever waits in
 * one can be killed, or find its descriptor closed. */
/* disk: yes */
#include "guest.h"

#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>

#define THREADS 4
#define ROUNDS 5

static const size_t size = 6 << 20;
static char *bytes;
static int bad;
static volatile int ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static void count(bool ok)
{
	if (!ok)
		__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
}

static off_t at(int fd)
{
	return lseek(fd, 0, SEEK_CUR);
}

static void *writer(void *arg)
{
	int n = (int)(intptr_t)arg, fd;
	struct iovec v[2] = { { bytes, 100 }, { bytes + 100, size - 100 } };
	char name[16];

	snprintf(name, sizeof(name), "own%d", n);
	fd = open(name, O_RDWR | O_CREAT | (n % 2 ? O_SYNC : O_DSYNC), 0644);
	for (int i = 0; i < ROUNDS; i++) {
		count(write(fd, bytes, 1000) == 1000);
		if (i % 2 == n % 2)
			count(write(fd, bytes, size) == (ssize_t)size);
		else
			count(pwritev(fd, v, 2, at(fd)) == (ssize_t)size &&
			      lseek(fd, 0, SEEK_END) > 0);
		count(at(fd) == (off_t)((size + 1000) * ((size_t)i + 1)));
	}
	close(fd);
	count(unlink(name) == 0);
	return NULL;
}

/* Its number stands for something else while it is written to. */
static void *closes(void *arg)
{
	int fd = (int)(intptr_t)arg, p[2];

	while (at(fd) == 0)
		usleep(100);
	count(pipe(p) == 0);
	count(dup2(p[0], fd) == fd);
	close(fd);
	close(p[0]);
	close(p[1]);
	return NULL;
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = tick };
	char *volatile nowhere = NULL;
	struct iovec v = { 0 };
	int fd, plain, status, odd = 0;
	pthread_t t[THREADS];
	off_t off = 0, to = 5;
	struct stat st;
	pid_t pid;

	bytes = malloc(size);
	memset(bytes, 'a', size);
	fd = open("f", O_RDWR | O_CREAT | O_SYNC, 0644);
	SHOW(write(fd, bytes, size));
	SHOW(write(fd, bytes, 0));
	SHOW(pwrite(fd, bytes, 10, 3));
	SHOW(at(fd));
	SHOW(write(fd, nowhere, 5));
	SHOW(at(fd));
	plain = open("f", O_RDWR);
	v = (struct iovec){ bytes, size };
	SHOW(pwritev2(plain, &v, 1, 7, RWF_SYNC));
	SHOW(pwritev2(plain, &v, 1, -1, RWF_DSYNC));
	SHOW(pwritev2(plain, &v, 1, 0, RWF_APPEND | RWF_SYNC));
	SHOW(at(plain));
	SHOW(sendfile(fd, plain, &off, 100000) > 0);
	SHOW(copy_file_range(plain, &(loff_t){ 0 }, fd, &to, 1000, 0));
	SHOW(to);
	SHOW(fstat(fd, &st) == 0 && st.st_size >= (off_t)(2 * size));
	close(plain);

	/* Not cut short, nor written twice. */
	SHOW(ftruncate(fd, 0));
	lseek(fd, 0, SEEK_SET);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS || !ticks; i++) {
		count(write(fd, bytes, size) == (ssize_t)size);
		count(write(fd, bytes, 10) == 10);
		count(at(fd) == (off_t)((size + 10) * ((size_t)i + 1)));
		count(fstat(fd, &st) == 0 && st.st_size == at(fd));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("with signals: %d\n", bad);
	close(fd);

	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, writer, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("several: %d\n", bad);

	/* Another thread closes it: what was begun is done. */
	for (int i = 0; i < ROUNDS; i++) {
		fd = open("f", O_RDWR | O_TRUNC | O_SYNC);
		pthread_create(&t[0], NULL, closes, (void *)(intptr_t)fd);
		count(write(fd, bytes, size) == (ssize_t)size);
		pthread_join(t[0], NULL);
		count(stat("f", &st) == 0 && st.st_size == (off_t)size);
	}
	printf("closed: %d\n", bad);

	for (int i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (pid == 0)
			for (fd = open("f", O_RDWR | O_SYNC);;)
				(void)!pwrite(fd, bytes, size, 0);
		usleep(3000 + 5000 * (unsigned)i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		odd += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	}
	fd = open("f", O_RDWR | O_SYNC);
	SHOW(pwrite(fd, "b", 1, 0));
	printf("killed: %d %d\n", odd, bad);
	unlink("f");
	return 0;
}
