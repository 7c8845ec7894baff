/* A program that has put itself behind a seccomp filter and is then taken over: its code knows the
 * stub, its mark and its numbers. What names a resource must stay behind the filter. Children may
 * die. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "hostile.h"

#include "../../src/stub/fast.h"

/* Everything gives EPERM but writing, ending, and waiting. */
static void sandbox(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (RAW(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		_exit(2);
}

static const char *bad;
#define NEVER(call)                            \
	do {                                   \
		long ret_ = (call);            \
		if (ret_ >= 0 && !bad)         \
			bad = #call;           \
	} while (0)

static int verdict(void)
{
	if (bad) {
		(void)!write(1, bad, strlen(bad));
		(void)!write(1, " worked\n", 8);
	}
	return bad ? 1 : 0;
}

static void marked_calls(void *arg)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };
	char info[128] = { 0 };

	(void)arg;
	sandbox();
	NEVER(MARKED(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0, 0));
	NEVER(MARKED(SYS_mkdir, "/tmp/escaped", 0700, 0, 0, 0));
	NEVER(MARKED(SYS_socket, 1, 1, 0, 0, 0));
	NEVER(MARKED(SYS_kill, getppid(), 0, 0, 0, 0));
	NEVER(MARKED(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
	NEVER(MARKED(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0));
	NEVER(MARKED(SYS_rt_sigqueueinfo, 1, SIGUSR1, info, 0, 0));
	NEVER(MARKED(SYS_rt_sigqueueinfo, (long)arg, 0, info, 0, 0));
	NEVER(MARKED(SYS_rt_tgsigqueueinfo, (long)arg, (long)arg, 0, info, 0));
	NEVER(MARKED(SYS_execve, "/bin/true", 0, 0, 0, 0));
	NEVER(MARKED(SYS_fork, 0, 0, 0, 0, 0));
	NEVER(MARKED(SYS_close_range, 0, 100, 0, 0, 0));
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0, 0, 0));
	(void)sa;
	_exit(verdict());
}

static void hyper_calls(void *arg)
{
	struct stub_call c = { .nr = SYS_execve };
	char buf[4096];
	long token;

	(void)arg;
	sandbox();
	NEVER(RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0));
	NEVER(RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD));
	NEVER(RAW(HC_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE, 0, 0));
	NEVER(RAW(HC_SHMAT, 0, 0, 0, buf));
	NEVER(RAW(HC_SECCOMP_DONE, 1));
	/* A question about a call that is allowed is no leave for another. */
	c.nr = SYS_write;
	RAW(HC_SECCOMP_ASK, &c);
	NEVER(RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0));
	c.nr = SYS_execve;
	if (RAW(HC_SECCOMP_ASK, &c) != (SECCOMP_RET_ERRNO | EPERM))
		bad = "asking about execve";
	NEVER(RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0));
	token = RAW(HC_CLONE_PREP, 0x8000 | SIGCHLD, SIGCHLD);
	NEVER(token);
	/* Taking the filter back: only what was never installed can be. */
	struct sock_filter ok[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog p = { 1, ok };
	RAW(HC_SECCOMP, SECCOMP_SET_MODE_FILTER, 0, &p, buf);
	RAW(HC_SECCOMP_DONE, 1);
	RAW(HC_SECCOMP_DONE, 1);
	RAW(HC_SECCOMP_DONE, 1);
	NEVER(RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0));
	c.nr = SYS_execve;
	if (RAW(HC_SECCOMP_ASK, &c) != (SECCOMP_RET_ERRNO | EPERM))
		bad = "asking about execve, afterwards";
	_exit(verdict());
}

/* Programs and buffers that are no programs and no buffers. */
static void garbage(void *arg)
{
	static struct sock_filter f[4096];
	struct sock_fprog p = { 0, f };

	(void)arg;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int round = 0; round < 3000; round++) {
		unsigned n = 1 + (unsigned)below(round % 10 ? 8 : 4096);

		for (unsigned i = 0; i < n; i++)
			f[i] = (struct sock_filter){ (uint16_t)below(0x100), (uint8_t)below(4), (uint8_t)below(4),
						     (uint32_t)(below(2) ? below(70) : rnd()) };
		f[n - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		p.len = (unsigned short)n;
		RAW(HC_SECCOMP, SECCOMP_SET_MODE_FILTER, below(64), &p, below(2) ? (long)f : (long)rnd());
		RAW(HC_SECCOMP_DONE, 1);
		RAW(HC_SECCOMP_ASK, below(4) ? (long)f : (long)rnd());
	}
	_exit(0);
}

/* As many and as long as there is room for. */
static void crowd(void *arg)
{
	static struct sock_filter f[4000];
	struct sock_fprog p = { 4000, f };
	long n = 0;

	(void)arg;
	for (int i = 0; i < 3999; i++)
		f[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[3999] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	while (n < 100 && RAW(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0)
		n++;
	for (int i = 0; i < 200; i++)
		if (fork() == 0)
			_exit(0);
	_exit(n > 2 && n < 9 ? 0 : 1);
}

__attribute__((noinline)) static long one_place(long nr, const char *path)
{
	return RAW(nr, AT_FDCWD, path, 0);
}

/* Numbers that stand for others: the filter refuses two calls, and everything that is not a call on
 * Linux passes it. */
static void other_numbers(void *arg)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	(void)arg;
	for (int i = 0; i < 5000; i++) /* often enough for the kernel to remember the place */
		if (one_place(SYS_faccessat, "/etc/passwd") != 0)
			bad = "faccessat, before,";
	if (RAW(HC_FORWARD + SYS_getppid) != getppid())
		bad = "a forwarded call of no filter is refused, and";
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (RAW(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		_exit(2);
	if (one_place(SYS_faccessat, "/etc/passwd") != -EXDEV || RAW(SYS_socket, 1, 1, 0) != -EXDEV)
		bad = "the filter does not";
	NEVER(RAW(HC_FORWARD + SYS_socket, 1, 1, 0));
	NEVER(RAW(HC_FORWARD + SYS_faccessat, AT_FDCWD, "/etc/passwd", 0));
	NEVER(one_place(HC_FORWARD + SYS_faccessat, "/etc/passwd"));
	NEVER(one_place(0x10000, "/etc/passwd"));
	NEVER(one_place(0x10000 | SYS_faccessat, "/etc/passwd"));
	if (RAW(SYS_socketpair, 1, 1, 0, (long[1]){ 0 }) != 0)
		bad = "socketpair is refused, and";
	_exit(verdict());
}

/* The host's own programs for what it logs, by the stub's mark and without a question, or with one
 * that was about another. */
static void raw_filters(void *arg)
{
	struct sock_filter log[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG) };
	struct sock_filter fine[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog p = { 1, log }, q = { 1, fine };
	long slot;

	(void)arg;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p, 0, 0));
	for (int i = 0; i < FILTER_SLOTS; i++)
		NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, FILTER_BASE + i * FILTER_ROOM, 0, 0));
	slot = RAW(HC_SECCOMP, SECCOMP_SET_MODE_FILTER, 0, &q);
	if (slot < 1 || slot > FILTER_SLOTS)
		bad = "no slot";
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p, 0, 0));
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1, FILTER_BASE + (slot - 1) * FILTER_ROOM, 0, 0));
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, FILTER_BASE + slot % FILTER_SLOTS * FILTER_ROOM, 0, 0));
	if (MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, FILTER_BASE + (slot - 1) * FILTER_ROOM, 0, 0) != 0)
		bad = "the right one is refused, and";
	/* Once. */
	NEVER(MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, FILTER_BASE + (slot - 1) * FILTER_ROOM, 0, 0));
	_exit(verdict());
}

/* The memory that the host reads a program from is replaced, made writable, or left out of a
 * child. */
static void other_memory(void *arg)
{
	static char page[4096] __attribute__((aligned(4096)));
	unsigned long base = FILTER_BASE, size = FILTER_SIZE;
	volatile char *there = (char *)base;
	int status;

	(void)arg;
	if (MARKED(462 /* mseal */, page, 4096, 0, 0, 0) == -ENOSYS)
		_exit(7);
	for (unsigned long at = base; at < base + size; at += 4096) {
		NEVER(RAW(SYS_mprotect, at, 4096, PROT_READ | PROT_WRITE));
		NEVER(RAW(SYS_munmap, at, 4096));
		NEVER(RAW(SYS_mmap, at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		NEVER(RAW(SYS_mremap, at, 4096, 4096, 3 /* MAYMOVE, FIXED */, 0x500000000000));
		NEVER(RAW(SYS_mremap, page, 4096, 4096, 3, at));
		NEVER(RAW(SYS_pkey_mprotect, at, 4096, PROT_READ | PROT_WRITE, 0));
		NEVER(RAW(SYS_madvise, at, 4096, MADV_DONTFORK));
		NEVER(MARKED(SYS_madvise, at, 4096, MADV_DONTFORK, 0, 0));
		NEVER(RAW(SYS_madvise, at, 4096, MADV_WIPEONFORK));
		NEVER(RAW(SYS_madvise, at, 4096, MADV_REMOVE));
	}
	NEVER(RAW(SYS_munmap, base - 4096, 8192));
	NEVER(RAW(SYS_munmap, STUB_BASE, 0x10000000000));
	NEVER(RAW(SYS_madvise, STUB_BASE, 0x10000000000, MADV_DONTFORK));
	NEVER(RAW(SYS_madvise, base - 4096, 8192, MADV_DONTFORK));
	NEVER(RAW(SYS_madvise, 0, base + 4096, MADV_DONTFORK));
	RAW(SYS_madvise, FAST_BASE, FAST_SIZE - FILTER_SIZE, MADV_DONTFORK);
	if (fork() == 0) {
		for (unsigned long at = 0; at < size; at += 4096)
			(void)there[at];
		_exit(RAW(SYS_mmap, base, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000 /* NOREPLACE */, -1, 0) != -EEXIST);
	}
	wait(&status);
	if (status)
		bad = "in a child, another mapping";
	_exit(verdict());
}

/* Many processes with as many instructions as each may have: the host's budget is everybody's. */
#define HOARDERS 40
static long hoard(void)
{
	static struct sock_filter f[4000];
	struct sock_fprog p = { 4000, f };
	int pipes[2];
	pid_t child[HOARDERS];
	long n = 0, one;

	for (int i = 0; i < 3999; i++)
		f[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[3999] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (pipe(pipes) < 0)
		return -1;
	for (int i = 0; i < HOARDERS; i++)
		if ((child[i] = fork()) == 0) {
			for (one = 0; one < 100 && RAW(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0;)
				one++;
			(void)!write(pipes[1], &one, sizeof(one));
			for (;;)
				pause();
		}
	for (int i = 0; i < HOARDERS; i++)
		n += read(pipes[0], &one, sizeof(one)) == sizeof(one) ? one : 1000;
	for (int i = 0; i < HOARDERS; i++)
		kill(child[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	close(pipes[0]);
	close(pipes[1]);
	return n;
}

static void hoarders(void *arg)
{
	long n[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		n[i] = hoard();
	printf("# %ld, %ld, %ld programs of 4000 instructions\n", n[0], n[1], n[2]);
	_exit(n[0] > 8 && n[0] < 70 && n[1] > 8 && n[2] > 8 && n[1] < 70 && n[2] < 70 ? 0 : 1);
}

int main(void)
{
	int status;

	check(in_child(marked_calls, (void *)(long)getpid(), 2000) == 0, "marked calls stay behind the filter");
	check(in_child(hyper_calls, NULL, 2000) == 0, "so do the stub's questions");
	check(access("/tmp/escaped", F_OK) < 0, "nothing was made");
	check(in_child(garbage, NULL, 20000) == 0, "programs that are none");
	check(in_child(crowd, NULL, 20000) == 0, "long filters, up to the limit");
	check(in_child(other_numbers, NULL, 20000) == 0, "numbers that stand for others are judged as those");
	check(in_child(raw_filters, NULL, 5000) == 0, "only a program that the kernel wrapped, once");
	status = in_child(other_memory, NULL, 20000);
	check(status == 0 || status == 7 << 8, "nothing else is where the host reads it%s", status ? " (not on this host: no mseal)" : "");
	check(in_child(hoarders, NULL, 60000) == 0, "a cell has its share of the host's budget");
	check(cell_is_well(), "the kernel goes on");
	return done();
}
