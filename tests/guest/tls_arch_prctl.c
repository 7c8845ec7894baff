/*
 * arch_prctl: the FS base is the thread pointer; a GS base set is kept through calls, signals, fork
 * and new threads' own.
 */
#include "guest.h"
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/syscall.h>

static long words[2] = { 0x1234, 0x5678 };

static long gs_word(void)
{
	long v;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(v));
	return v;
}

static void handler(int sig)
{
	(void)sig;
	printf("handler: %#lx\n", gs_word());
}

static void *thread(void *arg)
{
	unsigned long fs = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	printf("thread: fs is its own %d\n", fs == (unsigned long)pthread_self());
	syscall(SYS_arch_prctl, ARCH_SET_GS, &words[1]);
	printf("thread: %#lx\n", gs_word());
	return arg;
}

int main(void)
{
	unsigned long base = 0;
	char *volatile bad = (char *)8;
	pthread_t t;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, handler);
	SHOW(syscall(SYS_arch_prctl, ARCH_GET_FS, &base));
	CHECK(base == (unsigned long)pthread_self());
	SHOW(syscall(SYS_arch_prctl, ARCH_SET_GS, words));
	SHOW(syscall(SYS_arch_prctl, ARCH_GET_GS, &base));
	CHECK(base == (unsigned long)words);
	raise(SIGUSR1);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	printf("main: %#lx\n", gs_word());
	pid_t pid = xfork();
	if (pid == 0)
		_exit(gs_word() == 0x1234 ? 1 : 2);
	show_status("fork", xwait(pid));
	SHOW(syscall(SYS_arch_prctl, ARCH_GET_FS, bad));
	SHOW(syscall(SYS_arch_prctl, ARCH_SET_FS, 1ul << 63));
	SHOW(syscall(SYS_arch_prctl, 0x9999, 0));
	return 0;
}
