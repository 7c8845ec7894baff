/*
 * A process with many threads that have waited for long ends, in each of the ways there are, or
 * runs another program.
 */
#include "detach.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>

static int how, ready[2];

static void *execs(void *arg)
{
	(void)arg;
	task_await(getpid(), getpid());
	make_calls();
	if (how == 4)
		execl("/bin/sh", "sh", "-c", "exit 44", NULL);
	else
		syscall(SYS_exit_group, 55);
	return NULL;
}

static void child(void)
{
	pthread_t t;
	char c = 0;

	crowd_start();
	make_calls();
	if (write(ready[1], &c, 1) != 1)
		_exit(98);
	switch (how) {
	case 0:
		_exit(11);
	case 1:
		abort();
	case 2: /* SIGKILL */
	case 3: /* SIGTERM */
		for (;;)
			pause();
	case 4:
	case 5:
		pthread_create(&t, NULL, execs, NULL);
		for (;;)
			pause();
	case 6:
		execl("/bin/sh", "sh", "-c", "exit 66", NULL);
		break;
	case 7:
		*(volatile int *)8 = 1;
		break;
	default:
		pthread_exit(NULL); /* and the others are ended by their parent */
	}
	_exit(97);
}

/* A filter of its own, that allows nothing but what is needed, and never pause. */
static void filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pause, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 71),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(96);
	crowd_start();
	make_calls();
	long uid = syscall(SYS_getuid);
	printf("getuid %ld %s\n", uid, ename(errno));
	crowd_end();
}

/* vfork: the child shares our memory and waits for long while we wait for it. */
static void vforked(void)
{
	int p[2], q[2];
	pid_t pid;

	if (pipe(p) || pipe(q))
		_exit(99);
	crowd_start();
	pid = xfork(); /* it feeds the other one */
	if (pid == 0) {
		char c;

		close(q[1]);
		task_await(getppid(), getppid());
		make_calls();
		if (write(p[1], "x", 1) != 1)
			_exit(1);
		_exit(read(q[0], &c, 1) != 0);
	}
	pid_t v = vfork();
	if (v == 0) {
		char c;

		_exit(read(p[0], &c, 1) == 1 && c == 'x' ? 7 : 8);
	}
	show_status("vfork's child", xwait(v));
	close(q[1]);
	show_status("the other", xwait(pid));
	crowd_end();
}

int main(void)
{
	static const char *const names[] = { "exit",
					     "abort",
					     "SIGKILL",
					     "SIGTERM",
					     "exec in a thread",
					     "exit_group in a thread",
					     "exec",
					     "fault",
					     "last threads" };
	char c;

	alarm(28);
	for (how = 0; how < 9; how++) {
		if (pipe(ready))
			return 99;
		pid_t pid = xfork();
		if (pid == 0)
			child();
		if (read(ready[0], &c, 1) != 1)
			printf("not ready\n");
		if (how == 2 || how == 3 || how == 8) {
			make_calls();
			kill(pid, how == 2 ? SIGKILL : SIGTERM);
		}
		show_status(names[how], xwait(pid));
		close(ready[0]), close(ready[1]);
	}
	show_status("filtered", in_child(filtered));
	show_status("vfork", in_child(vforked));
	return 0;
}
