/* Syncing while others go on: several threads at once, on one file and on several; a signal does
 * not cut it short; whoever waits in it can be killed, and what it synced be closed, replaced or
 * unlinked meanwhile. Most files are small; some are so large that the kernel of a cell leaves them
 * to another thread. */
/* disk: yes */
#include "guest.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

#define THREADS 4
#define ROUNDS 6

static const size_t size = 6 << 20;
static const size_t small = 1 << 14;
static char *bytes;
static int shared_fd, bad;
static volatile int ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static void fill(int fd, int round)
{
	size_t n = round % 3 ? small : size;

	if (pwrite(fd, bytes, n, 0) != (ssize_t)n)
		__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
}

static void count(int r)
{
	if (r < 0)
		__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
}

static void *own_file(void *arg)
{
	char name[16], other[16];
	int n = (int)(intptr_t)arg, fd;

	snprintf(name, sizeof(name), "own%d", n);
	snprintf(other, sizeof(other), "new%d", n);
	for (int i = 0; i < ROUNDS; i++) {
		fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0644);
		fill(fd, i);
		count(i % 3 == 0 ? fsync(fd) : i % 3 == 1 ? fdatasync(fd) : syncfs(fd));
		count(rename(other, name));
		if (n == 0)
			sync();
		close(fd);
	}
	count(unlink(name));
	return NULL;
}

static void *one_file(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		fill(shared_fd, i);
		count(fsync(shared_fd));
	}
	return NULL;
}

/* Half of them replace files that were never synced, the others sync. */
static void *replaces(void *arg)
{
	char name[16], other[16], c;
	int n = (int)(intptr_t)arg, fd;
	struct stat st;

	if (n % 2) {
		for (int i = 0; i < ROUNDS; i++)
			own_file(arg);
		return NULL;
	}
	snprintf(name, sizeof(name), "old%d", n);
	snprintf(other, sizeof(other), "next%d", n);
	for (int i = 0; i < 20 * ROUNDS; i++) {
		fd = open(other, O_RDWR | O_CREAT | O_EXCL, 0644);
		fill(fd, i % 20 ? 1 : 0);
		count(rename(other, name));
		count(stat(name, &st) == 0 && pread(fd, &c, 1, 0) == 1 && c == 'a' ? 0 : -1);
		count(access(other, F_OK) < 0 ? 0 : -1);
		count(close(fd));
	}
	count(unlink(name));
	return NULL;
}

/* Its number is closed, and stands for a pipe, while it is synced. */
static void *closes(void *arg)
{
	int fd = open("closed", O_RDWR | O_CREAT, 0644), p[2];

	(void)arg;
	__atomic_store_n(&shared_fd, fd, __ATOMIC_SEQ_CST);
	fill(fd, 1);
	count(pipe(p));
	count(dup2(p[0], fd));
	close(fd);
	close(p[0]);
	close(p[1]);
	return NULL;
}

static void threads(void *(*fn)(void *))
{
	pthread_t t[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, fn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = tick };
	int fd, status, r, odd = 0;
	pthread_t t;
	pid_t pid;
	char *p;

	bytes = malloc(size);
	memset(bytes, 'a', size);
	threads(own_file);
	printf("each its own: %d\n", bad);
	threads(replaces);
	printf("replaced: %d\n", bad);
	shared_fd = fd = open("one", O_RDWR | O_CREAT, 0644);
	threads(one_file);
	printf("all the same: %d\n", bad);

	/* Not cut short, and not made again from the start for ever. */
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS || !ticks; i++) {
		fill(fd, i);
		count(i % 2 ? fsync(fd) : fdatasync(fd));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("with signals: %d\n", bad);

	/* Without a name. */
	count(unlink("one"));
	fill(fd, 3);
	SHOW(fsync(fd));
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[size - 1] = '!';
	SHOW(msync(p, size, MS_SYNC));
	SHOW(fsync(fd));
	printf("%c\n", pread(fd, bytes, 1, (off_t)size - 1) == 1 ? bytes[0] : '-');
	munmap(p, size);
	close(fd);

	/* Another thread closes it. */
	shared_fd = -1;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_create(&t, NULL, closes, NULL);
		do {
			fd = __atomic_load_n(&shared_fd, __ATOMIC_SEQ_CST);
			r = fd < 0 ? 0 : fsync(fd);
			odd += r < 0 && errno != EBADF && errno != EINVAL;
		} while (fd < 0);
		pthread_join(t, NULL);
		shared_fd = -1;
	}
	printf("closed meanwhile: %d %d\n", odd, bad);
	count(unlink("closed"));

	/* Killed in the middle. */
	for (int i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (pid == 0)
			for (fd = open("killed", O_RDWR | O_CREAT, 0644);;) {
				fill(fd, 6);
				fsync(fd);
			}
		usleep(5000 + 3000 * (unsigned)i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		odd += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	}
	fd = open("killed", O_RDWR | O_CREAT, 0644);
	fill(fd, 6);
	SHOW(fsync(fd));
	printf("killed: %d %d\n", odd, bad);
	unlink("killed");
	return 0;
}
