/* /proc/self/task lists the threads; /proc of another process in the tree; who is gone. */
#include "guest.h"
#include <dirent.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static pid_t tids[4];

static int tasks(bool *all)
{
	int n = 0, known = 0;
	DIR *dir = opendir("/proc/self/task");
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		for (int i = 0; i < 4; i++)
			known += atoi(e->d_name) == tids[i];
	}
	closedir(dir);
	*all = known == 4;
	return n;
}

static long links(void)
{
	struct stat st;
	return stat("/proc/self/task", &st) < 0 ? -1 : (long)st.st_nlink;
}

static void *thread(void *arg)
{
	tids[(intptr_t)arg] = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	char path[64];
	bool all;
	struct stat st;
	SHOW(tasks(&all));
	SHOW(links());
	pthread_barrier_init(&barrier, NULL, 4);
	tids[3] = gettid();
	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	pthread_barrier_wait(&barrier);
	SHOW(tasks(&all));
	CHECK(all);
	SHOW(links());
	/* A thread can be named directly under /proc, though it is not listed there. */
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tids[0]);
	CHECK(stat(path, &st) == 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);

	pid_t pid = xfork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	int fd = open(path, O_RDONLY);
	bool listed = false;
	DIR *dir = opendir("/proc");
	for (struct dirent *e; (e = readdir(dir));)
		listed |= atoi(e->d_name) == pid;
	CHECK(listed);
	kill(pid, SIGKILL);
	xwait(pid);
	SHOW(stat(path, &st));
	char buf[64];
	SHOW(read(fd, buf, sizeof(buf)));
	SHOW(open("/proc/0", O_RDONLY));
	SHOW(open("/proc/4194305", O_RDONLY));
	return 0;
}
