/*
 * What seccomp(2) and prctl(PR_SET_SECCOMP) refuse, in which order, and what is asked about them.
 */
#include "seccomp.h"

static long sc(unsigned op, unsigned flags, void *arg)
{
	return syscall(SYS_seccomp, op, flags, arg);
}

static struct sock_filter good[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
static struct sock_filter big[5000];

static void try_prog(const char *what, struct sock_filter *f, unsigned short len)
{
	struct sock_fprog p = { len, f };
	long ret = sc(SECCOMP_SET_MODE_FILTER, 0, &p);

	printf("%s: %ld %s\n", what, ret, ret < 0 ? ename(errno) : "-");
}

#define TRY(what, ...)                                                                              \
	do {                                                                                        \
		struct sock_filter f_[] = { __VA_ARGS__ };                                          \
		try_prog(what, f_, sizeof(f_) / sizeof(f_[0]));                                     \
	} while (0)
#define RET_OK BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void programs(void)
{
	struct sock_fprog p = { 1, (void *)8 };

	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0, &p));
	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0, NULL));
	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0x80, NULL));
	try_prog("empty", good, 0);
	try_prog("too long", big, 4097);
	TRY("no return", BPF_STMT(BPF_LD | BPF_IMM, 1));
	TRY("jump out", BPF_STMT(BPF_JMP | BPF_JA, 1), RET_OK);
	TRY("jump far out", BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), RET_OK);
	TRY("branch out", BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), RET_OK);
	TRY("jump to the end", BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0), RET_OK);
	TRY("half word", BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), RET_OK);
	TRY("unaligned", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RET_OK);
	TRY("behind the data", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RET_OK);
	TRY("indirect", BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), RET_OK);
	TRY("modulo", BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), RET_OK);
	TRY("division by 0", BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RET_OK);
	TRY("shift by 32", BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RET_OK);
	TRY("scratch 16", BPF_STMT(BPF_ST, 16), RET_OK);
	TRY("scratch unwritten", BPF_STMT(BPF_LD | BPF_MEM, 3), RET_OK);
	TRY("return X", BPF_STMT(BPF_RET | BPF_X, 0));
	TRY("all kinds", BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_ST, 1), BPF_STMT(BPF_LDX | BPF_MEM, 1),
	    BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0), BPF_STMT(BPF_ALU | BPF_NEG, 0), BPF_STMT(BPF_MISC | BPF_TAX, 0),
	    BPF_STMT(BPF_MISC | BPF_TXA, 0), BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_A, 0));
}

static void modes(void)
{
	SHOW(prctl(PR_GET_SECCOMP));
	SHOW(prctl(PR_SET_SECCOMP, 0, 0));
	SHOW(prctl(PR_SET_SECCOMP, 3, 0));
	SHOW(sc(77, 0, NULL));
	SHOW(sc(SECCOMP_SET_MODE_STRICT, 1, NULL));
	SHOW(sc(SECCOMP_SET_MODE_STRICT, 0, good));
	struct sock_fprog p = { 1, good };
	SHOW(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p));
	SHOW(prctl(PR_GET_SECCOMP));
	SHOW(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	SHOW(sc(SECCOMP_SET_MODE_STRICT, 0, NULL));
	SHOW(sc(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC, &p));
}

static void actions(void)
{
	static const uint32_t all[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
					SECCOMP_RET_ERRNO,	  SECCOMP_RET_TRACE,	   SECCOMP_RET_LOG,
					SECCOMP_RET_ALLOW,	  0x12340000,		   SECCOMP_RET_ERRNO | 5 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		long ret = sc(SECCOMP_GET_ACTION_AVAIL, 0, (void *)&all[i]);
		printf("action %#x: %ld %s\n", all[i], ret, ret < 0 ? ename(errno) : "-");
	}
	SHOW(sc(SECCOMP_GET_ACTION_AVAIL, 1, (void *)&all[0]));
	SHOW(sc(SECCOMP_GET_ACTION_AVAIL, 0, (void *)8));
}

int main(void)
{
	actions();
	IN_CHILD("programs", programs());
	IN_CHILD("modes", modes());
	if (getuid() == 0)
		CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	struct sock_fprog p = { 1, good };
	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0, &p));
	p.filter = (void *)8;
	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0, &p));
	p.len = 0;
	SHOW(sc(SECCOMP_SET_MODE_FILTER, 0, &p));
	return 0;
}
