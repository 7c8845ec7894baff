/* SA_RESTART, EINTR, siginfo, sigaltstack, setjmp from a handler, a SIGSEGV handler that repairs,
 * stack overflow on an alternate stack, signals to a thread. Prints what happened. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t count, code, value, on_alt;
static sigjmp_buf jump;
static char *page;
static char altstack[65536];

static void counting(int sig, siginfo_t *si, void *uc)
{
	char here;

	(void)sig, (void)uc;
	count++;
	code = si->si_code;
	value = si->si_value.sival_int;
	on_alt = &here >= altstack && &here < altstack + sizeof(altstack);
}

static void repairing(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	count++;
	code = si->si_code;
	if ((char *)si->si_addr == page + 10)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	else
		siglongjmp(jump, 2);
}

static void jumping(int sig)
{
	siglongjmp(jump, sig);
}

static void install(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = f, .sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

/* A child sends sig after 30 ms and a byte after another 60. */
static ssize_t read_interrupted(int sig)
{
	int p[2];
	char c;
	ssize_t n;
	pid_t pid;

	if (pipe(p))
		return -2;
	pid = fork();
	if (!pid) {
		usleep(30000);
		kill(getppid(), sig);
		usleep(60000);
		(void)!write(p[1], "x", 1);
		_exit(0);
	}
	n = read(p[0], &c, 1);
	if (n < 0)
		printf("%s ", errno == EINTR ? "EINTR" : "other");
	waitpid(pid, NULL, 0);
	close(p[0]);
	close(p[1]);
	return n;
}

static int __attribute__((noinline)) deep(volatile char *p)
{
	volatile char big[4096];

	big[0] = *p;
	if (!big[0])
		return 0;
	return deep(big) + big[0];
}

static void *in_thread(void *arg)
{
	(void)arg;
	pthread_kill(pthread_self(), SIGUSR1);
	return NULL;
}

int main(void)
{
	stack_t ss = { .ss_sp = altstack, .ss_size = sizeof(altstack) };
	union sigval v = { .sival_int = 77 };
	pthread_t t;
	int n;

	setvbuf(stdout, NULL, _IONBF, 0);
	install(SIGUSR1, counting, SA_RESTART);
	printf("restart: %zd\n", read_interrupted(SIGUSR1));
	printf("count %d\n", count);
	install(SIGUSR2, counting, 0);
	printf("no restart: %zd\n", read_interrupted(SIGUSR2));
	printf("count %d\n", count);
	sigqueue(getpid(), SIGUSR1, v);
	printf("siginfo: code %d value %d\n", code, value);
	kill(getpid(), SIGUSR1);
	printf("kill: code %d\n", code);
	sigaltstack(&ss, NULL);
	install(SIGUSR1, counting, SA_ONSTACK);
	raise(SIGUSR1);
	printf("altstack: %d code %d\n", on_alt, code);
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	printf("thread: count %d on alt %d\n", count, on_alt);
	signal(SIGALRM, jumping);
	for (int i = 0; i < 3; i++) {
		n = sigsetjmp(jump, 1);
		if (!n) {
			alarm(1 - !!i);
			if (i)
				raise(SIGALRM);
			for (;;)
				pause();
		}
		printf("jumped: %d\n", n);
	}
	page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	install(SIGSEGV, repairing, SA_ONSTACK);
	count = 0;
	page[10] = 5;
	printf("repaired: %d count %d code %d\n", page[10], count, code);
	n = sigsetjmp(jump, 1);
	if (!n)
		*(volatile int *)8 = 1;
	printf("null: %d code %d\n", n, code);
	n = sigsetjmp(jump, 1);
	if (!n)
		deep(&(char){ 1 });
	printf("overflow: %d count %d\n", n, count);
	signal(SIGFPE, jumping);
	n = sigsetjmp(jump, 1);
	if (!n) {
		volatile int zero = 0, result = 7 / zero;

		(void)result;
	}
	printf("division: %d\n", n);
	return 0;
}
