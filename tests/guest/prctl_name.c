/* PR_SET_NAME: 15 bytes, per thread, seen in /proc; a child inherits it. */
#include "guest.h"
#include <pthread.h>

static void show(const char *who)
{
	char name[17] = "";

	prctl(PR_GET_NAME, name);
	printf("%s: '%s'\n", who, name);
}

static void *thread(void *arg)
{
	show("new thread");
	prctl(PR_SET_NAME, "other");
	show("thread");
	printf("thread-self: %s", get_file("/proc/thread-self/comm"));
	return arg;
}

static void child(void)
{
	show("child");
}

int main(void)
{
	char *volatile bad = (char *)8;
	pthread_t t;

	signal(SIGCHLD, SIG_DFL);
	SHOW(prctl(PR_SET_NAME, "a name that is far too long"));
	show("main");
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	show("main");
	printf("comm: %s", get_file("/proc/self/comm"));
	show_status("child", in_child(child));
	SHOW(prctl(PR_SET_NAME, bad));
	SHOW(prctl(PR_SET_NAME, ""));
	show("empty");
	int fd = open("/proc/self/comm", O_WRONLY);
	SHOW(write(fd, "written", 7));
	show("by /proc");
	return 0;
}
