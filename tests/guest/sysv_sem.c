/* SysV semaphores: atomic operations, waiting, undo at exit, counts of waiters, removal under a
 * waiter. */
#include "guest.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <time.h>

static int id;

/* What a child says is shown when it has ended: the order of two processes is nobody's promise. */
static char *said;

static void say(const char *fmt, int r, const char *text)
{
	sprintf(said + strlen(said), fmt, r, text);
}

static int said_wait(pid_t pid)
{
	int status = xwait(pid);
	printf("%s", said);
	said[0] = 0;
	return status;
}

static int op1(int num, int op, int flg)
{
	return semop(id, &(struct sembuf){ num, op, flg }, 1);
}

static void values(void)
{
	unsigned short v[3];
	CHECK(semctl(id, 0, GETALL, v) == 0);
	printf("%d %d %d\n", v[0], v[1], v[2]);
}

static void waits(int num, int cmd)
{
	for (int i = 0; i < 2000 && semctl(id, num, cmd) != 1; i++)
		usleep(1000);
	printf("%d waits\n", semctl(id, num, cmd));
}

static void with_undo(void)
{
	SHOW(op1(0, 3, SEM_UNDO));
	SHOW(op1(1, -2, SEM_UNDO));
	values();
}

static void on_alarm(int sig)
{
	(void)sig;
}

int main(void)
{
	struct timespec soon = { .tv_nsec = 20000000 };
	struct semid_ds ds;
	pid_t pid;

	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	id = semget(IPC_PRIVATE, 3, 0600);
	CHECK(id >= 0);
	values();
	unsigned short all[3] = { 1, 5, 0 };
	SHOW(semctl(id, 0, SETALL, all));
	values();
	SHOW(semctl(id, 2, SETVAL, 7));
	SHOW(semctl(id, 2, GETVAL));
	CHECK(semctl(id, 2, GETPID) == getpid());
	SHOW(semctl(id, 2, SETVAL, 32768));
	SHOW(semctl(id, 3, GETVAL));
	SHOW(semctl(id, -1, GETVAL));

	/* All or nothing. */
	struct sembuf two[2] = { { 0, -1, 0 }, { 1, -6, IPC_NOWAIT } };
	SHOW(semop(id, two, 2));
	values();
	two[1].sem_op = -5;
	SHOW(semop(id, two, 2));
	values();
	SHOW(op1(0, -1, IPC_NOWAIT));
	SHOW(op1(2, 0, IPC_NOWAIT));
	SHOW(op1(0, 0, 0));
	SHOW(op1(2, 32767, 0));
	SHOW(op1(3, 1, 0));
	SHOW(semop(id, two, 0));
	SHOW(semop(id, (void *)8, 1));
	SHOW(semop(-1, two, 1));
	SHOW(semop(id + 1000000, two, 1));
	SHOW(semop(id, two, 501));
	SHOW(semtimedop(id, &(struct sembuf){ 0, -1, 0 }, 1, &soon));
	soon.tv_nsec = -1;
	SHOW(semtimedop(id, &(struct sembuf){ 0, -1, 0 }, 1, &soon));

	/* Waiting for more and for zero. */
	pid = xfork();
	if (pid == 0) {
		int r = op1(0, -2, 0);
		say("child got it: %d%s\n", r, "");
		r = op1(2, 0, 0);
		say("child saw zero: %d%s\n", r, "");
		_exit(0);
	}
	waits(0, GETNCNT);
	op1(0, 1, 0);
	waits(0, GETNCNT);
	op1(0, 1, 0);
	waits(2, GETZCNT);
	semctl(id, 2, SETVAL, 0);
	show_status("child", said_wait(pid));
	values();

	/* Undo. */
	semctl(id, 0, SETALL, (unsigned short[]){ 1, 5, 0 });
	in_child(with_undo);
	values();
	pid = xfork();
	if (pid == 0) {
		op1(1, -5, SEM_UNDO);
		for (;;)
			pause();
	}
	for (int i = 0; i < 2000 && semctl(id, 1, GETVAL); i++)
		usleep(1000);
	pid_t waiter = xfork();
	if (waiter == 0) {
		int r = op1(1, -1, 0);
		say("waiter: %d%s\n", r, "");
		_exit(0);
	}
	waits(1, GETNCNT);
	kill(pid, SIGKILL);
	show_status("holder", xwait(pid));
	show_status("waiter", said_wait(waiter));
	values();

	/* A signal, and the end of the set. */
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	sigaction(SIGUSR1, &sa, NULL);
	pid = xfork();
	if (pid == 0) {
		int r = op1(2, -1, 0);
		say("interrupted: %d %s\n", r, ename(errno));
		r = op1(2, -1, 0);
		say("removed: %d %s\n", r, ename(errno));
		_exit(0);
	}
	waits(2, GETNCNT);
	kill(pid, SIGUSR1);
	usleep(50000);
	waits(2, GETNCNT);
	CHECK(semctl(id, 0, IPC_STAT, &ds) == 0);
	printf("nsems %lu mode %o otime %d\n", ds.sem_nsems, ds.sem_perm.mode, ds.sem_otime != 0);
	SHOW(semctl(id, 0, IPC_RMID));
	show_status("child", said_wait(pid));
	SHOW(semctl(id, 0, IPC_RMID));
	SHOW(semget(IPC_PRIVATE, 0, 0600));
	SHOW(semget(IPC_PRIVATE, -1, 0600));
	return 0;
}
