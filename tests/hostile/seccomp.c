/* A program that has put itself behind a seccomp filter and is then taken over: its code knows the stub, its mark and its numbers.
 * What names a resource must stay behind the filter. Children may die. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "hostile.h"

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
	char buf[STUB_FILTER_ROOM];
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

int main(void)
{
	check(in_child(marked_calls, (void *)(long)getpid(), 2000) == 0, "marked calls stay behind the filter");
	check(in_child(hyper_calls, NULL, 2000) == 0, "so do the stub's questions");
	check(access("/tmp/escaped", F_OK) < 0, "nothing was made");
	check(in_child(garbage, NULL, 20000) == 0, "programs that are none");
	check(in_child(crowd, NULL, 20000) == 0, "long filters, up to the limit");
	check(cell_is_well(), "the kernel goes on");
	return done();
}
