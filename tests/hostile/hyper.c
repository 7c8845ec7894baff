/* The stub's own calls, by a guest: marked clones that are never announced or announced twice or as
 * something else, execs without a plan, boots without an exec, births that never come, closed and
 * foreign descriptors, wrecked stubs. Children may die. */
#include <pthread.h>
#include <sys/prctl.h>

#include "hostile.h"
#include <poll.h>

#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static char stacks[64][16384];

static void spin(void)
{
	for (;;)
		;
}

static long prep(long flags)
{
	return RAW(HC_CLONE_PREP, flags, flags & 0xff);
}

/* A process that is made without asking: its first question ends it. */
static void unannounced_asks(void *arg)
{
	long pid = MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	(void)arg;
	if (pid == 0) {
		RAW(SYS_getppid);
		RAW(SYS_openat, AT_FDCWD, "/tmp/never", O_CREAT | O_RDWR, 0600);
		spin();
	}
	naptime(50);
}

static void unannounced_thread(void *arg)
{
	(void)arg;
	__asm__ volatile("mov $56, %%eax; movabs %[magic], %%r9; syscall; test %%rax, %%rax; jnz 1f;"
			 "2: mov $110, %%eax; syscall; jmp 2b; 1:"
			 :
			 : "D"(THREAD_FLAGS), "S"(stacks[0] + sizeof(stacks[0])), "d"(0),
			   [magic] "i"(STUB_MAGIC)
			 : "rax", "rcx", "r9", "r11", "memory");
	naptime(100);
}

/* One token, two children. */
static void token_twice(void *arg)
{
	long token = prep(SIGCHLD);

	(void)arg;
	for (int i = 0; i < 2; i++)
		if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
			RAW(HC_CHILD, token);
			RAW(HC_CHILD, token);
			RAW(SYS_openat, AT_FDCWD, "/tmp", O_RDONLY);
			RAW(HC_CHILD, token);
			_exit(3);
		}
	RAW(HC_CHILD, token);
	RAW(HC_CLONE_CANCEL, token);
	RAW(HC_CLONE_CANCEL, token);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	naptime(30);
}

/* A process that says it is a thread, and the other way round. */
static void process_as_thread(void *arg)
{
	long token = prep(THREAD_FLAGS);

	(void)arg;
	if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
		RAW(HC_CHILD, token);
		for (int i = 0; i < 100; i++)
			RAW(SYS_getppid);
		RAW(SYS_exit, 0);
	}
	naptime(30);
	RAW(SYS_exit, 0); /* the leader leaves, a "thread" stays */
}

static void thread_as_process(void *arg)
{
	long token = prep(SIGCHLD);

	(void)arg;
	__asm__ volatile("mov $56, %%eax; movabs %[magic], %%r9; syscall; test %%rax, %%rax; jnz 1f;"
			 "mov $0x7602, %%eax; mov %%rbx, %%rdi; syscall;"
			 "mov $110, %%eax; syscall; mov $60, %%eax; syscall; ud2; 1:"
			 :
			 : "D"(THREAD_FLAGS), "S"(stacks[1] + sizeof(stacks[1])), "d"(0), "b"(token),
			   [magic] "i"(STUB_MAGIC)
			 : "rax", "rcx", "r9", "r11", "memory");
	naptime(30);
}

/* Children of a runner and not of the kernel: their end is nobody's business. */
static void not_the_kernels_child(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		long token = i & 1 ? prep(SIGCHLD) : 0;

		if (MARKED(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
			if (token)
				RAW(HC_CHILD, token);
			RAW(SYS_exit_group, 0);
		}
	}
	naptime(30);
}

static void births_never(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10000; i++)
		if (prep(SIGCHLD) < 0)
			break;
}

static void boot_without_exec(void *arg)
{
	static char boot[8192];

	(void)arg;
	RAW(HC_EXEC_BOOT, boot);
}

static void boot_after_prep(void *arg)
{
	static char boot[16384];
	pthread_t th;

	(void)arg;
	pthread_create(&th, NULL, (void *(*)(void *))(void *)pause, NULL);
	RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0);
	RAW(HC_EXEC_BOOT, boot);
	RAW(HC_EXEC_DONE, boot);
	RAW(HC_EXEC_DONE, -1);
	RAW(HC_EXEC_CANCEL);
	for (int i = 0; i < 100; i++)
		RAW(SYS_getppid);
	RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0);
	RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/sh", 0, 0);
	RAW(HC_EXEC_PREP, AT_FDCWD, "/nonexistent", 0, 0);
	RAW(HC_EXEC_BOOT, 8);
}

static void *prep_and_leave(void *arg)
{
	(void)arg;
	RAW(HC_EXEC_PREP, AT_FDCWD, "/bin/true", 0, 0);
	prep(SIGCHLD);
	prep(THREAD_FLAGS);
	return NULL;
}

static void exec_with_ghosts(void *arg)
{
	static char boot[16384];
	pthread_t th[4];

	(void)arg;
	for (int i = 0; i < 4; i++)
		pthread_create(&th[i], NULL, prep_and_leave, NULL);
	if (rnd() & 1)
		for (int i = 0; i < 4; i++)
			pthread_join(th[i], NULL);
	RAW(HC_EXEC_BOOT, boot);
	execl("/bin/true", "true", NULL);
}

static void native_exec_without_prep(void *arg)
{
	char *none[] = { NULL };

	(void)arg;
	MARKED(SYS_execveat, STUB_FD, "", none, none, AT_EMPTY_PATH);
}

static void exec_other_descriptors(void *arg)
{
	char *none[] = { NULL };

	(void)arg;
	for (int fd = 0; fd < 256; fd++)
		if (fd != STUB_FD)
			MARKED(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH);
	MARKED(SYS_execveat, AT_FDCWD, "/bin/sh", none, none, 0);
	MARKED(SYS_execveat, STUB_FD, "../../bin/sh", none, none, AT_EMPTY_PATH);
	RAW(SYS_execveat, 0x100000000L | STUB_FD, "", none, none, AT_EMPTY_PATH, STUB_MAGIC);
}

/* Descriptors that pile up in the runner, and a stub that is replaced by a file of the guest's. */
static void descriptors(void *arg)
{
	int fd = open("/tmp/prog", O_CREAT | O_RDWR | O_TRUNC, 0755), n = 0;
	char *none[] = { NULL };

	(void)arg;
	(void)!write(fd, "\177ELF", 4);
	(void)!ftruncate(fd, 4096);
	for (int i = 0; i < 256; i++)
		MARKED(SYS_close, i, 0, 0, 0, 0);
	for (int i = 0; i < 300; i++)
		n += RAW(HC_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0) >= 0;
	for (int i = 0; i < 256; i++)
		RAW(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, STUB_MAP_FD(i), 0);
	MARKED(SYS_execveat, STUB_FD, "", none, none, AT_EMPTY_PATH);
	_exit(n < 256 ? 0 : 1);
}

static void close_everything_then_work(void *arg)
{
	(void)arg;
	for (int i = 0; i < 256; i++)
		MARKED(SYS_close, i, 0, 0, 0, 0);
	for (int i = 0; i < 20; i++) {
		int fd = open("/bin/sh", O_RDONLY);

		(void)!mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	if (fork() == 0)
		execl("/bin/true", "true", NULL);
	wait(NULL);
	execl("/bin/true", "true", NULL);
}

static void sig_questions(void *arg)
{
	char info[128] = { 0 };

	(void)arg;
	for (long s = -5; s < 70; s++) {
		RAW(HC_SIGACTION, s, rnd(), rnd());
		RAW(HC_REROUTE, s, info);
		RAW(HC_REROUTE, s, -1);
		RAW(HC_TAKEN, s);
	}
	RAW(SYS_ppoll, 0, 0, 0, 0, 0, STUB_MAGIC);
	RAW(SYS_ppoll, info, 1, 0, 0, 0, STUB_MAGIC);
	RAW(HC_PSELECT6, 0, 0, 0, 0, 0, STUB_MAGIC);
	RAW(HC_PSELECT6, 1000, info, info, info, 0, STUB_MAGIC);
	int ep = (int)RAW(SYS_epoll_create1, 0);

	RAW(SYS_epoll_pwait, ep, info, 1, -1, 0, STUB_MAGIC);
	RAW(SYS_epoll_pwait, 0, info, 10, -1, 0, STUB_MAGIC);
	for (int s = 1; s < 65; s++)
		if (s != SIGKILL && s != SIGSTOP) {
			struct {
				long h, f, r, m;
			} sa = { 1, 0, 0, 0 };

			MARKED(SYS_rt_sigaction, s, &sa, 0, 8, 0);
		}
	RAW(SYS_getppid);
	RAW(SYS_fork); /* the trap is ignored now: the end */
}

/* A call that was armed with one shape comes back with another. */
static void armed_changes(void *arg)
{
	struct {
		int fd;
		short e, r;
	} p[600] = { { 0 } };
	struct timespec ts = { 0, 1000000 };
	int pipes[2];

	(void)arg;
	(void)!pipe(pipes);
	for (int i = 0; i < 600; i++) {
		p[i].fd = pipes[0];
		p[i].e = 1;
	}
	for (int i = 0; i < 200; i++) {
		RAW(SYS_ppoll, p, 1 + below(600), below(2) ? &ts : 0, 0, 8, STUB_MAGIC);
		RAW(HC_PSELECT6, below(300), p, 0, 0, &ts, STUB_MAGIC);
		if (!below(4))
			RAW(SYS_close, pipes[below(2)]);
		if (!below(4))
			(void)!pipe(pipes);
		if (!below(8))
			RAW(SYS_getppid);
	}
}

/* The same question again and again, of which only the last is remembered. */
static void armed_repeats(void *arg)
{
	struct {
		int fd;
		short e, r;
	} p[200] = { { 0 } };
	int pipes[2];
	char c;

	(void)arg;
	(void)!pipe(pipes);
	for (int i = 0; i < 200; i++) {
		p[i].fd = pipes[0];
		p[i].e = 1;
	}
	for (int i = 0; i < 50; i++) {
		for (int n = 10; n < 200; n += 10)
			for (int k = 0; k <= i % 3; k++)
				RAW(SYS_ppoll, p, n, 0, 0, 8, STUB_MAGIC);
		(void)!write(pipes[1], "x", 1);
		(void)!read(pipes[0], &c, 1);
	}
}

static void bomb(void *arg)
{
	(void)arg;
	setpgid(0, 0);
	for (int i = 0; i < 3000; i++)
		if (MARKED(SYS_clone, (i & 1 ? CLONE_PARENT : 0) | SIGCHLD, 0, 0, 0, 0) == 0)
			for (double end = seconds() + 2; seconds() < end;)
				MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

/* They never ask and never end. */
static void bomb_for_ever(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3000; i++)
		if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
			for (;;)
				MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

/* The same, but each asks before; these the kernel knows and can end. */
static void asking_bomb(void *arg)
{
	(void)arg;
	for (double end = seconds() + 1; seconds() < end;)
		(void)!fork();
}

static void mm_and_name(void *arg)
{
	uint64_t m[14];

	(void)arg;
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 14; j++)
			m[j] = below(3) ? rnd() & 0x7fffffffffffUL : (uint64_t)m;
		m[13] = (uint64_t)below(256) << 32 | below(512);
		MARKED(SYS_prctl, 35, below(16), m, sizeof(m) - 4 * below(3), 0);
	}
	MARKED(SYS_prctl, 15, -1, 0, 0, 0);
	MARKED(SYS_prctl, 15, "a)b(c\n) R 1", 0, 0, 0);
	for (int i = 0; i < 64; i++)
		if (i != 15 && i != 35)
			MARKED(SYS_prctl, i, 1, 0, 0, 0);
	execl("/bin/cat", "cat", "/proc/self/maps", "/proc/self/stat", "/proc/self/status", NULL);
}

/* Asks for a birth, which copies the table of files, and dies before the clone: the pipe must end
 * all the same. */
static int orphan_lets_go(void)
{
	struct pollfd p = { .events = POLLIN };
	int fd[2], ret;
	pid_t pid;

	if (pipe(fd) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		raw(HC_CLONE_PREP, SIGCHLD, SIGCHLD, 0, 0, 0, 0);
		raw(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	close(fd[1]);
	waitpid(pid, NULL, 0);
	p.fd = fd[0];
	ret = poll(&p, 1, 8000);
	close(fd[0]);
	return ret == 1 && (p.revents & POLLHUP);
}

static const struct {
	const char *name;
	void (*fn)(void *);
	int ms;
} cases[] = {
	{ "an unannounced process that asks", unannounced_asks, 1000 },
	{ "an unannounced thread that asks", unannounced_thread, 1000 },
	{ "a token that is used twice", token_twice, 1000 },
	{ "a process announced as a thread", process_as_thread, 1000 },
	{ "a thread announced as a process", thread_as_process, 1000 },
	{ "children that are not the kernel's", not_the_kernels_child, 2000 },
	{ "HC_EXEC_BOOT without a plan", boot_without_exec, 1000 },
	{ "HC_EXEC_BOOT without an exec", boot_after_prep, 1000 },
	{ "exec with births and plans of dead threads", exec_with_ghosts, 1000 },
	{ "a native exec without a plan", native_exec_without_prep, 1000 },
	{ "native execs of other descriptors", exec_other_descriptors, 1000 },
	{ "descriptors that pile up", descriptors, 1000 },
	{ "closed descriptors", close_everything_then_work, 1000 },
	{ "questions about signals", sig_questions, 500 },
	{ "armed calls that change", armed_changes, 1000 },
	{ "armed calls that are repeated", armed_repeats, 1000 },
	{ "hostile memory descriptions and names", mm_and_name, 1000 },
	{ "a thousand births that never come", births_never, 2000 },
	{ "a fork bomb behind the kernel's back", bomb, 1500 },
	{ "one that never asks and never ends", bomb_for_ever, 1200 },
	{ "a fork bomb", asking_bomb, 2000 },
};

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int out, well = 0;

		if (argc > 1 && !strstr(cases[i].name, argv[1]))
			continue;
		fflush(stdout);
		out = dup(1);
		dup2(null, 1);
		for (int n = 0; n < 1 && i < 17; n++)
			in_child(cases[i].fn, NULL, cases[i].ms);
		in_child(cases[i].fn, NULL, cases[i].ms);
		dup2(out, 1);
		close(out);
		/* A bomb may hold all places until its processes are found. */
		for (int n = 0; n < 60 && !(well = cell_is_well()); n++) {
			naptime(200);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
		check(well, "%s", cases[i].name);
	}
	check(orphan_lets_go(), "a birth whose maker died keeps no file open");
	check(access("/tmp/never", F_OK) < 0, "unannounced processes had no effect");
	return done();
}
