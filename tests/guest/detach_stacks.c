/*
 * Threads that wait for long with next to no stack left, before a page that cannot be touched; on
 * an alternate stack; and with one. On the host a call that waits takes no stack.
 */
#include "detach.h"
#include <sys/mman.h>

#define N 60
static int p[2];
static char *area[N];
static int left;

/* Reads with the stack pointer where it is told to be. */
static long read_at(int fd, void *buf, char *sp)
{
	long ret;
	volatile long nr = SYS_read;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[sp], %%rsp\n\t"
			 "syscall\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(ret)
			 : "a"(nr), "D"((long)fd), "S"(buf), "d"(1L), [sp] "r"(sp)
			 : "rbx", "rcx", "r11", "memory");
	return ret;
}

static void narrow(struct blocked *b)
{
	/* One page to be used, one that cannot; from 64 bytes to the whole page is left. */
	static char bufs[N];
	long room = 64 + b->i * 64;

	b->tid = gettid();
	b->ret = read_at(p[0], &bufs[b->i], area[b->i] + 4096 + room);
	__sync_fetch_and_add(&left, bufs[b->i] == 'x');
}

static void with_altstack(struct blocked *b)
{
	static char alt[4][65536];
	stack_t ss = { .ss_sp = alt[b->i], .ss_size = sizeof(alt[0]) }, now;
	char c = 0;

	sigaltstack(&ss, NULL);
	b->tid = gettid();
	b->ret = read(p[0], &c, 1) == 1 && c == 'x';
	sigaltstack(NULL, &now);
	b->ret += now.ss_sp == ss.ss_sp && now.ss_flags == 0;
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
}

static void feed(int n)
{
	char x[N];

	memset(x, 'x', sizeof(x));
	if (write(p[1], x, (size_t)n) != n)
		exit(99);
}

int main(void)
{
	static struct blocked b[N], a[4];
	int good = 0, kept = 0;

	alarm(28);
	if (pipe(p))
		return 99;
	crowd_start();
	for (int i = 0; i < N; i++) {
		area[i] = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		mprotect(area[i], 4096, PROT_NONE);
		memset(area[i] + 4096, i + 1, 4096);
		blocked_start(&b[i], i, 64 << 10, narrow);
	}
	for (int i = 0; i < N; i++)
		blocked_await(&b[i]);
	make_calls();
	make_calls();
	feed(N);
	for (int i = 0; i < N; i++) {
		pthread_join(b[i].thread, NULL);
		good += b[i].ret == 1;
		/* What lies above the stack pointer is nobody's business. */
		for (int j = 64 + i * 64; j < 4096; j++)
			if (area[i][4096 + j] != i + 1) {
				kept--;
				break;
			}
		kept++;
	}
	printf("narrow stacks: %d of %d read, %d intact, %d bytes\n", good, N, kept, left);
	for (int i = 0; i < 4; i++)
		blocked_start(&a[i], i, 64 << 10, with_altstack);
	for (int i = 0; i < 4; i++)
		blocked_await(&a[i]);
	make_calls();
	feed(4);
	for (int i = 0; i < 4; i++) {
		pthread_join(a[i].thread, NULL);
		printf("alternate stack: %ld\n", a[i].ret);
	}
	crowd_end();
	return 0;
}
