/* The seed: a runner that never runs a program, from which further processes of the cell are
 * forked.
 *
 * A sealed kernel can make no process. The seed can, as every runner can, and it has nothing that a
 * program could have changed before. It waits in HC_SEED until a process is wanted, makes room for
 * its words, lets the kernel write them there, and forks; the child announces itself and executes
 * the stub, as after any execve. With 'split' the roles are exchanged: the child is the seed from
 * then on and the parent becomes the process, so that an idle cell has one runner only and its
 * first process the lowest number. */
#include "stub/sys.h"

#define SIGCHLD_FLAG 17UL
#define CLONE_PARENT_ 0x8000UL
#define AT_EMPTY_PATH_ 0x1000UL

_Noreturn static void die(void)
{
	for (;;)
		native(NR_EXIT_GROUP, 126, 0, 0, 0);
}

long stub_fork(void)
{
	return sys6(NR_CLONE, CLONE_PARENT_ | SIGCHLD_FLAG, 0, 0, 0, 0, (long)STUB_MAGIC);
}

/* The words are at p: argv and envp as execve wants them. */
_Noreturn static void become(const struct stub_order *o, long p)
{
	if (hyper(HC_SEED_BORN, o->token, 0, 0, 0) == 0)
		sys6(NR_EXECVEAT, STUB_FD, (long)"", p, p + (long)o->envp, AT_EMPTY_PATH_,
		     (long)STUB_MAGIC);
	die();
}

_Noreturn void stub_seed(uint64_t token)
{
	struct stub_order o;
	long p, ret;

	for (;;) {
		if (hyper(HC_SEED, &o, token, 0, 0) != 0)
			die();
		token = 0;
		if (o.thaw) {
			ret = stub_fork();
			if (ret == 0)
				stub_thaw();
			continue;
		}
		p = anon(0, o.size, 3 /* PROT_READ | PROT_WRITE */, 2 /* MAP_PRIVATE */);
		ret = p;
		if (p >= 0 || p < -4095) {
			ret = hyper(HC_SEED_FILL, o.token, p, 0, 0);
			if (ret == 0)
				ret = stub_fork();
			if (ret >= 0 && (ret == 0) == !o.split)
				become(&o, p);
			if (ret == 0)
				token = o.seed_token;
			native(NR_MUNMAP, p, o.size, 0, 0);
		}
		if (ret < 0)
			hyper(HC_SEED_FAIL, o.token, ret, 0, 0);
	}
}
