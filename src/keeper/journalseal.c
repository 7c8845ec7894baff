/* Who seals what this process has written (journal.h).
 *
 * While the cell runs: a process for each file that is complete, one at a time. After its end the
 * journal is left to the sealer of the store ("viv-journal tend"), which takes those of many cells
 * together: a line in a queue says how far each can be sealed.
 *
 *   the queue  is a file, locked by its sealer; who gets the lock starts one and hands it over.
 *   A sealer   that has nothing more to do removes the file, and then reads its end: so whoever has
 *              written a line finds that the file has its name still, and the line is read; or that
 *              it has none, and writes the line once more, to the next one.
 *
 * A sealer that is killed leaves the queue as it is: the next cell that ends gets the lock. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/journal.h"
#include "keeper/keeper.h"

/* A sealer that has not done its work after so many more files or so long is replaced by one that
 * does not wait for idle processors. */
#define SEAL_BEHIND 8
#define SEAL_LATE (10 * NSEC_PER_SEC)
#define QUEUES 4 /* that may be removed while a line is written */

static struct {
	struct source ended; /* its pidfd */
	pid_t pid;
	int64_t since;
	unsigned again; /* files that were completed since */
	bool hurry, missing;
	struct jfile *file;
} sealer = { .ended = { .fd = -1 } };

/* ---- the process ---- */

static int program_find(void)
{
	struct err e;
	int fd = program_open("viv-journal", &e);

	if (fd < 0 && !sealer.missing) {
		sealer.missing = true;
		journal_tell("viv-journal is not installed: the cell's journal stays as it is, and "
			     "is not sealed");
	}
	return fd;
}

/* In a child: becomes viv-journal; with these descriptors (-1: none), all others are closed. */
static _Noreturn void become(int program, char *const *argv, int dir, int queue)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2 &&
	    fcntl(dir, F_SETFD, 0) == 0 && (queue < 0 || fcntl(queue, F_SETFD, 0) == 0))
		fexecve(program, argv, environ);
	_exit(126);
}

/* Seals files up to that number. last: nobody waits for it. */
static _Noreturn void seal_exec(int program, uint64_t through, bool last)
{
	static char name[] = "viv-journal", verb[] = "seal", option[] = "--through";
	char dir[32], number[24], *argv[] = { name, verb, dir, option, number, NULL };
	const struct sched_param lowest = { 0 };

	/* Not the link itself, which it would refuse. */
	snprintf(dir, sizeof(dir), "/proc/self/fd/%d/.", sealer.file->dir);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)through);
	/* The work of cells comes first; but nobody hurries the last one. The system call, since
	 * musl refuses the function. */
	if (last)
		(void)setpriority(PRIO_PROCESS, 0, 19);
	else if (!sealer.hurry)
		(void)syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &lowest);
	become(program, argv, sealer.file->dir, -1);
}

/* The sealer of the store. */
static _Noreturn void tend_exec(int program, const struct jfile *f, int queue)
{
	static char name[] = "viv-journal", verb[] = "tend", option[] = "--queue";
	char dir[32], number[16], *argv[] = { name, verb, dir, option, number, NULL };

	snprintf(dir, sizeof(dir), "/proc/self/fd/%d/.", f->dirs);
	snprintf(number, sizeof(number), "%d", queue);
	(void)setpriority(PRIO_PROCESS, 0, 19);
	become(program, argv, f->dirs, queue);
}

/* ---- while the cell runs ---- */

static void sealer_ended(struct source *s, uint32_t events)
{
	(void)events;
	source_close(s);
	while (waitpid(sealer.pid, NULL, 0) < 0 && errno == EINTR)
		;
	sealer.pid = 0;
	jfile_measure(sealer.file);
	if (sealer.again)
		sealer_start(sealer.file);
	else
		sealer.hurry = false;
}

/* It does not get to it: killed it leaves nothing that the next one does not put right. */
static void hurry(void)
{
	sealer.hurry = true;
	sealer.again++;
	(void)kill(sealer.pid, SIGKILL);
}

void sealer_start(struct jfile *f)
{
	int program, pidfd;

	sealer.file = f;
	if (sealer.pid) {
		if (++sealer.again >= SEAL_BEHIND && !sealer.hurry)
			hurry();
		return;
	}
	sealer.again = 0;
	program = f->number > 1 ? program_find() : -1;
	if (program < 0)
		return;
	sealer.pid = fork();
	if (sealer.pid == 0)
		seal_exec(program, f->number - 1, false);
	close(program);
	if (sealer.pid < 0) {
		sealer.pid = 0;
		return;
	}
	sealer.since = clock_mono();
	pidfd = (int)syscall(SYS_pidfd_open, sealer.pid, 0);
	if (pidfd >= 0)
		fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	if (pidfd >= 0 && source_add(&sealer.ended, pidfd, EPOLLIN, sealer_ended) == 0)
		return;
	if (pidfd >= 0)
		close(pidfd);
	sealer.ended.fd = -1;
	while (waitpid(sealer.pid, NULL, 0) < 0 && errno == EINTR)
		;
	sealer.pid = 0;
}

int64_t sealer_deadline(void)
{
	return sealer.pid && !sealer.hurry ? sealer.since + SEAL_LATE : 0;
}

void sealer_time(int64_t now)
{
	if (sealer.pid && !sealer.hurry && now >= sealer.since + SEAL_LATE)
		hurry();
}

/* ---- after it ---- */

/* 1: the line is in the queue, and *ret has its lock; 0: somebody else has that; -1: it is not. */
static int queue_put(const struct jfile *f, int *ret)
{
	char line[80];
	/* Whatever stands before it. */
	int n = snprintf(line, sizeof(line), "\n%s %llu\n", f->id, (unsigned long long)f->number);

	for (int i = 0; i < QUEUES; i++) {
		int fd = openat(f->dirs, JOURNAL_QUEUE,
				O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				0600);
		struct stat st;

		if (fd < 0)
			return -1;
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		    write(fd, line, (size_t)n) != n || fstat(fd, &st) < 0) {
			close(fd);
			return -1;
		}
		if (st.st_nlink && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			*ret = fd;
			return 1;
		}
		close(fd);
		if (st.st_nlink)
			return 0;
	}
	return -1;
}

/* Nobody writes to the last file any more: who takes the journal next begins another one, and need
 * not wait. */
void sealer_leave(struct jfile *f)
{
	int queue = -1, program, rc;

	sealer.file = f;
	if (sealer.ended.fd >= 0)
		source_close(&sealer.ended);
	rc = queue_put(f, &queue);
	if (!rc)
		return;
	program = program_find();
	if (program >= 0) {
		if (fork() == 0) {
			if (rc > 0)
				tend_exec(program, f, queue);
			seal_exec(program, f->number, true);
		}
		close(program);
	}
	if (queue >= 0)
		close(queue);
}
