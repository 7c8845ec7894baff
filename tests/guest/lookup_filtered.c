/* A seccomp filter sees look-ups that were made many times before it: of the caller, of its other
 * thread, of its child. */
#include "guest.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/syscall.h>

static void look(const char *who)
{
	int good = 0, err = 0, open_err = 0;
	struct stat st;

	for (int i = 0; i < 20; i++) {
		int fd;

		if (stat("file", &st) == 0)
			good++;
		else
			err = errno;
		fd = open("none", O_RDONLY);
		open_err = fd < 0 ? errno : 0;
	}
	printf("%s: %d good, %s; open %s\n", who, good, ename(err), ename(open_err));
}

static pthread_barrier_t barrier;
static void *other(void *arg)
{
	(void)arg;
	look("thread");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	look("thread, after");
	return NULL;
}

int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMLINK),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };
	pthread_t t;

	/* newfstatat on the standard output is not to fail in printf. */
	printf("begin\n");
	put_file("file", "x");
	for (int i = 0; i < 3; i++)
		look("first");
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, other, NULL);
	pthread_barrier_wait(&barrier);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	SHOW(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p));
	look("filtered");
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	pid_t pid = xfork();
	if (pid == 0) {
		look("child");
		fflush(stdout);
		_exit(0);
	}
	xwait(pid);
	unlink("file");
	return 0;
}
