/* What makes further processes of a cell, attacked from inside: a runner that is in no table, and
 * the tokens of those that it is about to make. Runs until its time is up, as the first process of
 * a detached cell, while run.sh starts processes from outside. */
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "hostile.h"

#define PIDS 64

/* A process that nobody announced claims to be the seed, or one of its children. */
static void claim(void)
{
	struct stub_order order = { 0 };
	static const long calls[] = { HC_SEED, HC_SEED_FILL, HC_SEED_BORN, HC_SEED_FAIL, HC_EXEC_BOOT };
	static char boot[sizeof(struct stub_boot)];
	long nr = calls[below(5)];

	if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) != 0)
		return;
	if (nr == HC_SEED)
		RAW(HC_SEED, &order, below(4) ? (long)rnd() : 0);
	else if (nr == HC_EXEC_BOOT)
		RAW(HC_EXEC_BOOT, boot);
	else
		RAW(nr, below(4) ? (long)rnd() : 0, below(2) ? (long)boot : -12);
	/* Still there: it says so where the checker finds it. */
	RAW(SYS_mkdir, "/tmp/claimed", 0700);
	_exit(0);
}

/* The same by a process that is known. */
static int ask(void)
{
	struct stub_order order = { 0 };
	int bad = 0;

	bad += RAW(HC_SEED, &order, rnd()) >= 0;
	bad += RAW(HC_SEED_FILL, rnd(), &order) >= 0;
	bad += RAW(HC_SEED_BORN, rnd()) >= 0;
	bad += RAW(HC_SEED_FAIL, rnd(), -12) >= 0;
	return bad;
}

/* Who is a process that we know: ourselves, and what was started from outside, which is there in
 * /proc. */
static int is_listed(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return access(path, F_OK) == 0;
}

/* The seed has one of the first numbers, and no name to us. */
static int touch(int pid)
{
	char word[8], path[32];
	struct iovec local = { word, sizeof(word) }, remote = { (void *)STUB_BASE, sizeof(word) };
	int bad = 0, fd;

	if (pid == getpid() || pid == 1 || is_listed(pid))
		return 0;
	/* One may have come in between. */
	bad += kill(pid, 0) == 0 && !is_listed(pid);
	bad += kill(pid, SIGKILL) == 0 && !is_listed(pid);
	bad += tgkill(pid, pid, SIGKILL) == 0 && !is_listed(pid);
	bad += process_vm_readv(pid, &local, 1, &remote, 1, 0) > 0 && !is_listed(pid);
	bad += ptrace(PTRACE_ATTACH, pid, 0, 0) == 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR);
	bad += fd >= 0 && !is_listed(pid);
	if (fd >= 0)
		close(fd);
	return bad;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 3);
	int asked = 0, touched = 0;

	printf("begun\n");
	fflush(stdout);
	/* On a busy machine those from outside take their time. */
	for (int i = 0; time(NULL) < end || (access("/tmp/enough", F_OK) && time(NULL) < end + 240);
	     i++) {
		claim();
		asked += ask();
		touched += touch(2 + i % PIDS);
		naptime(1);
	}
	check(asked == 0, "no question of the seed's is answered");
	check(touched == 0, "no process that is not listed can be reached");
	check(access("/tmp/claimed", F_OK) < 0, "who claims to be the seed is ended");
	return done();
}
