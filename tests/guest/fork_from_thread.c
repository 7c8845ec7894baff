/* fork in a thread other than the first: the child has that thread only, and is a whole process. */
#include "guest.h"
#include <dirent.h>
#include <pthread.h>

static int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void *parked(void *arg)
{
	char c;

	(void)!read(*(int *)arg, &c, 1);
	return NULL;
}

static void *forker(void *arg)
{
	int mark = 7;
	pid_t tgid = getpid();

	(void)arg;
	CHECK(gettid() != getpid());
	pid_t pid = xfork();
	if (pid == 0) {
		printf("child: gettid == getpid %d, getppid right %d, tasks %d, stack kept %d\n",
		       gettid() == getpid(), getppid() == tgid, tasks(), mark);
		fflush(stdout);
		_exit(9);
	}
	show_status("child", xwait(pid));
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int gate[2];

	signal(SIGCHLD, SIG_DFL);
	if (pipe(gate))
		return 1;
	pthread_create(&a, NULL, parked, &gate[0]);
	pthread_create(&b, NULL, forker, NULL);
	pthread_join(b, NULL);
	close(gate[1]);
	pthread_join(a, NULL);
	printf("tasks at the end <= 3: %d\n", tasks() <= 3);
	return 0;
}
