/*
 * Filters go to children, threads and through execve; TSYNC gives them to threads that are there
 * already; /proc counts them; a thread can be ended alone.
 */
#include "seccomp.h"

#include <pthread.h>
#include <semaphore.h>

static void status(void)
{
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Seccomp", 7))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

static sem_t go, done;
static long result;

static void *waits(void *arg)
{
	(void)arg;
	sem_wait(&go);
	errno = 0;
	result = mkdir("d", 0700) == -1 ? errno : 0;
	status();
	sem_post(&done);
	return NULL;
}

static void *ends(void *arg)
{
	FILTER(0, { SYS_getppid, SECCOMP_RET_KILL_THREAD });
	syscall(SYS_getppid);
	return arg;
}

static void *adds(void *arg)
{
	(void)arg;
	FILTER(0, { SYS_rmdir, SECCOMP_RET_ERRNO | 7 });
	sem_post(&done);
	sem_wait(&go);
	return NULL;
}

static void sync_threads(void)
{
	pthread_t th;

	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	FILTER(0, { SYS_mkdir, SECCOMP_RET_ERRNO | EMLINK });
	pthread_create(&th, NULL, waits, NULL);
	sem_post(&go);
	sem_wait(&done);
	pthread_join(th, NULL);
	printf("made later: %s\n", ename((int)result));
	pthread_create(&th, NULL, waits, NULL);
	CHECK(FILTER(SECCOMP_FILTER_FLAG_TSYNC, { SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV }) == 0);
	sem_post(&go);
	sem_wait(&done);
	pthread_join(th, NULL);
	printf("given to it: %s\n", ename((int)result));
	pthread_create(&th, NULL, adds, NULL);
	sem_wait(&done);
	CHECK(FILTER(SECCOMP_FILTER_FLAG_TSYNC, { SYS_mkdir, SECCOMP_RET_ERRNO | 1 }) > 0);
	SHOW(FILTER(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH, { SYS_mkdir, SECCOMP_RET_ERRNO | 1 }));
	sem_post(&go);
	pthread_join(th, NULL);
	SHOW(FILTER(SECCOMP_FILTER_FLAG_TSYNC, { SYS_mkdir, SECCOMP_RET_ERRNO | ENOLCK }));
	SHOW(mkdir("d", 0700));
	status();
}

static void thread_ends(void)
{
	pthread_t th;
	void *ret = NULL;

	pthread_create(&th, NULL, ends, NULL);
	CHECK(pthread_join(th, &ret) == 0);
	status();
	CHECK(getppid() > 0);
}

static void many(void)
{
	int n = 0;

	while (n < 20 && FILTER(0, { 999, SECCOMP_RET_KILL_PROCESS }) == 0)
		n++;
	printf("%d installed\n", n);
	status();
}

static void exec_self(const char *self)
{
	FILTER(0, { SYS_mkdir, SECCOMP_RET_ERRNO | EUCLEAN }, { SYS_sched_yield, SECCOMP_RET_ERRNO | EBADE });
	FILTER(0, { SYS_rmdir, SECCOMP_RET_ERRNO | ENOANO });
	fflush(stdout);
	execl(self, self, "second", NULL);
	perror("exec");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		SHOW(mkdir("x", 0700));
		SHOW(rmdir("x"));
		SHOW(syscall(SYS_sched_yield));
		status();
		int ret = system("mkdir y 2>&1 | sed 's/.*: //'");
		printf("system %d\n", ret);
		return 4;
	}
	status();
	IN_CHILD("threads", sync_threads());
	IN_CHILD("a thread ends", thread_ends());
	IN_CHILD("many", many());
	IN_CHILD("exec", exec_self(argv[0]));
	status();
	return 0;
}
