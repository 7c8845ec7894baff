/* A filter that denies look-ups denies those too that were answered many times before. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int look(void)
{
	struct stat st;

	return stat("/usr", &st) < 0 ? errno : 0;
}

int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_stat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(f) / sizeof(f[0]), .filter = f };
	int bad = 0, status;

	for (int i = 0; i < 1000; i++)
		bad += look() != 0;
	printf("before: %d bad\n", bad);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("install: %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0));
	bad = 0;
	for (int i = 0; i < 1000; i++)
		bad += look() != EXDEV;
	printf("after: %d bad\n", bad);
	fflush(stdout);
	if (fork() == 0)
		_exit(look() == EXDEV ? 0 : 1);
	wait(&status);
	printf("child: %d\n", status);
	return 0;
}
