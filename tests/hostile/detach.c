/* Calls that wait for long leave the kernel's hands (src/kernel/task/detach.c): guests that do not
 * play along. They block or replace the reserved signal, forge it, ask without having been sent to
 * wait, go there by themselves, use up all room for signals, wreck what it needs. Their own calls
 * may suffer; beside them a process with threads that wait for long goes on answering. usage:
 * detach [seconds] */
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "hostile.h"

#define N 60

static int pipes[N][2];
static volatile int came, answers;

struct k_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

static void crowd_pipes(void)
{
	for (int i = 0; i < N; i++)
		if (pipe(pipes[i]) < 0)
			_exit(99);
}

static void *reader(void *arg)
{
	int i = (int)(long)arg;
	char c = 0;
	ssize_t n;

	while ((n = read(pipes[i][0], &c, 1)) == 1 && c == (char)i)
		__atomic_fetch_add(&answers, 1, __ATOMIC_SEQ_CST);
	return (void *)(long)n;
}

static void crowd_start(void *(*fn)(void *))
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	for (long i = 0; i < N; i++)
		if (pthread_create(&t, &a, fn, (void *)i) != 0)
			_exit(98);
}

static void make_calls(int n)
{
	while (n--)
		RAW(SYS_getppid);
}

/* Each of them gets its own byte, and says so. Exit status 0: all of them, each time. */
static void feed(int rounds)
{
	int want = answers;

	while (rounds--) {
		double end = seconds() + 20;

		for (int i = 0; i < N; i++)
			if (write(pipes[i][1], &(char){ (char)i }, 1) != 1)
				_exit(97);
		want += N;
		while (answers < want && seconds() < end)
			naptime(1);
		if (answers != want)
			_exit(1);
		make_calls(6000);
	}
}

/* ---- what is done to the reserved signal ---- */

static void *reader_blocked(void *arg)
{
	uint64_t set = 1ul << 63;

	MARKED(SYS_rt_sigprocmask, SIG_BLOCK, &set, 0, 8, 0);
	return reader(arg);
}

static void blocked(void *arg)
{
	(void)arg;
	crowd_pipes();
	crowd_start(reader_blocked);
	naptime(50);
	make_calls(6000);
	feed(2);
}

static void replaced(void *arg)
{
	struct k_action a = { .handler = arg };

	crowd_pipes();
	crowd_start(reader);
	naptime(50);
	MARKED(SYS_rt_sigaction, STUB_SIG, &a, 0, 8, 0);
	make_calls(6000);
	feed(2);
}

static void deaf(int sig)
{
	came = sig;
}

static void forged(void *arg)
{
	struct {
		int32_t signo, err, code, pad;
		uint64_t w[14];
	} si;

	(void)arg;
	crowd_pipes();
	crowd_start(reader);
	for (int i = 0; i < 3000; i++) {
		static const unsigned flags[] = { SIGF_WAIT, SIGF_WAIT | SIGF_WAKE, SIGF_WAKE,
						  SIGF_WAIT | SIGF_RESTART };

		memset(&si, 0, sizeof(si));
		si.signo = STUB_SIG;
		si.code = -1;
		si.err = (int32_t)SIG_PACK(i % 7 ? 0 : SIGUSR1, flags[rnd() % 4], 0);
		for (int k = 0; k < 4; k++)
			si.w[k] = rnd() % 2 ? rnd() : rnd() % 400;
		MARKED(SYS_rt_tgsigqueueinfo, getpid(), gettid(), STUB_SIG, &si, 0);
		RAW(HC_WAIT_END, rnd() % 2 ? rnd() : (uint64_t)&si);
	}
	feed(2);
}

/* ---- asking, and going there ---- */

static volatile pid_t asked_tid;

static void *asker(void *arg)
{
	struct stub_wait w;

	(void)arg;
	while (!asked_tid || answers >= 0) {
		RAW(HC_WAIT_END, &w);
		RAW(HC_WAIT_END, rnd());
		RAW(HC_WAIT_END, &w, rnd(), rnd());
	}
	return NULL;
}

static void asks(void *arg)
{
	pthread_t t;

	(void)arg;
	crowd_pipes();
	crowd_start(reader);
	pthread_create(&t, NULL, asker, NULL);
	make_calls(6000);
	feed(2);
}

static char *wait_find(void)
{
	static const unsigned char code[] = { 0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb };

	return memmem((void *)STUB_BASE, 0x6000, code, sizeof(code));
}

static void *goes_there(void *arg)
{
	__asm__ volatile("movabs %[m], %%r9\n\tjmp *%0"
			 :
			 : "r"(arg), "a"(SYS_pause), [m] "i"(STUB_MAGIC)
			 : "r9");
	return NULL;
}

static void by_itself(void *arg)
{
	struct sigaction sa = { .sa_handler = deaf };
	char *at = wait_find();
	pthread_t t[8];

	(void)arg;
	if (!at)
		_exit(2);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGCONT, &sa, NULL);
	crowd_pipes();
	crowd_start(reader);
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, goes_there, at + i % 2 * 5);
	naptime(50);
	make_calls(6000);
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 8; i++)
			pthread_kill(t[i], k % 2 ? SIGUSR1 : SIGCONT);
	feed(2);
}

/* A handler that finds itself on top of the wait, or makes it look so. */
static void lead_there(int sig, siginfo_t *si, void *ctx)
{
	ucontext_t *uc = ctx;

	(void)sig, (void)si;
	uc->uc_mcontext.gregs[REG_RIP] = (long)wait_find();
	uc->uc_mcontext.gregs[REG_R9] = (long)STUB_MAGIC;
}

static void led_there(void *arg)
{
	struct sigaction sa = { .sa_sigaction = lead_there, .sa_flags = SA_SIGINFO };

	(void)arg;
	crowd_pipes();
	crowd_start(reader);
	sigaction(SIGUSR1, &sa, NULL);
	pid_t pid = getpid(), me = gettid();
	if (fork() == 0) {
		for (int i = 0; i < 50; i++) {
			RAW(SYS_tgkill, pid, me, i % 2 ? SIGUSR1 : SIGCONT);
			naptime(2);
		}
		kill(pid, SIGKILL);
		_exit(0);
	}
	raise(SIGUSR1);
	_exit(3);
}

/* ---- no room ---- */

static void no_room(void *arg)
{
	struct sigaction sa = { .sa_handler = deaf, .sa_flags = SA_RESTART };
	struct rlimit none = { 0, 0 };

	(void)arg;
	sigaction(SIGUSR1, &sa, NULL);
	crowd_pipes();
	crowd_start(reader);
	naptime(50);
	make_calls(8000);
	setrlimit(RLIMIT_SIGPENDING, &none);
	for (int i = 0; i < 5; i++) {
		kill(getpid(), SIGUSR1);
		feed(1);
	}
}

/* ---- wrecks ---- */

static void *reader_wrecked(void *arg)
{
	stack_t ss = { .ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		       .ss_size = 65536 };

	if ((long)arg % 4 == 0) {
		sigaltstack(&ss, NULL);
		munmap(ss.ss_sp, 65536);
	}
	return reader(arg);
}

static void wrecked(void *arg)
{
	crowd_pipes();
	crowd_start(arg ? reader : reader_wrecked);
	naptime(50);
	if (arg)
		munmap((void *)STUB_BASE, STUB_SPAN);
	make_calls(6000);
	feed(2);
}

/* ---- everything at once ---- */

static void *restless(void *arg)
{
	char c;

	for (;;) {
		struct pollfd p = { .fd = pipes[rnd() % N][0], .events = POLLIN };

		if (rnd() % 2)
			(void)!read(pipes[(long)arg][0], &c, 1);
		else
			poll(&p, 1, (int)(rnd() % 20));
	}
	return NULL;
}

static void storm(void *arg)
{
	struct sigaction sa = { .sa_handler = deaf };

	(void)arg;
	setpgid(0, 0);
	seed_state ^= (uint64_t)getpid() << 20;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGCONT, &sa, NULL);
	crowd_pipes();
	crowd_start(restless);
	for (int i = 0; i < 400; i++) {
		switch (rnd() % 5) {
		case 0:
			kill(getpid(), rnd() % 2 ? SIGUSR1 : SIGUSR2);
			break;
		case 1:
			make_calls(300);
			break;
		case 2:
			for (int k = 0; k < 20; k++)
				(void)!write(pipes[rnd() % N][1], "x", 1);
			break;
		case 3:
			if (fork() == 0) {
				pid_t parent = getppid();

				kill(parent, SIGSTOP);
				make_calls(50);
				kill(parent, SIGCONT);
				_exit(0);
			}
			break;
		default:
			RAW(SYS_tkill, getpid() + 1 + (long)(rnd() % N), SIGUSR1);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* ---- the bystander ---- */

static pid_t bystander_start(int out)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	crowd_pipes();
	crowd_start(reader);
	naptime(50);
	make_calls(6000);
	(void)!write(out, "r", 1);
	for (;;) {
		feed(1);
		(void)!write(out, "x", 1);
	}
}

static int rounds_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[4096];
	ssize_t n;
	int sum = 0;

	while (poll(&p, 1, 0) == 1 && (n = read(fd, buf, sizeof(buf))) > 0)
		sum += (int)n;
	return sum;
}

static void tried(const char *what, void (*fn)(void *), void *arg, int must)
{
	int status = in_child(fn, arg, 60000);

	if (must)
		check(status == 0, "%s: all calls had their answers (%x)", what, status);
	else
		check(status != -1, "%s: over in time (%x)", what, status);
	check(cell_is_well(), "%s: the cell is well", what);
}

int main(int argc, char **argv)
{
	double end = seconds() + (argc > 1 ? atoi(argv[1]) : 2);
	int out[2], rounds = 0;
	pid_t other;
	char c;

	if (pipe(out) < 0)
		return 1;
	other = bystander_start(out[1]);
	check(read(out[0], &c, 1) == 1, "somebody waits for long");
	tried("signal blocked", blocked, NULL, 1);
	tried("signal ignored", replaced, SIG_IGN, 0);
	tried("signal at its default", replaced, SIG_DFL, 0);
	tried("signal with another handler", replaced, (void *)deaf, 0);
	tried("forged", forged, NULL, 0);
	tried("asked for", asks, NULL, 1);
	tried("gone there", by_itself, NULL, 1);
	tried("led there", led_there, NULL, 0);
	tried("no room for signals", no_room, NULL, 1);
	tried("no alternate stack", wrecked, NULL, 0);
	tried("no stub", wrecked, (void *)1, 0);
	do
		tried("storm", storm, NULL, 0);
	while (seconds() < end && ++rounds < 50);
	check(waitpid(other, NULL, WNOHANG) == 0, "the bystander lives");
	rounds = rounds_of(out[0]);
	check(rounds > 0, "the bystander answered %d times", rounds);
	check(read(out[0], &c, 1) == 1, "and still does");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return done();
}
