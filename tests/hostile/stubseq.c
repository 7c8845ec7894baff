/* The stub's questions in any order and any number, from several threads and processes that share
 * what they are about: births and tokens, programs that are about to run, attachments, filters,
 * contexts of asynchronous input, boxes, signals on their way. What hyper.c tries one by one is
 * tried here together. Children may die; the kernel must not stand on what they let go of.
 *
 *   stubseq ROUNDS SEED */
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>

#include "hostile.h"

#include "../../src/stub/fast.h"

#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static struct shared {
	long tokens[16];
	int shm[4];
} *shared;

static char room[4][65536] __attribute__((aligned(4096)));

static void *any_room(void)
{
	return room[below(4)];
}

static long any_token(void)
{
	return below(8) ? shared->tokens[below(16)] : (long)rnd();
}

static void births(void)
{
	static const long flags[] = { SIGCHLD, THREAD_FLAGS, CLONE_VM | CLONE_VFORK | SIGCHLD, CLONE_FILES | SIGCHLD,
				      CLONE_FS | CLONE_PARENT | SIGCHLD, 0x1000 /* CLONE_PIDFD */ | SIGCHLD };
	static const int ends[] = { SIGCHLD, 0, SIGURG, SIGWINCH }; /* none that would end us */
	long token, pid;

	switch (below(6)) {
	case 0:
	case 1:
		token = RAW(HC_CLONE_PREP, flags[below(6)], ends[below(4)], any_room());
		if (token > 0)
			shared->tokens[below(16)] = token;
		break;
	case 2:
	case 3:
		RAW(HC_CLONE_CANCEL, any_token(), below(2));
		break;
	case 4:
		RAW(HC_CHILD, any_token());
		break;
	default:
		pid = MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0) {
			RAW(HC_CHILD, any_token());
			RAW(SYS_getppid);
			RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD, 0);
			if (below(2))
				RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0);
			RAW(SYS_exit_group, 0);
		}
	}
}

static void programs(void)
{
	static const char *const paths[] = { "/bin/true", "/bin/sh", "/bin/ls", "/proc/self/exe", "/tmp/script", "/tmp", "none" };

	switch (below(6)) {
	case 0:
	case 1:
	case 2:
		RAW(HC_EXEC_PREP, AT_FDCWD, paths[below(7)], below(4) ? 0 : below(0x2000), rnd());
		break;
	case 3:
		RAW(HC_EXEC_CANCEL);
		break;
	case 4:
		RAW(HC_EXEC_DONE, any_room());
		break;
	default:
		if (below(16) == 0)
			RAW(HC_EXEC_BOOT, any_room(), below(3) - 1);
	}
}

static void memory(void)
{
	long addr = (long)(0x10000 + below(3) * 4096), fd;
	int *id = &shared->shm[below(4)];

	switch (below(8)) {
	case 0:
		fd = RAW(HC_MMAP, 0, 4096, below(8), 1 + below(2), below(6), 0);
		if (fd >= 0 && !(fd & STUB_FD_KEEP))
			MARKED(SYS_close, fd & 0xffff, 0, 0, 0, 0);
		break;
	case 1:
	case 2:
		fd = RAW(HC_SHMAT, *id, 0, below(2) ? SHM_RDONLY : 0, any_room());
		if (fd >= 0)
			MARKED(SYS_close, fd, 0, 0, 0, 0);
		break;
	case 3:
		RAW(HC_SHMAT_DONE, below(3) ? addr : 0);
		break;
	case 4:
		RAW(HC_SHMDT, addr);
		break;
	case 5:
		shmctl(*id, IPC_RMID, NULL);
		*id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		break;
	default:
		fd = RAW(HC_POST, below(3));
		if (fd >= 0)
			MARKED(SYS_close, fd, 0, 0, 0, 0);
	}
}

static void filters(void)
{
	struct sock_filter f[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog p = { 1, f };
	struct stub_call c = { .nr = below(400) };
	long slot = 1 + (long)below(FILTER_SLOTS);

	switch (below(6)) {
	case 0:
	case 1:
		slot = RAW(HC_SECCOMP, SECCOMP_SET_MODE_FILTER, below(2), &p);
		if (below(2))
			break;
		/* fallthrough */
	case 2: /* the host is to take it; or somebody else's, of whom there are more than slots */
		MARKED(SYS_seccomp, SECCOMP_SET_MODE_FILTER, below(2), FILTER_BASE + (slot - 1) % FILTER_SLOTS * FILTER_ROOM, 0, 0);
		break;
	case 3:
	case 4:
		RAW(HC_SECCOMP_DONE, below(2) ? 0 : -1);
		break;
	default:
		RAW(HC_SECCOMP_ASK, &c);
	}
}

static void signals(void)
{
	int sig = below(2) ? SIGUSR1 : 34 + (int)below(3);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	switch (below(10)) {
	case 0:
		RAW(HC_SIGACTION, sig, below(4), below(2) ? 0 : SA_RESTART, below(2));
		break;
	case 1:
		RAW(HC_REROUTE, sig, any_room());
		break;
	case 2:
		RAW(HC_TAKEN, sig, below(2) ? 0 : below(4), below(4));
		break;
	case 3:
		RAW(HC_HOLD, sig, any_room(), below(2));
		break;
	case 4:
		close(signalfd(-1, &set, SFD_NONBLOCK));
		break;
	case 5: {
		int fd = signalfd(-1, &set, SFD_NONBLOCK);

		if (fd > 100)
			close(fd);
		break;
	}
	case 6:
		sigprocmask(below(2) ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
		break;
	case 7:
		kill(getpid(), sig);
		break;
	case 8:
		MARKED(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, any_room(), 0);
		break;
	default:
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
	}
}

static void contexts(void)
{
	uint64_t name = 0;
	struct iocb io = { .aio_fildes = (uint32_t)below(6), .aio_lio_opcode = (uint16_t)below(4), .aio_nbytes = 8 };
	struct iocb *list[1] = { &io };
	struct io_event ev[2];
	struct timespec no = { 0, 0 };
	long at = (long)(0x20000 + below(3) * 4096);

	io.aio_buf = (uint64_t)(uintptr_t)any_room();
	switch (below(4)) {
	case 0:
		RAW(HC_IO_SETUP, 1 + below(8), &name, at);
		break;
	case 1:
		RAW(HC_IO_DESTROY, at);
		break;
	case 2:
		RAW(SYS_io_submit, at, 1, list);
		break;
	default:
		RAW(SYS_io_getevents, at, below(2), 2, ev, &no);
	}
}

/* Nobody freezes or thaws the cell: all of it is out of place. */
static void rests(void)
{
	static const long places[] = { 0, 1, 8, 0x10000, STUB_BASE, 0x7ffffffff000, -1 };

	switch (below(4)) {
	case 0:
		RAW(HC_REST, below(2) ? places[below(7)] : (long)(uintptr_t)any_room());
		break;
	case 1:
		RAW(HC_THAW, any_room(), any_room(), places[below(7)]);
		break;
	case 2:
		RAW(HC_THAW_WAIT);
		break;
	default:
		RAW(HC_THAWED);
	}
}

static void step(void)
{
	switch (below(10)) {
	case 0:
	case 1:
		births();
		break;
	case 2:
		programs();
		break;
	case 3:
	case 4:
		memory();
		break;
	case 5:
		if (below(4) == 0)
			filters();
		break;
	case 6:
	case 7:
		signals();
		break;
	case 8:
		rests();
		break;
	default:
		contexts();
	}
}

static void on_signal(int sig)
{
	(void)sig;
}

static void *stir(void *arg)
{
	seed_state ^= (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15ull;
	for (int i = 0; i < 400; i++)
		step();
	if (below(2))
		syscall(SYS_exit, 0);
	return NULL;
}

static void round_of(void *arg)
{
	pthread_t th;

	seed_state = (uint64_t)(long)arg * 0x9e3779b97f4a7c15ull + 1;
	setpgid(0, 0);
	alarm(2);
	for (int i = 0; i < 6; i++) /* what is written to any of these is nobody's */
		dup2(i ? 0 : open("/dev/null", O_RDWR), i);
	signal(SIGUSR1, on_signal);
	for (int i = 34; i < 37; i++)
		signal(i, on_signal);
	if (below(2))
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (long i = 1; i <= (long)below(4); i++)
		pthread_create(&th, NULL, stir, (void *)i);
	if (below(2) && fork() == 0)
		stir((void *)77);
	stir((void *)99);
	_exit(0);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 20, seed = argc > 2 ? atol(argv[2]) : 1, bad = 0;
	int fd = open("/tmp/script", O_CREAT | O_WRONLY, 0755);

	(void)!write(fd, "#!/bin/sh\n", 10);
	close(fd);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 4; i++)
		shared->shm[i] = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	for (long i = 0; i < rounds; i++)
		bad += in_child(round_of, (void *)(seed * 1000 + i), 20000) == -1;
	check(bad == 0, "%ld rounds come to an end", rounds);
	for (int i = 0; i < 4; i++)
		shmctl(shared->shm[i], IPC_RMID, NULL);
	naptime(1500); /* births that never come are forgotten */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	check(cell_is_well(), "the kernel goes on");
	return done();
}
