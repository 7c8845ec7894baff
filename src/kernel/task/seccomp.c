/* Seccomp filters of guests: the classic BPF of seccomp, and what is done to it before the host
 * gets it.
 *
 * The host runs every filter of a runner, ours and the guest's, and takes the strictest answer. So
 * a guest's filter cannot weaken ours; what does not fit is put right here:
 *   the stub's calls     would be judged as if the program made them: a prefix lets them
 *                        through, by their marks and numbers only;
 *   KILL_THREAD          ends a thread without our hearing of it: becomes a trap, and the stub
 *                        asks;
 *   TRACE                is weaker than our "notify": becomes a notification without a listener,
 *                        ENOSYS like a tracer that is not there;
 *   LOG                  would write into the host's log: becomes ALLOW.
 * For calls that our own filter traps the host's answer is ours alone; there the stub asks, and the
 * copy kept here is run. */
#include "kernel/task/seccomp.h"

#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "base/ref.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define FILTERS_MAX 16384
#define PENALTY 4
#define SCRATCH BPF_MEMWORDS

uint32_t seccomp_alive, seccomp_dropped;

OBJ_TYPE(filter_type, struct seccomp_filter, FILTERS_MAX);

/* What the stub calls natively or asks with its mark. Each is harmless from a guest that has a
 * filter (seccomp_may_ask() sees to those that reach us). */
static const uint16_t stub_calls[] = {
	SYS_close,	   SYS_mprotect,	SYS_munmap,
	SYS_rt_sigaction,  SYS_rt_sigprocmask,	SYS_rt_sigreturn,
	SYS_getpid,	   SYS_clone,		SYS_exit,
	SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo,
	SYS_rt_sigsuspend, SYS_sigaltstack,	SYS_prctl,
	SYS_gettid,	   SYS_clock_gettime,	SYS_exit_group,
	SYS_ppoll,	   SYS_epoll_pwait,	SYS_rt_tgsigqueueinfo,
	SYS_seccomp,	   SYS_execveat,	441 /* epoll_pwait2 */,
	SYS_madvise,	   SYS_sched_yield,	SYS_membarrier,
	SYS_pause,	   462 /* mseal */,
};

static bool insn_is_known(const struct sock_filter *f)
{
	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return f->k < sizeof(struct seccomp_data) && (f->k & 3) == 0;
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
	case BPF_ALU | BPF_ADD | BPF_K:
	case BPF_ALU | BPF_ADD | BPF_X:
	case BPF_ALU | BPF_SUB | BPF_K:
	case BPF_ALU | BPF_SUB | BPF_X:
	case BPF_ALU | BPF_MUL | BPF_K:
	case BPF_ALU | BPF_MUL | BPF_X:
	case BPF_ALU | BPF_DIV | BPF_X:
	case BPF_ALU | BPF_AND | BPF_K:
	case BPF_ALU | BPF_AND | BPF_X:
	case BPF_ALU | BPF_OR | BPF_K:
	case BPF_ALU | BPF_OR | BPF_X:
	case BPF_ALU | BPF_XOR | BPF_K:
	case BPF_ALU | BPF_XOR | BPF_X:
	case BPF_ALU | BPF_LSH | BPF_X:
	case BPF_ALU | BPF_RSH | BPF_X:
	case BPF_ALU | BPF_NEG:
		return true;
	case BPF_ALU | BPF_DIV | BPF_K:
		return f->k != 0;
	case BPF_ALU | BPF_LSH | BPF_K:
	case BPF_ALU | BPF_RSH | BPF_K:
		return f->k < 32;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return f->k < SCRATCH;
	default:
		return false;
	}
}

static bool is_jump(uint16_t code)
{
	switch (code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JEQ | BPF_X:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_X:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_X:
	case BPF_JMP | BPF_JSET | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_X:
		return true;
	default:
		return false;
	}
}

bool seccomp_check(const struct sock_filter *f, uint32_t len)
{
	if (len == 0 || len > SECCOMP_INSNS_MAX || BPF_CLASS(f[len - 1].code) != BPF_RET)
		return false;
	for (uint32_t i = 0; i < len; i++) {
		uint32_t left = len - i - 1; /* a jump by this many leaves the program */

		if (f[i].code == (BPF_JMP | BPF_JA)) {
			if (f[i].k >= left)
				return false;
		} else if (is_jump(f[i].code)) {
			if (f[i].jt >= left || f[i].jf >= left)
				return false;
		} else if (!insn_is_known(&f[i])) {
			return false;
		}
	}
	return true;
}

static uint32_t alu(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default: /* BPF_NEG */
		return -a;
	}
}

static bool jump_is_taken(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default: /* BPF_JSET */
		return a & b;
	}
}

uint32_t seccomp_run(const struct sock_filter *f, uint32_t len, const struct seccomp_data *d)
{
	uint32_t a = 0, x = 0, mem[SCRATCH] = { 0 };

	/* Every jump goes forward: no more steps than instructions. */
	for (uint32_t pc = 0; pc < len;) {
		const struct sock_filter *i = &f[pc++];
		uint32_t operand = BPF_SRC(i->code) == BPF_X ? x : i->k, *to;

		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
		case BPF_LDX:
			to = BPF_CLASS(i->code) == BPF_LD ? &a : &x;
			if (BPF_MODE(i->code) == BPF_ABS)
				memcpy(to, (const char *)d + i->k, sizeof(*to));
			else if (BPF_MODE(i->code) == BPF_LEN)
				*to = sizeof(*d);
			else
				*to = BPF_MODE(i->code) == BPF_MEM ? mem[i->k] : i->k;
			break;
		case BPF_ST:
			mem[i->k] = a;
			break;
		case BPF_STX:
			mem[i->k] = x;
			break;
		case BPF_ALU:
			a = alu(BPF_OP(i->code), a, operand);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				pc += i->k;
			else
				pc += jump_is_taken(BPF_OP(i->code), a, operand) ? i->jt : i->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(i->code) == BPF_A ? a : i->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(i->code) == BPF_TAX)
				x = a;
			else
				a = x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

uint32_t seccomp_judge(const struct seccomp_filter *f, const struct seccomp_data *d)
{
	uint32_t ret = SECCOMP_RET_ALLOW;

	for (; f; f = f->prev) {
		uint32_t one = seccomp_run(f->insns, f->len, d);

		if ((int32_t)(one & SECCOMP_RET_ACTION_FULL) <
		    (int32_t)(ret & SECCOMP_RET_ACTION_FULL))
			ret = one;
	}
	return ret;
}

/* ---- for the host ---- */

#define ARG_LO(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HI(n) (ARG_LO(n) + 4)
#define LOAD(off) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(off)))
#define IF_EQ(k, yes, no) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), yes, no))
#define IF_GE(k, yes, no) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(k), yes, no))
#define RETURN(k) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (uint32_t)(k)))

static uint32_t prefix(struct sock_filter *out)
{
	uint32_t n = 0, first;

	out[n++] = LOAD(offsetof(struct seccomp_data, nr));
	out[n++] = IF_GE(HC_BASE, 0, 2);
	out[n++] = IF_GE(HC_FORWARD_END, 1, 0); /* a forwarded call is judged by us */
	out[n++] = RETURN(SECCOMP_RET_ALLOW);
	out[n++] = IF_EQ(SYS_mmap, 0, 3);
	out[n++] = LOAD(ARG_HI(4));
	out[n++] = IF_EQ(STUB_MAP_HI >> 32, 0, 1);
	out[n++] = RETURN(SECCOMP_RET_ALLOW);
	/* The mark, then one of the numbers. */
	out[n++] = LOAD(ARG_HI(5));
	out[n++] = IF_EQ(STUB_MAGIC >> 32, 0, 3 + ARRAY_LEN(stub_calls) + 1);
	out[n++] = LOAD(ARG_LO(5));
	out[n++] = IF_EQ(STUB_MAGIC & 0xffffffff, 0, 1 + ARRAY_LEN(stub_calls) + 1);
	out[n++] = LOAD(offsetof(struct seccomp_data, nr));
	first = n;
	for (uint32_t i = 0; i < ARRAY_LEN(stub_calls); i++, n++) {
		bool last = i + 1 == ARRAY_LEN(stub_calls);

		out[n] = IF_EQ(stub_calls[i], first + ARRAY_LEN(stub_calls) - n - 1, last ? 1 : 0);
	}
	out[n++] = RETURN(SECCOMP_RET_ALLOW);
	/* A program starts with zeros. */
	out[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	return n;
}

static uint32_t answer(uint32_t k)
{
	switch (k & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_KILL_THREAD:
		return SECCOMP_RET_TRAP;
	case SECCOMP_RET_TRACE:
		return SECCOMP_RET_USER_NOTIF;
	case SECCOMP_RET_LOG:
		return SECCOMP_RET_ALLOW;
	default:
		return k;
	}
}

uint32_t seccomp_wrap(const struct sock_filter *f, uint32_t len, struct sock_filter *out)
{
	uint32_t n = prefix(out), end;
	bool computed = false;

	end = n + len;
	for (uint32_t i = 0; i < len; i++, n++) {
		out[n] = f[i];
		if (f[i].code == (BPF_RET | BPF_K)) {
			out[n].k = answer(f[i].k);
		} else if (f[i].code == (BPF_RET | BPF_A)) {
			out[n] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, end - n - 1);
			computed = true;
		}
	}
	if (computed) { /* answer(), for a value that is known only then */
		out[n++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
		out[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
							SECCOMP_RET_ACTION_FULL);
		out[n++] = IF_EQ(SECCOMP_RET_KILL_THREAD, 0, 1);
		out[n++] = RETURN(SECCOMP_RET_TRAP);
		out[n++] = IF_EQ(SECCOMP_RET_TRACE, 0, 1);
		out[n++] = RETURN(SECCOMP_RET_USER_NOTIF);
		out[n++] = IF_EQ(SECCOMP_RET_LOG, 0, 1);
		out[n++] = RETURN(SECCOMP_RET_ALLOW);
		out[n++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TXA, 0);
		out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	}
	return n <= SECCOMP_INSNS_MAX ? n : 0;
}

/* ---- lifetime ---- */

struct seccomp_filter *seccomp_filter_new(struct seccomp_filter *prev, const struct sock_filter *f,
					  uint32_t len, uint32_t host_len)
{
	struct seccomp_filter *n = obj_new(&filter_type);

	if (!n)
		return NULL;
	n->insns = blob_new(len * sizeof(*f));
	if (!n->insns) {
		obj_free(&filter_type, n);
		return NULL;
	}
	memcpy(n->insns, f, len * sizeof(*f));
	n->len = (uint16_t)len;
	n->host_len = (uint16_t)host_len;
	seccomp_alive += host_len;
	n->refs = 1;
	n->prev = seccomp_filter_get(prev);
	n->depth = (prev ? prev->depth : 0) + 1;
	n->total = len + (prev ? prev->total + PENALTY : 0);
	return n;
}

struct seccomp_filter *seccomp_filter_get(struct seccomp_filter *f)
{
	if (f)
		ref_get(&f->refs);
	return f;
}

void seccomp_filter_put(struct seccomp_filter *f)
{
	while (f && ref_put(&f->refs)) {
		struct seccomp_filter *prev = f->prev;

		seccomp_alive -= f->host_len;
		seccomp_dropped += f->host_len;
		blob_free(f->insns, f->len * sizeof(*f->insns));
		obj_free(&filter_type, f);
		f = prev;
	}
}

void seccomp_cut(struct seccomp_filter *young, struct seccomp_filter *bad)
{
	/* What was made on it is younger, and was counted higher. */
	while (young && young->prev != bad && young->depth > bad->depth)
		young = young->prev;
	if (!young || young->prev != bad)
		return;
	young->prev = seccomp_filter_get(bad->prev);
	seccomp_filter_put(bad);
}

bool seccomp_is_older(const struct seccomp_filter *old, const struct seccomp_filter *young)
{
	while (young && young != old)
		young = young->prev;
	return young == old;
}

/* ---- questions ---- */

static bool passed(const struct task *t, int a, int b, int c)
{
	int nr = t->seccomp_pass.nr;

	return nr == a || nr == b || nr == c;
}

bool seccomp_allows(const struct task *t, int nr, uint64_t ip, const struct sysargs *a)
{
	struct seccomp_data d = { .nr = nr, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = ip };
	uint32_t action;

	memcpy(d.args, a->a, sizeof(d.args));
	action = seccomp_judge(t->seccomp, &d) & SECCOMP_RET_ACTION_FULL;
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

bool seccomp_may_ask(const struct task *t, int nr, const struct sysargs *a)
{
	const uint64_t *was = t->seccomp_pass.a;

	switch (nr) {
	case HC_EXEC_PREP:
		return passed(t, SYS_execve, SYS_execveat, SYS_execveat) &&
		       (t->seccomp_pass.nr == SYS_execve || (int)was[4] == (int)a->a[2]);
	case HC_CLONE_PREP:
		return passed(t, SYS_clone, SYS_fork, SYS_vfork) &&
		       (t->seccomp_pass.nr == SYS_clone ? (uint32_t)was[0] == (uint32_t)a->a[0]
							: !(a->a[0] & 0x10000 /* CLONE_THREAD */));
	case HC_MMAP:
		return passed(t, SYS_mmap, SYS_mmap, SYS_mmap) && !memcmp(was, a->a, sizeof(a->a));
	case HC_SHMAT:
		return passed(t, SYS_shmat, SYS_shmat, SYS_shmat) && !memcmp(was, a->a, 3 * 8);
	case HC_SHMDT:
		return passed(t, SYS_shmdt, SYS_shmdt, SYS_shmdt) && was[0] == a->a[0];
	case HC_IO_SETUP:
		return passed(t, SYS_io_setup, SYS_io_setup, SYS_io_setup) &&
		       !memcmp(was, a->a, 2 * 8);
	case HC_IO_DESTROY:
		return passed(t, SYS_io_destroy, SYS_io_destroy, SYS_io_destroy) &&
		       was[0] == a->a[0];
	}
	if (a->a[5] != STUB_MAGIC)
		return true;
	switch (nr) {
	case SYS_rt_sigqueueinfo:
		return (pid_t)a->a[0] == t->proc->pid;
	case SYS_rt_tgsigqueueinfo:
		return (pid_t)a->a[0] == t->proc->pid && (pid_t)a->a[1] == t->tid;
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2 */
	case SYS_exit:
	case SYS_seccomp: /* sys_seccomp() looks at it */
		return true;
	default:
		for (size_t i = 0; i < ARRAY_LEN(stub_calls); i++)
			if (stub_calls[i] == nr)
				return false;
		return true; /* the mark means nothing there: the host has judged it */
	}
}
