/*
 * A failed exec leaves everything: threads, handlers, mask, descriptors, memory, the process name.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

static volatile int stop, hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void *count(void *arg)
{
	while (!stop)
		usleep(1000);
	return arg;
}

int main(void)
{
	pthread_t t[3];
	char name[17] = "";
	void *ret;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGUSR1, handler);
	prctl(PR_SET_NAME, "stays");
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(page, "kept");
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, count, (void *)(i + 5));
	put_file("bad", "#!/no/such/interpreter\n");
	put_file("worse", "neither ELF nor script");
	chmod("bad", 0755);
	chmod("worse", 0755);
	SHOW(execl("./bad", "x", (char *)NULL));
	SHOW(execl("./worse", "x", (char *)NULL));
	SHOW(execl("/etc/passwd", "x", (char *)NULL));
	kill(getpid(), SIGUSR1);
	usleep(1000);
	printf("handler ran %d\n", hits);
	prctl(PR_GET_NAME, name);
	printf("name %s, page %s\n", name, page);
	stop = 1;
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &ret);
		printf("thread %d gave %ld\n", i, (long)ret);
	}
	unlink("bad");
	unlink("worse");
	return 0;
}
