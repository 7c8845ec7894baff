/*
 * /proc/self/comm: the program's file name, 15 bytes of what is written or set; each thread has its
 * own.
 */
#include "guest.h"
#include <pthread.h>

static void *thread(void *arg)
{
	char path[64], name[32] = "";
	SHOW(pthread_setname_np(pthread_self(), "worker"));
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)gettid());
	printf("thread %s", get_file(path));
	prctl(PR_GET_NAME, name);
	printf("thread %s\n", name);
	printf("process %s", get_file("/proc/self/comm"));
	return arg;
}

static int set(const char *text)
{
	int fd = open("/proc/self/comm", O_WRONLY);
	int n = write(fd, text, strlen(text));
	close(fd);
	return n;
}

int main(void)
{
	pthread_t t;
	char name[32] = "";
	printf("%s", get_file("/proc/self/comm"));
	SHOW(set("short"));
	printf("%s", get_file("/proc/self/comm"));
	prctl(PR_GET_NAME, name);
	printf("%s\n", name);
	SHOW(set("a name of more than fifteen bytes"));
	printf("%s", get_file("/proc/self/comm"));
	SHOW(prctl(PR_SET_NAME, "set by prctl"));
	printf("%s", get_file("/proc/self/comm"));
	SHOW(prctl(PR_SET_NAME, "longer than fifteen bytes"));
	printf("%s", get_file("/proc/self/comm"));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
