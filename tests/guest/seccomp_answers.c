/*
 * Every answer of a filter, on calls of every kind: some of them a cell's host runs itself, some
 * are answered by the cell's kernel, some need the help of the code beside the program.
 */
#include "seccomp.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define E(n) (SECCOMP_RET_ERRNO | (n))

static void calls_fail(void)
{
	int fd = open("/bin/sh", O_RDONLY);
	struct sigaction sa = { .sa_handler = SIG_IGN };
	sigset_t set;

	sigfillset(&set);
	CHECK(FILTER(0, { SYS_sched_yield, E(EXDEV) }, { SYS_mkdir, E(EMLINK) }, { SYS_execve, E(ENOTTY) },
		     { SYS_execveat, E(ECHILD) }, { SYS_clone, E(EUSERS) }, { SYS_clone3, E(ENOSYS) },
		     { SYS_fork, E(EDOM) }, { SYS_vfork, E(ENOTBLK) }, { SYS_mmap, E(ENFILE) }, { SYS_shmat, E(EXFULL) },
		     { SYS_rt_sigaction, E(ESPIPE) }, { SYS_rt_sigprocmask, E(EBADE) }, { SYS_ppoll, E(ECOMM) },
		     { SYS_pselect6, E(EPROTO) }, { SYS_getuid, E(4095) }, { SYS_umask, E(0) }) == 0);
	SHOW(sched_yield());
	SHOW(mkdir("x", 0700));
	char *argv[] = { (char *)"sh", NULL };
	SHOW(execv("/bin/sh", argv));
	SHOW(syscall(SYS_execveat, fd, "", argv, NULL, AT_EMPTY_PATH));
	SHOW(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	SHOW(syscall(SYS_fork));
	SHOW(syscall(SYS_vfork));
	SHOW(fork());
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == ENFILE);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENFILE);
	CHECK(shmat(0, NULL, 0) == (void *)-1 && errno == EXFULL);
	SHOW(sigaction(SIGUSR1, &sa, NULL));
	SHOW(sigaction(SIGUSR1, NULL, &sa));
	SHOW(sigprocmask(SIG_BLOCK, &set, NULL));
	SHOW(sigprocmask(SIG_UNBLOCK, &set, NULL));
	SHOW(syscall(SYS_ppoll, NULL, 0, NULL, &set, 8));
	SHOW(syscall(SYS_pselect6, 0, NULL, NULL, NULL, NULL, (void *[]){ &set, (void *)8 }));
	errno = 0;
	printf("%ld\n", syscall(SYS_getuid));
	SHOW(syscall(SYS_umask, 022));
	SHOW(getppid() > 0);
}

/* The arguments count: only O_WRONLY opens, only 12 bytes. */
static void arguments(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4), /* 32 | 0x50000: an errno made by computing */
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_RET_ERRNO, 1, 0),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x4000, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };
	int fd = open("/bin/sh", O_RDONLY);

	SHOW(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == 32);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == 32);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
	SHOW(syscall(SYS_clone, 0x4100 | SIGCHLD, 0, 0, 0, 0));
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(3);
	show_status("plain clone", xwait(pid));
}

static void order(void)
{
	/* The strictest of several; the youngest of equals. */
	CHECK(FILTER(0, { SYS_mkdir, E(1) }, { SYS_rmdir, SECCOMP_RET_TRACE }, { SYS_unlink, SECCOMP_RET_LOG },
		     { SYS_chdir, SECCOMP_RET_USER_NOTIF }, { SYS_execve, SECCOMP_RET_TRACE }, { SYS_getppid, SECCOMP_RET_TRACE },
		     { SYS_sched_yield, SECCOMP_RET_TRACE }) == 0);
	CHECK(FILTER(0, { SYS_mkdir, E(2) }, { SYS_rmdir, SECCOMP_RET_ALLOW }) == 0);
	CHECK(FILTER(0, { SYS_mkdir, SECCOMP_RET_ALLOW }, { SYS_unlink, SECCOMP_RET_ALLOW }) == 0);
	SHOW(mkdir("x", 0700));
	SHOW(rmdir("x"));
	SHOW(unlink("x"));
	SHOW(chdir("/"));
	SHOW(execl("/bin/true", "true", NULL));
	SHOW(syscall(SYS_getppid));
	SHOW(sched_yield());
	SHOW(prctl(PR_GET_SECCOMP));
}

static void kill_at(int nr, uint32_t answer)
{
	FILTER(0, { nr, answer });
	if (nr == SYS_execve)
		execl("/bin/true", "true", NULL);
	else
		syscall(nr, 0, 0, 0, 0, 0, 0);
	printf("call %d passed\n", nr);
}

int main(void)
{
	static const int nrs[] = { SYS_sched_yield, SYS_getppid, SYS_execve };

	IN_CHILD("calls fail", calls_fail());
	IN_CHILD("arguments", arguments());
	IN_CHILD("order", order());
	for (int i = 0; i < 3; i++) {
		IN_CHILD("kill process", kill_at(nrs[i], SECCOMP_RET_KILL_PROCESS));
		IN_CHILD("kill thread", kill_at(nrs[i], SECCOMP_RET_KILL_THREAD));
		IN_CHILD("trap, no handler", kill_at(nrs[i], SECCOMP_RET_TRAP));
		IN_CHILD("unknown action", kill_at(nrs[i], 0x10000));
		IN_CHILD("ignored", signal(SIGSYS, SIG_IGN); kill_at(nrs[i], SECCOMP_RET_TRAP));
	}
	IN_CHILD("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); if (write(1, "strict\n", 7) == 7) syscall(SYS_exit, 5));
	IN_CHILD("strict, native call", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); syscall(SYS_sched_yield));
	IN_CHILD("strict, other call", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); syscall(SYS_getppid));
	IN_CHILD("strict, exec", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); execl("/bin/true", "true", NULL));
	IN_CHILD("strict, exit_group", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); _exit(0));
	return 0;
}
