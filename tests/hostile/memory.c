/* Memory that is hidden from the kernel's own accounting, where no cgroup counts it: each way may
 * hold little more than the limit. Run with a limit of 64 MiB; what holds 400 MiB for a second has
 * passed it. usage: memory [part of a name]; the last one, which can end the cell, only if it is
 * named */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "hostile.h"

#define MUCH (400UL << 20)
#define PARTS 10

static int tell; /* a byte: as much is held */
/* By processes that may ask nothing: each counts while it lives and holds its part. */
static volatile unsigned *beats;

static void use(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
}

static void part(int i)
{
	use(MUCH / PARTS);
	for (;; naptime(1))
		beats[i]++;
}

static void parts_judge(void)
{
	unsigned before[PARTS], alive = 0;

	naptime(1500);
	for (int i = 0; i < PARTS; i++)
		before[i] = beats[i];
	naptime(300);
	for (int i = 0; i < PARTS; i++)
		alive += beats[i] != before[i];
	if (alive > PARTS / 2)
		(void)!write(tell, "x", 1);
	pause();
}

/* Unknown to the kernel, but it can take them for children on their way. */
static void behind_births(void)
{
	for (int i = 0; i < 64; i++)
		RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD);
	for (int i = 0; i < PARTS; i++)
		if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
			part(i);
	parts_judge();
}

/* Asked for as those that share our memory, and made with a copy of it. */
static void not_shared(void)
{
	for (int i = 0; i < PARTS; i++) {
		long token = RAW(HC_CLONE_PREP, CLONE_VM | CLONE_VFORK | SIGCHLD, SIGCHLD);

		if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
			RAW(HC_CHILD, token);
			part(i);
		}
	}
	parts_judge();
}

static void *thread_uses(void *arg)
{
	(void)arg;
	naptime(100);
	use(MUCH);
	naptime(1000);
	(void)!write(tell, "x", 1);
	pause();
	return NULL;
}

/* The first thread is ended by the host, which the kernel does not hear of. */
static void no_first_thread(void)
{
	/* A filter that kills the thread at its next getppid; the mark makes it the host's
	 * alone. */
	static const struct {
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} code[] = { { 0x20, 0, 0, 0 }, { 0x15, 0, 1, SYS_getppid }, { 0x06, 0, 0, 0 }, { 0x06, 0, 0, 0x7fff0000 } };
	const struct {
		uint16_t len;
		const void *p;
	} prog = { 4, code };
	pthread_t th;

	pthread_create(&th, NULL, thread_uses, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	MARKED(SYS_seccomp, 1, 0, &prog, 0, 0);
	RAW(SYS_getppid);
	RAW(SYS_exit, 0); /* or as ever */
}

/* One page table for each two megabytes that are read, and no page. */
static void page_tables(void)
{
	size_t step = 2UL << 20, n = MUCH / 4096;
	volatile char *p = mmap(NULL, n * step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char sum = 0;

	if (p == MAP_FAILED)
		return;
	madvise((void *)p, n * step, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		sum |= p[i * step];
	naptime(1000);
	(void)!write(tell, "x", sum + 1);
	pause();
}

/* Handed on from process to process, each of which is gone soon: they share one address space, and
 * are known to nobody. */
static void handed_on(void)
{
	char *p = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t at = 0;

	if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) != 0) {
		double end = seconds() + 5;
		unsigned before;

		do {
			before = beats[0];
			naptime(300);
		} while (seconds() < end && beats[1] < MUCH >> 20);
		if (beats[1] >= MUCH >> 20 && beats[0] != before)
			(void)!write(tell, "x", 1);
		pause();
	}
	for (;;) {
		for (double stop = seconds() + 0.005; seconds() < stop; beats[0]++)
			if (at < MUCH) {
				p[at] = 1;
				at += 4096;
				beats[1] = at >> 20;
			}
		/* Both are on the same stack: who made the other one only leaves. */
		if (MARKED(SYS_clone, CLONE_VM | CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) != 0)
			RAW(SYS_exit_group, 0);
	}
}

/* The kernel's own objects: names and inodes of a tmpfs. */
static void in_the_kernel(void)
{
	char path[300];
	int n = 0;

	memset(path, 'n', 255);
	for (; n < 900000; n++) {
		snprintf(path + 200, 50, "%d", n);
		if (symlink(path, path) < 0)
			break;
		memset(path + 200, 'n', 50);
	}
	(void)!write(tell, "x", n > 600000);
	pause();
}

static const struct {
	const char *name;
	void (*fn)(void);
	int seconds;
} kinds[] = {
	{ "processes behind births that never come", behind_births, 8 },
	{ "a copy in place of shared memory", not_shared, 8 },
	{ "a process without its first thread", no_first_thread, 8 },
	{ "page tables", page_tables, 8 },
	{ "memory that is handed on", handed_on, 8 },
	{ "names in the kernel's memory", in_the_kernel, 30 },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct pollfd p = { .events = POLLIN };
		int fds[2];
		pid_t pid;

		if (argc > 1 ? !strstr(kinds[i].name, argv[1]) : kinds[i].fn == in_the_kernel)
			continue;
		(void)!pipe(fds);
		pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			tell = fds[1];
			beats = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			(void)!chdir("/tmp");
			kinds[i].fn();
			_exit(0);
		}
		close(fds[1]);
		p.fd = fds[0];
		poll(&p, 1, kinds[i].seconds * 1000);
		check(!(p.revents & POLLIN), "%s: %s", kinds[i].name, p.revents & POLLIN ? "not noticed" : "the limit holds");
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) >= 0 && errno != ECHILD)
			naptime(1);
		close(fds[0]);
	}
	return done();
}
