/* Every system call number, with hostile arguments: null, huge, kernel addresses, unaligned,
 * read-only and unreadable memory, pointers into the stub. Each round is a child, whose death is
 * allowed; the cell must live, and answer. usage: sysfuzz [rounds [seed [number]]] */
#include "hostile.h"

static char *ro, *none, *rw, *edge;
static long only = -1;
static volatile long *last; /* shared: what the child did last */

static long hostile_value(void)
{
	static const long fixed[] = { 0, 1, 2, 3, 7, -1, -2, -100, 4095, 4096, 65535, 65536, 0x7fffffff, 0x80000000L,
				      0xffffffffL, 0x100000000L, 0x7fffffffffffffffL, (long)0x8000000000000000L,
				      (long)0xffff888000000000L, (long)0xffffffff81000000L, (long)0xffffffffff600000L,
				      0x7fffffffe000L, 0x800000000000L, 0x7ffffffff000L, 0x1000, 0xfff, STUB_BASE,
				      STUB_BASE + 0x123, STUB_BASE + 0x3001, 0x200000000000L, 0x10000, 0x3fffffff };

	switch (below(10)) {
	case 0:
	case 1:
	case 2:
		return fixed[below(sizeof(fixed) / sizeof(fixed[0]))];
	case 3:
		return (long)below(32);
	case 4:
		return (long)(rw + below(4096));
	case 5:
		return (long)(ro + below(64) * 8);
	case 6:
		return (long)(none + below(4096));
	case 7:
		return (long)(edge - below(64));
	case 8:
		return (long)rnd();
	default:
		return (long)(1UL << below(64));
	}
}

static long hostile_number(void)
{
	if (only >= 0)
		return only;
	switch (below(13)) {
	case 0:
		return HC_BASE + (long)below(HC_LAST - HC_BASE + 2);
	case 1:
		return (long)(rnd() & 0x7fffffff);
	case 3: /* without the trap that it stands for */
		return HC_FORWARD + (long)below(below(8) ? 470 : HC_BASE);
	case 2:
		return below(2) ? -1 : (long)((rnd() << 32) | below(601));
	default:
		return (long)below(601);
	}
}

/* Those end the child or block it for ever, and would only waste rounds. */
static int is_dull(long nr)
{
	switch ((int)(nr >= HC_FORWARD && nr < HC_FORWARD_END ? nr - HC_FORWARD : nr)) {
	case SYS_exit_group:
	case SYS_exit:
	case SYS_pause:
	case SYS_rt_sigreturn:
	case SYS_vfork:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_arch_prctl:
	case 335: /* uretprobe: SIGILL, past every filter */
	case 336:
	case HC_EXEC_BOOT:
	case HC_CLONE_PREP: /* a child that never comes is waited for, at every unknown number */
		return below(20) != 0;
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_execveat:
		return below(10) != 0;
	}
	return 0;
}

static void round_(void *arg)
{
	long me = getpid();

	(void)arg;
	/* Files to work on; the ends of pipes block, so the round has a clock. */
	for (int i = 0; i < 8; i++) {
		int p[2];

		(void)!open(i & 1 ? "/tmp" : "/tmp/f", i & 1 ? O_RDONLY : O_RDWR | O_CREAT, 0600);
		(void)!pipe2(p, O_NONBLOCK);
	}
	(void)!RAW(SYS_epoll_create1, 0);
	(void)!RAW(SYS_eventfd2, 0, O_NONBLOCK);
	(void)!RAW(SYS_memfd_create, "m", 3);
	(void)!RAW(SYS_timerfd_create, 1, O_NONBLOCK);
	ualarm(300000, 0);
	for (int i = 0; i < 400; i++) {
		long nr = hostile_number();
		int same = getpid() == me;

		if (!same)
			_exit(0); /* a child of a clone that worked */
		if (is_dull(nr))
			continue;
		*last = nr;
		last[1]++;
		raw(nr, hostile_value(), hostile_value(), hostile_value(), hostile_value(), hostile_value(),
		    below(4) ? hostile_value() : (long)STUB_MAGIC);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60;
	int killed = 0, died = 0, refused = 0;
	double start = seconds();

	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	if (argc > 3)
		only = strtol(argv[3], NULL, 0);
	last = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rw = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	edge = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
	munmap(edge, 4096);
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < rounds; i++) {
		int st;

		seed_state = (base + (uint64_t)i * 2654435761u) * 0x9e3779b97f4a7c15ull | 1;
		for (int j = 0; j < 8; j++)
			rnd();
		memset(rw, (int)below(3) * 0x55, 8192);
		strcpy(rw + 512 * below(8), below(2) ? "/tmp/x" : "../../../../proc/self/fd/3");
		st = in_child(round_, NULL, 1500);
		killed += st == -1;
		refused += st == -2;
		died += st > 0;
		if (st > 0 && getenv("VERBOSE"))
			fprintf(stderr, "# round %d: status %#x after call %ld\n", i, st, *last);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	check(refused < rounds, "%d rounds of hostile calls", rounds);
	check(cell_is_well(), "the kernel answers afterwards");
	fprintf(stderr, "# %d rounds, %ld calls: %d died, %d killed, %d not started, %.1f s\n", rounds, last[1], died, killed, refused,
		seconds() - start);
	return done();
}
