/* A large file is cut short while others use it: by ftruncate, truncate and O_TRUNC, to nothing and
 * to a half. Reads, writes and other cuts that come meanwhile, a name that leads elsewhere
 * meanwhile, a descriptor that is closed, a caller that is killed. */
/* disk: yes */
#include "guest.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

#define MIB (1L << 20)
#define SIZE (40 * MIB)

static char *bytes;
static int bad, fd;
static volatile int stop;

static void count(bool ok)
{
	if (!ok)
		__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
}

static void tick(int sig)
{
	(void)sig;
}

static void make(const char *name)
{
	int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	count(write(f, bytes, SIZE) == SIZE);
	count(close(f) == 0);
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) < 0 ? -1 : st.st_size;
}

/* Only the old size and the new one are ever seen; bytes are what was written. */
static void *looks(void *arg)
{
	char c[2];
	struct stat st;

	(void)arg;
	while (!stop) {
		count(fstat(fd, &st) == 0 && (st.st_size == SIZE || st.st_size == SIZE / 2));
		count(pread(fd, c, 1, SIZE / 2 - 1) == 1 && c[0] == 'a');
		count(pread(fd, c, 1, SIZE - 1) <= 1);
	}
	return NULL;
}

static void *writes(void *arg)
{
	(void)arg;
	while (!stop)
		count(pwrite(fd, "bb", 2, 100) == 2);
	return NULL;
}

static void *cuts(void *arg)
{
	long to = (long)(intptr_t)arg;

	count(ftruncate(fd, to) == 0);
	return NULL;
}

static void *opens(void *arg)
{
	int f = open(arg, O_WRONLY | O_TRUNC);

	count(f >= 0 && write(f, "new", 3) == 3 && close(f) == 0);
	return NULL;
}

static void *cuts_path(void *arg)
{
	count(truncate(arg, 7) == 0);
	return NULL;
}

static void with(void *(*fn)(void *), void (*act)(void))
{
	pthread_t t;

	stop = 0;
	pthread_create(&t, NULL, fn, NULL);
	usleep(1000);
	act();
	stop = 1;
	pthread_join(t, NULL);
}

static void half(void)
{
	count(ftruncate(fd, SIZE / 2) == 0);
}

static void nothing(void)
{
	count(ftruncate(fd, 0) == 0);
}

int main(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = tick };
	struct timespec before;
	struct stat st;
	pthread_t t[2];
	int status;
	char *p, c;
	pid_t pid;

	bytes = malloc(SIZE);
	memset(bytes, 'a', SIZE);
	make("f");
	fd = open("f", O_RDWR);
	fstat(fd, &st);
	before = st.st_mtim;
	usleep(20000);
	SHOW(ftruncate(fd, SIZE - 1));
	SHOW(ftruncate(fd, 5));
	SHOW(size_of("f"));
	fstat(fd, &st);
	SHOW(st.st_mtim.tv_sec > before.tv_sec || st.st_mtim.tv_nsec != before.tv_nsec);
	SHOW(st.st_blocks <= 16);
	make("f");
	SHOW(truncate("f", SIZE / 2));
	SHOW(size_of("f"));
	SHOW(ftruncate(fd, SIZE));
	SHOW(pread(fd, &c, 1, SIZE / 2) == 1 && c == 0);
	SHOW(pread(fd, &c, 1, SIZE / 2 - 1) == 1 && c == 'a');
	make("f");
	SHOW(size_of("f"));
	SHOW(close(open("f", O_RDONLY | O_TRUNC)));
	SHOW(size_of("f"));

	make("f");
	with(looks, half);
	printf("looked at: %d\n", bad);
	make("f");
	with(writes, nothing);
	printf("written to: %d\n", bad);
	for (int i = 0; i < 4; i++) {
		make("f");
		pthread_create(&t[0], NULL, cuts, (void *)(intptr_t)(i % 2 ? SIZE / 2 : 0));
		pthread_create(&t[1], NULL, cuts, (void *)(intptr_t)0);
		pthread_join(t[0], NULL);
		pthread_join(t[1], NULL);
		count(size_of("f") == 0 || (i % 2 && size_of("f") == SIZE / 2));
	}
	printf("cut twice: %d\n", bad);

	/* The name leads elsewhere meanwhile: either of the two is cut, never both. */
	for (int i = 0; i < 6; i++) {
		make("f");
		make("g");
		pthread_create(&t[0], NULL, i % 2 ? opens : cuts_path, (char *)"f");
		usleep(1000 * (unsigned)i);
		unlink("old");
		count(link("f", "old") == 0 && rename("g", "f") == 0);
		pthread_join(t[0], NULL);
		count((size_of("old") == SIZE) + (size_of("f") == SIZE) == 1);
	}
	printf("renamed: %d\n", bad);
	close(fd);

	/* The number stands for nothing any more. */
	make("f");
	fd = open("f", O_RDWR);
	pthread_create(&t[0], NULL, cuts, (void *)(intptr_t)3);
	while (size_of("f") == SIZE)
		;
	close(fd);
	pthread_join(t[0], NULL);
	SHOW(size_of("f"));

	/* Mapped. */
	make("f");
	fd = open("f", O_RDWR);
	p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[0] = 'm';
	SHOW(ftruncate(fd, 4096));
	SHOW(p[0] == 'm' && p[1] == 'a');
	SHOW(munmap(p, SIZE));
	sigaction(SIGALRM, &sa, NULL);
	make("f");
	setitimer(ITIMER_REAL, &often, NULL);
	SHOW(ftruncate(fd, 10));
	setitimer(ITIMER_REAL, &never, NULL);
	close(fd);

	for (unsigned i = 0; i < 5; i++) {
		make("f");
		pid = fork();
		if (pid == 0) {
			(void)!truncate("f", 10);
			pause();
		}
		usleep(500 + 1500 * i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		count(size_of("f") == SIZE || size_of("f") == 10);
	}
	printf("killed: %d\n", bad);
	fd = open("f", O_RDWR);
	SHOW(ftruncate(fd, 1));
	SHOW(size_of("f"));
	unlink("f");
	unlink("old");
	return 0;
}
