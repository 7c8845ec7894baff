/*
 * CLONE_PARENT_SETTID and CHILD_SETTID store the tid before either goes on; CHILD_CLEARTID zeroes
 * it at exit and wakes.
 */
#include "guest.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int main(void)
{
	static int ptid;
	volatile int *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	pid_t pid =
		syscall(SYS_clone,
			CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD,
			NULL, &ptid, shared, NULL);
	if (pid == 0) {
		int good = *shared == syscall(SYS_getpid);
		usleep(50000);
		syscall(SYS_exit_group, good ? 3 : 4);
	}
	CHECK(ptid == pid);
	int status = xwait(pid);
	show_status("child", status);
	/* fork'ed alone in its memory the word is not cleared: nobody else uses that memory. */
	printf("word still the tid %d\n", *shared == pid);
	/* With CLONE_VM it is cleared, and a futex waiter is woken. */
	static char stack[65536] __attribute__((aligned(64)));
	static volatile int tid;
	extern int clone_child(void *);
	pid = clone(clone_child, stack + sizeof(stack),
		    CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, NULL, &tid,
		    NULL, &tid);
	for (int v; (v = tid) != 0;)
		syscall(SYS_futex, &tid, FUTEX_WAIT, v, NULL, NULL, 0);
	printf("cleared\n");
	show_status("child", xwait(pid));
	CHECK(syscall(SYS_set_tid_address, &ptid) == getpid());
	return 0;
}

int clone_child(void *arg)
{
	(void)arg;
	usleep(50000);
	return 6;
}
