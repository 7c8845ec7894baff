/* The SIGSYS handler: calls that must happen in the caller's own address space.
 *
 * The filter turns these into a trap. All signals are blocked here, so a guest's handler never runs
 * on top of the stub (but for rt_sigsuspend and its kin, whose purpose that is); signals come at
 * the return, with the guest's own context. */
#include "stub/sys.h"

#define AT_FDCWD_ (-100)
#define MAP_FIXED_NOREPLACE_ 0x100000
#define MAP_PROBE_ (MAP_FIXED_NOREPLACE_ | 0x22) /* private, anonymous */

/* Of two things that are wrong Linux tells this one first: asked where a file was refused
 * already. */
static int place_is_taken(uint64_t addr, uint64_t len)
{
	long ret = sys6(NR_MMAP, addr, len, 0, MAP_PROBE_, (uint64_t)-1, 0);

	if (ret < 0 && ret > -4096)
		return ret == -EEXIST_;
	sys6(NR_MUNMAP, ret, len, 0, 0, 0, 0);
	return 0;
}

static long do_mmap(struct k_ucontext *uc)
{
	long fd = sys6(HC_MMAP, uc->rdi, uc->rsi, uc->rdx, uc->r10, uc->r8, uc->r9);
	long ret;

	if (fd < 0) {
		if (uc->r10 & MAP_FIXED_NOREPLACE_ && fd != -EBADF_ && !(uc->r9 & 4095) &&
		    place_is_taken(uc->rdi, uc->rsi))
			return -EEXIST_;
		return fd;
	}
	ret = sys6(NR_MMAP, uc->rdi, uc->rsi, uc->rdx, uc->r10, STUB_MAP_FD(fd & 0xffff), uc->r9);
	if (!(fd & STUB_FD_KEEP))
		native(NR_CLOSE, fd & 0xffff, 0, 0, 0);
	if ((fd & STUB_FD_CODE) && (ret > 0 || ret < -4096))
		stub_code_note(ret, uc->rsi);
	return ret;
}

static long do_shmat(uint64_t id, uint64_t addr, uint64_t flags)
{
	struct stub_shm at;
	long fd = hyper(HC_SHMAT, id, addr, flags, &at), ret;

	if (fd < 0)
		return fd;
	ret = sys6(NR_MMAP, at.addr, at.len, at.prot, at.flags, STUB_MAP_FD(fd), 0);
	native(NR_CLOSE, fd, 0, 0, 0);
	hyper(HC_SHMAT_DONE, ret < 0 && ret > -4096 ? 0 : ret, 0, 0, 0);
	return ret == -EEXIST_ ? -EINVAL_ : ret; /* something is there already */
}

static long do_shmdt(uint64_t addr)
{
	long len = hyper(HC_SHMDT, addr, 0, 0, 0);

	return len < 0 ? len : native(NR_MUNMAP, addr, len, 0, 0);
}

/* A context of native asynchronous I/O is named by an address that can be read. */
static long do_io_setup(uint64_t events, uint64_t where)
{
	long page = anon(0, 4096, 1 /* PROT_READ */, 2 /* MAP_PRIVATE */), ret;

	if (page < 0 && page > -4096)
		return page;
	ret = hyper(HC_IO_SETUP, events, where, page, 0);
	if (ret < 0)
		native(NR_MUNMAP, page, 4096, 0, 0);
	return ret;
}

static long do_io_destroy(uint64_t page)
{
	long ret = hyper(HC_IO_DESTROY, page, 0, 0, 0);

	if (ret == 0)
		native(NR_MUNMAP, page, 4096, 0, 0);
	return ret;
}

static long do_exec(struct k_ucontext *uc, long dirfd, uint64_t path, uint64_t argv, uint64_t envp,
		    long flags)
{
	long ret = hyper(HC_EXEC_PREP, dirfd, path, flags, uc->sigmask);

	if (ret == STUB_AGAIN)
		return -ERESTART_; /* it waits: signals are let in, then it is made again */
	if (ret < 0)
		return ret;
	ret = sys6(NR_EXECVEAT, STUB_FD, (long)"", argv, envp, 0x1000 /* AT_EMPTY_PATH */,
		   (long)STUB_MAGIC);
	hyper(HC_EXEC_CANCEL, 0, 0, 0, 0);
	return ret;
}

/* The kernel's to answer: the instruction runs again, in the program's own context, so that the
 * call can wait, be interrupted and be restarted as any other. */
static void forward(struct k_ucontext *uc)
{
	uint32_t nr = (uint32_t)uc->rax; /* the host looks at no more either */

	if (nr >= HC_BASE) {
		uc->rax = (uint64_t)-ENOSYS_;
		return;
	}
	uc->rax = nr + HC_FORWARD;
	uc->rip -= 2;
}

void stub_sigsys(int sig, struct k_siginfo *info, struct k_ucontext *uc)
{
	struct k_frame *f = (struct k_frame *)((char *)uc - offsetof(struct k_frame, uc));
	long nr = (int32_t)uc->rax, ret;

	(void)sig;
	if (info->code != 1 /* SYS_SECCOMP */) {
		/* Without a word from whom: the kernel's (nudge()). */
		if ((info->code == 0 || info->code == -1) && !*(const int32_t *)info->payload)
			stub_nudged(uc);
		else
			stub_guest_sigsys(f, 0);
		return;
	}
	/* A handler can set any bit in the mask that its return restores. */
	uc->sigmask &= ~(BIT(SIGSYS_) | BIT(STUB_SIG));
	if (stub_filtered && !stub_seccomp_pass(f))
		return;
	switch (nr) {
	case NR_MMAP:
		ret = do_mmap(uc);
		break;
	case NR_CLONE:
		ret = stub_clone(f, uc->rdi, uc->rsi, uc->rdx, uc->r10, uc->r8);
		break;
	case NR_SHMAT:
		ret = do_shmat(uc->rdi, uc->rsi, uc->rdx);
		break;
	case NR_SHMDT:
		ret = do_shmdt(uc->rdi);
		break;
	case NR_FORK:
		ret = stub_clone(f, 17, 0, 0, 0, 0);
		break;
	case NR_VFORK:
		ret = stub_clone(f, 0x4000 | 0x100 | 17, 0, 0, 0, 0);
		break;
	case NR_EXECVE:
		ret = do_exec(uc, AT_FDCWD_, uc->rdi, uc->rsi, uc->rdx, 0);
		break;
	case NR_EXECVEAT:
		ret = do_exec(uc, (int)uc->rdi, uc->rsi, uc->rdx, uc->r10, (int)uc->r8);
		break;
	case NR_SIGACTION:
		ret = stub_sigaction(uc, (int)uc->rdi, uc->rsi, uc->rdx, uc->r10);
		break;
	case NR_SIGPROCMASK:
		ret = stub_sigprocmask(uc, (int)uc->rdi, uc->rsi, uc->rdx, uc->r10);
		break;
	case NR_SIGSUSPEND:
		ret = stub_sigsuspend(uc->rdi, uc->rsi);
		break;
	case NR_SIGTIMEDWAIT:
		ret = stub_sigtimedwait(uc, uc->rdi, uc->rsi, uc->rdx, uc->r10);
		break;
	case NR_PPOLL:
	case NR_PSELECT6:
	case NR_EPOLL_PWAIT:
	case NR_EPOLL_PWAIT2:
		ret = stub_masked_call(uc);
		break;
	case NR_IO_SETUP:
		ret = do_io_setup(uc->rdi, uc->rsi);
		break;
	case NR_IO_DESTROY:
		ret = do_io_destroy(uc->rdi);
		break;
	case NR_SECCOMP:
		ret = stub_seccomp((uint32_t)uc->rdi, (uint32_t)uc->rsi, uc->rdx);
		break;
	case NR_PRCTL:
		if ((int)uc->rdi != 22 /* PR_SET_SECCOMP: mode 1 or 2 */) {
			forward(uc);
			return;
		}
		ret = uc->rsi == 1   ? stub_seccomp(0, 0, 0)
		      : uc->rsi == 2 ? stub_seccomp(1, 0, uc->rdx)
				     : -EINVAL_;
		break;
	default:
		forward(uc);
		return;
	}
	if (ret == -ERESTART_)
		uc->rip -= 2; /* rax is the number still */
	else
		uc->rax = ret;
}
