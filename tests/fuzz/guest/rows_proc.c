/* Processes, threads, their ids and limits, signals, timers, memory. Some rows end who makes the
 * call. */
#include "guest.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

static char *const rest_argv[] = { "guest-fuzz", "--rest", NULL }, *const no_env[] = { NULL };

static void pid_keep(struct run *run, long pid)
{
	if (pid > 0)
		world->pids[r(run, SLOTS)] = (int32_t)pid;
}

/* A child that makes some steps, then ends in one of several ways, or stays for a while. */
static void child(struct run *run)
{
	int n = (int)r(run, 12);
	unsigned end = (unsigned)r(run, 6);
	uint64_t state = run->state | 1;
	long pid;

	if (run->depth > 1)
		return;
	say(run, "%d steps, end %u", n, end);
	pid = fork();
	if (pid) {
		pid_keep(run, pid);
		return;
	}
	run->depth++;
	run->state = state * 31 | 1;
	steps_in_child(run, n);
	switch (end) {
	case 0:
		RAW(SYS_kill, getpid(), SIGKILL);
		break;
	case 1:
		RAW(SYS_kill, getpid(), SIGSTOP);
		break;
	case 2:
		RAW(SYS_execve, "/proc/self/exe", rest_argv, no_env);
		break;
	case 3:
		naptime(20);
		break;
	case 4:
		RAW(SYS_pause);
	}
	_exit((int)r(run, 256));
}

static void child_exec(struct run *run)
{
	long pid = vfork();

	if (pid == 0) {
		RAW(SYS_execve, "/proc/self/exe", rest_argv, no_env);
		_exit(1);
	}
	pid_keep(run, pid);
}

/* clone with flags that share tables; a pidfd may come of it. */
static void child_shares(struct run *run)
{
	static const long some[] = { CLONE_FILES, CLONE_FS, CLONE_PARENT, CLONE_PIDFD, CLONE_SYSVSEM, CLONE_NEWNS };
	long flags = SIGCHLD, pid;
	int pidfd = -1, n = (int)r(run, 6);

	if (run->depth > 1)
		return;
	for (int i = 0; i < 6; i++)
		flags |= r(run, 3) ? 0 : some[i];
	say(run, "%#lx, %d steps", flags, n);
	pid = RAW(SYS_clone, flags, 0, &pidfd, 0, 0);
	if (pid == 0) {
		run->depth++;
		steps_in_child(run, n);
		RAW(SYS_exit_group, 0);
	}
	pid_keep(run, pid);
	if (pidfd >= 0)
		fd_keep(run, K_PIDFD, pidfd);
}

struct brief {
	struct run run;
	int n;
};

static void *brief_thread(void *arg)
{
	struct brief *b = arg;

	steps_in_child(&b->run, b->n);
	RAW(SYS_munmap, b->run.room, ROOM);
	RAW(SYS_munmap, b->run.data, ROOM);
	free(b);
	return NULL;
}

static void *fresh_room(void)
{
	long p = RAW(SYS_mmap, 0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p < 0 ? NULL : (void *)p;
}

/* A thread for a few steps. */
static void thread(struct run *run)
{
	struct brief *b = run->depth ? NULL : calloc(1, sizeof(*b));
	pthread_t t;

	if (!b)
		return;
	b->run = (struct run){ .worker = run->worker, .depth = 1, .state = run->state * 17 | 1, .room = fresh_room(), .data = fresh_room() };
	b->n = (int)r(run, 8);
	if (!b->run.room || !b->run.data || pthread_create(&t, NULL, brief_thread, b))
		free(b);
	else
		pthread_detach(t);
}

static void exec_here(struct run *run)
{
	say(run, "the program again");
	RAW(SYS_execve, "/proc/self/exe", rest_argv, no_env);
}

static void exec_fails(struct run *run)
{
	const char *path = path_any(run);

	say(run, "%s", path);
	if (run->depth || r(run, 20) == 0) /* it may well work: the directory's own files are no programs */
		RAW(SYS_execve, path, r(run, 8) ? (const void *)rest_argv : (const void *)1, no_env);
	else
		RAW(SYS_execve, "d", rest_argv, no_env);
}

static void nothing(int s)
{
	(void)s;
}

static void handler(struct run *run)
{
	static const int some[] = { SIGUSR2, SIGCHLD, SIGCONT, SIGURG, SIGALRM, SIGPIPE, 34, 40, SIGIO, SIGTERM, SIGSYS, 64, SIGTSTP, SIGSEGV };
	int s = some[r(run, 14)];
	struct sigaction a = { .sa_handler = r(run, 3) ? nothing : r(run, 2) ? SIG_IGN : SIG_DFL, .sa_flags = r(run, 2) ? SA_RESTART : 0 };

	a.sa_flags |= r(run, 4) ? 0 : SA_NODEFER;
	say(run, "%d", s);
	sigaction(s, &a, NULL);
}

static const struct row rows_proc[] = {
	{ DO("child", child), .weight = 4 },
	{ DO("child_exec", child_exec), .weight = 1 },
	{ DO("child_shares", child_shares), .weight = 3 },
	{ DO("thread", thread), .weight = 2 },
	{ DO("exec_here", exec_here), .deadly = 1 },
	{ DO("exec_fails", exec_fails) },
	{ CALL(exit, BELOW(3)), .deadly = 1 },
	{ CALL(exit_group, BELOW(3)), .deadly = 1 },
	{ CALL(wait4, OF(-1, 0, -1), MEM, OF(WNOHANG, WNOHANG | WUNTRACED, 0, WNOHANG | 0x40000000), V(0)), .weight = 2 },
	{ CALL(wait4, PID, MEM, OF(WNOHANG, 0), MEM), .weight = 1 },
	{ CALL(waitid, BELOW(4), PID, MEM, OF(WNOHANG | WEXITED, WEXITED | WNOWAIT | WNOHANG, WSTOPPED | WCONTINUED | WNOHANG, WEXITED), V(0)), .weight = 1 },
	{ CALL(waitid, V(3), FD(K_PIDFD), MEM, OF(WNOHANG | WEXITED, WEXITED), V(0)) },
	{ CALL(kill, PID, SIG), .weight = 2 },
	{ CALL(tgkill, PID, TID, SIG) },
	{ CALL(tkill, TID, SIG) },
	{ NUMBER("pidfd_open", 434, PID, OF(0, O_NONBLOCK)), GIVES(K_PIDFD), .weight = 1 },
	{ NUMBER("pidfd_send_signal", 424, FD(K_PIDFD), SIG, V(0), V(0)) },
	{ NUMBER("pidfd_getfd", 438, FD(K_PIDFD), ANYFD, V(0)), GIVES(K_FILE) },
	{ CALL(setpgid, PID, PID), .weight = 1 },
	{ CALL(setsid) },
	{ CALL(getsid, PID) },
	{ CALL(getpgid, PID) },
	{ CALL(setresuid, OF(-1, 0, 1), OF(-1, 0, 1), OF(-1, 0)) },
	{ CALL(setresgid, OF(-1, 0, 1), OF(-1, 0, 1), OF(-1, 0)) },
	{ CALL(setfsuid, BELOW(2)) },
	{ CALL(setgroups, BELOW(16), { A_IDS, 0, NULL }) },
	{ CALL(capset, MEM, MEM) },
	{ CALL(prctl, OF(PR_SET_NO_NEW_PRIVS, PR_SET_KEEPCAPS, PR_SET_DUMPABLE, PR_SET_NAME, PR_SET_CHILD_SUBREAPER, PR_SET_TIMERSLACK, 53), BELOW(2), V(0), V(0), V(0)) },
	{ CALL(prctl, V(PR_SET_PDEATHSIG), SIG, V(0), V(0), V(0)) },
	{ CALL(prctl, BELOW(60), BELOW(4), MEM, V(0), V(0)) },
	{ CALL(prlimit64, PID, OF(1, 6, 7, 11, 12, 13), RLIM, MEM) },
	{ CALL(prlimit64, V(0), OF(1, 11, 12), RLIM, MEM) },
	{ CALL(process_vm_readv, PID, IOV, BELOW(4), IOV, BELOW(4), V(0)) },
	{ CALL(process_vm_writev, PID, IOV, BELOW(4), IOV, BELOW(4), V(0)) },
	{ CALL(kcmp, PID, PID, BELOW(8), ANYFD, ANYFD) },
	{ CALL(kcmp, PID, PID, V(7 /* KCMP_EPOLL_TFD */), ANYFD, MEM) },
	{ CALL(setpriority, BELOW(3), PID, BELOW(20)) },
	{ CALL(getpriority, BELOW(3), PID) },
	{ CALL(sched_setscheduler, PID, BELOW(6), MEM) },
	{ CALL(sched_setaffinity, PID, BELOW(16), MEM) },
	{ CALL(sched_getaffinity, PID, BELOW(200), MEM) },
	{ CALL(ioprio_set, V(1), PID, BELOW(0x8000)) },
	{ CALL(getrusage, OF(0, -1, 1), MEM) },
	{ CALL(unshare, OF(CLONE_FILES, CLONE_FS, CLONE_FILES | CLONE_FS, CLONE_SYSVSEM, CLONE_NEWNS, CLONE_NEWUSER)), .weight = 1 },
	{ CALL(seccomp, V(SECCOMP_SET_MODE_FILTER), OF(0, SECCOMP_FILTER_FLAG_TSYNC, 1 | 16, 8), FPROG), .weight = 1 },
	{ CALL(get_robust_list, PID, MEM, MEM) },
	{ CALL(times, MEM) },
	{ CALL(sysinfo, MEM) },
};

static const struct row rows_signal[] = {
	{ DO("handler", handler), .weight = 3 },
	{ CALL(kill, PID, SIG), .weight = 2 },
	{ CALL(tgkill, PID, TID, SIG), .weight = 2 },
	{ CALL(tkill, TID, SIG), .weight = 4 },
	{ CALL(rt_sigqueueinfo, PID, SIG, SIGINFO), .weight = 2 },
	{ CALL(rt_tgsigqueueinfo, PID, TID, SIG, SIGINFO), .weight = 2 },
	{ NUMBER("pidfd_send_signal", 424, FD(K_PIDFD), SIG, SIGINFO, V(0)) },
	{ NUMBER("pidfd_open", 434, PID, V(0)), GIVES(K_PIDFD) },
	{ CALL(rt_sigprocmask, BELOW(3), SIGSET, MEM, V(8)), .weight = 3 },
	{ CALL(rt_sigpending, MEM, V(8)) },
	{ CALL(rt_sigtimedwait, SIGSET, MEM, TIME, V(8)), .weight = 2 },
	{ CALL(rt_sigsuspend, SIGSET, V(8)) },
	{ CALL(pause) },
	{ CALL(signalfd4, V(-1), SIGSET, V(8), OF(O_NONBLOCK, 0)), GIVES(K_SIGNALFD), .weight = 2 },
	{ CALL(signalfd4, FD(K_SIGNALFD), SIGSET, V(8), V(0)), .weight = 1 },
	{ CALL(read, FD(K_SIGNALFD), MEM, V(512)), .weight = 2 },
	{ CALL(close, FD(K_SIGNALFD)) },
	{ CALL(setitimer, BELOW(3), ITIMER, V(0)), .weight = 1 },
	{ CALL(getitimer, BELOW(3), MEM) },
	{ CALL(alarm, BELOW(2)) },
	{ CALL(timer_create, OF(0, 1, 2, 3), SIGEVENT, MEM), .gives = G_TIMER, .weight = 2 },
	{ CALL(timer_settime, TIMER, BELOW(2), ITIMER, V(0)), .weight = 2 },
	{ CALL(timer_gettime, TIMER, MEM) },
	{ CALL(timer_getoverrun, TIMER) },
	{ CALL(timer_delete, TIMER) },
	{ CALL(setpgid, PID, PID) },
	{ CALL(fcntl, ANYFD, OF(F_SETOWN, F_SETSIG), PID) },
	{ CALL(fcntl, ANYFD, V(F_SETFL), OF(O_ASYNC | O_NONBLOCK, O_NONBLOCK)) },
	{ DO("child", child), .weight = 1 },
	{ DO("thread", thread) },
	{ DO("exec_here", exec_here), .deadly = 1 },
	{ CALL(exit, BELOW(3)), .deadly = 1 },
	{ STUBCALL(HC_SIGACTION, SIG, OF(0, 1, 0x400000), BELOW(16), BELOW(2)) },
	{ STUBCALL(HC_REROUTE, SIG, SIGINFO), .weight = 1 },
	{ STUBCALL(HC_HOLD, SIG, SIGINFO, BELOW(2)), .weight = 1 },
	{ STUBCALL(HC_TAKEN, SIG, BELOW(6), BELOW(6)), .weight = 1 },
};

#define PROT OF(PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_NONE)
#define MAPLEN OF(4096, 65536, 16384)

static const struct row rows_memory[] = {
	{ CALL(mmap, MAPAT, MAPLEN, PROT, OF(MAP_SHARED | MAP_FIXED, MAP_PRIVATE | MAP_FIXED), FD(K_FILE), OF(0, 4096, 65536)), .weight = 3 },
	{ CALL(mmap, MAPAT, MAPLEN, PROT, V(MAP_SHARED | MAP_FIXED), FD(K_MEMFD), V(0)), .weight = 3 },
	{ CALL(mmap, MAPAT, MAPLEN, PROT, OF(MAP_SHARED | MAP_FIXED, MAP_SHARED | 0x100000), ANYFD, V(0)) },
	{ CALL(munmap, MAPAT, MAPLEN), .weight = 1 },
	{ CALL(mremap, MAPAT, MAPLEN, MAPLEN, BELOW(4), MAPAT) },
	{ CALL(mprotect, MAPAT, MAPLEN, PROT) },
	{ CALL(msync, MAPAT, MAPLEN, BELOW(8)), .weight = 1 },
	{ CALL(madvise, MAPAT, MAPLEN, OF(4, 8, 9, 3)) },
	{ CALL(write, ANYFD, MAPAT, MAPLEN), .weight = 1 },
	{ CALL(read, ANYFD, MAPAT, MAPLEN), .weight = 1 },
	{ CALL(memfd_create, TEXT("a", "b"), OF(0, 1, 2, 3, 8)), GIVES(K_MEMFD), .weight = 2 },
	{ CALL(fcntl, FD(K_MEMFD), V(F_ADD_SEALS), BELOW(64)), .weight = 1 },
	{ CALL(fcntl, FD(K_MEMFD), V(F_GET_SEALS), V(0)) },
	{ CALL(ftruncate, FD(K_MEMFD), BELOW(100000)), .weight = 2 },
	{ CALL(ftruncate, FD(K_FILE), BELOW(100000)), .weight = 1 },
	{ CALL(write, FD(K_MEMFD), MEM, LEN) },
	{ CALL(fallocate, FD(K_MEMFD), OF(0, 3, 1), BELOW(100000), BELOW(100000)) },
	{ CALL(close, FD(K_MEMFD)) },
	{ CALL(close, FD(K_FILE)) },
	{ CALL(openat, DIRFD, PATH, OF(O_RDWR | O_CREAT, O_RDONLY), V(0600)), GIVES(K_FILE), .weight = 1 },
	{ CALL(process_vm_readv, PID, IOV, BELOW(4), IOV, BELOW(4), V(0)) },
	{ STUBCALL(HC_MMAP, MAPAT, MAPLEN, PROT, OF(MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_FIXED), ANYFD, OF(0, 4096)), .gives = G_HOSTFD, .weight = 2 },
	{ CALL(shmat, ID(ID_SHM), MAPAT, OF(0, 040000)) },
	{ CALL(shmget, OF(0, 1), V(8192), V(01666)), .gives = G_ID, .kind = ID_SHM },
	{ DO("child", child) },
};

#define rows rows_proc
TABLE(table_proc, "proc");
#undef rows
#define rows rows_signal
TABLE(table_signal, "signal");
#undef rows
#define rows rows_memory
TABLE(table_memory, "memory");
