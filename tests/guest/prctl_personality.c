/* personality keeps its flags over fork and execve; timer slack is a thread's own. */
#include "guest.h"

#include <pthread.h>
#include <sys/personality.h>

static void *thread(void *p)
{
	(void)p;
	SHOW(prctl(PR_GET_TIMERSLACK));
	SHOW(prctl(PR_SET_TIMERSLACK, 70000));
	SHOW(prctl(PR_GET_TIMERSLACK));
	return NULL;
}

static void slack_child(void)
{
	SHOW(prctl(PR_GET_TIMERSLACK));
	SHOW(prctl(PR_SET_TIMERSLACK, 0));
	SHOW(prctl(PR_GET_TIMERSLACK));
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && argv) {
		printf("after exec %#x\n", (unsigned)personality(0xffffffff));
		SHOW(prctl(PR_GET_TIMERSLACK));
		return 0;
	}
	SHOW(personality(0xffffffff));
	SHOW(personality(ADDR_NO_RANDOMIZE | MMAP_PAGE_ZERO));
	SHOW(personality(0xffffffff));
	SHOW(personality(PER_LINUX32 | UNAME26));
	SHOW(personality(0xffffffff));
	SHOW(personality(0x1234));
	SHOW(personality(0xffffffff));
	SHOW(personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC));
	SHOW(prctl(PR_GET_TIMERSLACK));
	SHOW(prctl(PR_SET_TIMERSLACK, 12345));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	SHOW(prctl(PR_GET_TIMERSLACK));
	in_child(slack_child);
	printf("file %s", get_file("/proc/self/timerslack_ns"));
	fflush(stdout);
	execl("/proc/self/exe", "self", "again", NULL);
	return 1;
}
