/*
 * /proc/self/task has an entry for each thread; getpid is one, gettid differs; Threads: in status
 * counts them.
 */
#include "guest.h"
#include <dirent.h>
#include <pthread.h>

enum { N = 8 };
static int gate[2];
static pid_t tids[N + 1];
static pthread_barrier_t bar;

static void *work(void *arg)
{
	char c, name[16];
	long i = (long)arg;

	snprintf(name, sizeof(name), "worker-%ld", i);
	pthread_setname_np(pthread_self(), name);
	tids[i] = gettid();
	pthread_barrier_wait(&bar);
	(void)!read(gate[0], &c, 1);
	return (void *)(long)(getpid() == tids[0]);
}

int main(void)
{
	pthread_t t[N + 1];
	int found = 0, entries = 0, same = 0, pids = 0;
	char path[64];

	(void)!pipe(gate);
	pthread_barrier_init(&bar, NULL, N + 1);
	tids[0] = gettid();
	CHECK(gettid() == getpid());
	for (long i = 1; i <= N; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	pthread_barrier_wait(&bar);
	DIR *d = opendir("/proc/self/task");
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		entries++;
		for (int i = 0; i <= N; i++)
			found += atoi(e->d_name) == tids[i];
	}
	closedir(d);
	for (int i = 0; i <= N; i++)
		for (int j = 0; j < i; j++)
			same += tids[i] == tids[j];
	printf("entries %d, found %d, equal numbers %d\n", entries, found, same);
	printf("Threads: %d\n", atoi(strstr(get_file("/proc/self/status"), "Threads:") + 8));
	for (int i = 1; i <= 3; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tids[i]);
		printf("comm %s", get_file(path));
	}
	close(gate[1]);
	for (int i = 1; i <= N; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		pids += (int)(long)ret;
	}
	printf("saw the one pid: %d\n", pids);
	return 0;
}
