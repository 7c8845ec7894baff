/* What a Go runtime does, without a C library: threads by a raw clone with Go's flags on stacks of
 * its own, futexes between them, sigaltstack and rt_sigaction with a restorer, vfork+execve by
 * hand. */
#define SYS_read 0
#define SYS_write 1
#define SYS_mmap 9
#define SYS_rt_sigaction 13
#define SYS_clone 56
#define SYS_vfork 58
#define SYS_execve 59
#define SYS_exit 60
#define SYS_wait4 61
#define SYS_gettid 186
#define SYS_futex 202
#define SYS_tgkill 234
#define SYS_exit_group 231
#define SYS_getpid 39
#define SYS_sigaltstack 131
#define SYS_rt_sigprocmask 14

/* CLONE_VM|FS|FILES|SIGHAND|SYSVSEM|THREAD: cloneFlags of Go's runtime/os_linux.go */
#define GO_FLAGS (0x100 | 0x200 | 0x400 | 0x800 | 0x40000 | 0x10000)
#define THREADS 8

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static void say(const char *s)
{
	long n = 0;

	while (s[n])
		n++;
	call(SYS_write, 1, (long)s, n, 0, 0, 0);
}

static void number(long v)
{
	char b[24];
	int i = 23;

	b[i--] = 0;
	do {
		b[i--] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	say(b + i + 1);
	say("\n");
}

static int started, finished, total;
static volatile int caught;

static void thread(void)
{
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	call(SYS_futex, (long)&started, 129, 100, 0, 0, 0);
	while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < THREADS)
		call(SYS_futex, (long)&started, 128, __atomic_load_n(&started, __ATOMIC_SEQ_CST), 0, 0, 0);
	call(SYS_futex, (long)&started, 129, 100, 0, 0, 0);
	for (int i = 0; i < 1000; i++)
		__atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
	call(SYS_futex, (long)&finished, 129, 1, 0, 0, 0);
	call(SYS_exit, 0, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static long clone_go(void *stack)
{
	long ret;

	__asm__ volatile("mov %[stack], %%rsi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%[fn]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(ret)
			 : "a"((long)SYS_clone), "D"((long)GO_FLAGS), [stack] "r"(stack), [fn] "b"(thread)
			 : "rcx", "r11", "rsi", "rdx", "r10", "r8", "memory");
	return ret;
}

__asm__(".globl restorer\nrestorer: mov $15, %eax\n syscall\n");
extern void restorer(void);

static void handler(int sig)
{
	caught = sig;
}

/* A vfork whose child runs on the parent's stack: the return address is kept in a register. */
__asm__(".globl vfork_raw\nvfork_raw: pop %rdi\n mov $58, %eax\n syscall\n push %rdi\n ret\n");
extern long vfork_raw(void);

void start_c(void);
void start_c(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} sa = { handler, 0x04000000 | 0x08000000 | 0x10000000, restorer, ~0UL };
	struct {
		void *sp;
		int flags;
		unsigned long size;
	} alt;
	char *const argv[] = { "sh", "-c", "echo from vfork; exit 5", 0 };
	char *const envp[] = { "PATH=/bin:/usr/bin", 0 };
	unsigned long all = ~0UL, none = 0;
	int status = 0;
	long pid;

	alt.sp = (void *)call(SYS_mmap, 0, 32768, 3, 0x22, -1, 0);
	alt.flags = 0;
	alt.size = 32768;
	number(call(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0));
	number(call(SYS_rt_sigaction, 23, (long)&sa, 0, 8, 0, 0));
	/* Go blocks everything around a clone. */
	call(SYS_rt_sigprocmask, 2, (long)&all, 0, 8, 0, 0);
	for (int i = 0; i < THREADS; i++) {
		char *stack = (char *)call(SYS_mmap, 0, 65536, 3, 0x22, -1, 0);

		if (clone_go(stack + 65536) < 0)
			say("clone failed\n");
	}
	call(SYS_rt_sigprocmask, 2, (long)&none, 0, 8, 0, 0);
	for (int n; (n = __atomic_load_n(&finished, __ATOMIC_SEQ_CST)) < THREADS;)
		call(SYS_futex, (long)&finished, 128, n, 0, 0, 0);
	number(total);
	call(SYS_tgkill, call(SYS_getpid, 0, 0, 0, 0, 0, 0), call(SYS_gettid, 0, 0, 0, 0, 0, 0), 23, 0, 0, 0);
	number(caught);
	pid = vfork_raw();
	if (!pid) {
		call(SYS_execve, (long)"/bin/sh", (long)argv, (long)envp, 0, 0, 0);
		call(SYS_exit, 99, 0, 0, 0, 0, 0);
	}
	number(call(SYS_wait4, pid, (long)&status, 0, 0, 0, 0) == pid);
	number(status >> 8);
	call(SYS_exit_group, 3, 0, 0, 0, 0, 0);
}
__asm__(".globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call start_c\n hlt\n");
