/* Storms inside a cell: bombs of forks and threads, signals to everybody, stops and continues,
 * process 1, and children that block everything and never ask. The first process stays and looks
 * on. */
#include <pthread.h>

#include "hostile.h"

static void forks(void *arg)
{
	(void)arg;
	for (double end = seconds() + 1; seconds() < end;)
		(void)!fork();
}
static void execs(void *arg)
{
	(void)arg;
	for (double end = seconds() + 1; seconds() < end;)
		if (fork() == 0) {
			if (below(2))
				(void)!fork();
			execl("/bin/sh", "sh", "-c", ":", NULL);
			_exit(1);
		}
}
static void *twin(void *arg)
{
	pthread_t t;

	(void)arg;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t, NULL, twin, NULL) == 0)
			pthread_detach(t);
	RAW(SYS_getppid);
	return NULL;
}
static void threads(void *arg)
{
	(void)arg;
	twin(NULL);
	naptime(700);
}
static void nothing(int sig) { (void)sig; }
static void signal_storm(void *arg)
{
	pid_t kids[16];

	(void)arg;
	for (int i = 0; i < 16; i++)
		if ((kids[i] = fork()) == 0) {
			for (int s = 1; s < 65; s++)
				signal(s, nothing);
			for (;;) {
				RAW(SYS_getppid);
				if (below(2))
					usleep(1);
			}
		}
	for (double end = seconds() + 1; seconds() < end;)
		for (int i = 0; i < 16; i++) {
			union sigval v = { 0 };
			int sig = 1 + (int)below(64);

			if (sig == SIGKILL || sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
				continue;
			if (below(2))
				kill(kids[i], sig);
			else
				sigqueue(kids[i], sig, v);
		}
	for (int i = 0; i < 16; i++)
		kill(kids[i], SIGKILL);
}
static void stop_storm(void *arg)
{
	pid_t kids[8];

	(void)arg;
	for (int i = 0; i < 8; i++)
		if ((kids[i] = fork()) == 0)
			for (;;) {
				pid_t p = fork();

				if (p == 0)
					_exit(0);
				waitpid(p, NULL, 0);
			}
	for (double end = seconds() + 1; seconds() < end;)
		for (int i = 0; i < 8; i++)
			kill(kids[i], below(2) ? SIGSTOP : SIGCONT);
	for (int i = 0; i < 8; i++) {
		kill(kids[i], SIGSTOP);
		kill(kids[i], SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}
static void deaf(void *arg)
{
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (;;)
		;
}
static void kill_threads(void *arg)
{
	pthread_t t[32];
	int p[2];

	(void)arg;
	(void)!pipe(p);
	for (int i = 0; i < 32; i++)
		pthread_create(&t[i], NULL, (void *(*)(void *))(void *)pause, NULL);
	if (below(2))
		execl("/bin/true", "true", NULL);
	kill(getpid(), SIGKILL);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*fn)(void *);
		int ms;
	} kinds[] = {
		{ "a fork bomb", forks, 2500 },
		{ "a storm of execs", execs, 2500 },
		{ "a bomb of threads", threads, 2500 },
		{ "a storm of signals", signal_storm, 4000 },
		{ "a storm of stops", stop_storm, 4000 },
		{ "a process that blocks everything and never asks", deaf, 300 },
		{ "32 parked threads that are killed", kill_threads, 1000 },
	};
	pid_t pid;
	int st;

	for (int s = 1; s < 32; s++)
		if (s != SIGCHLD)
			signal(s, SIG_IGN);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int well = 0;

		for (int n = 0; n < (i > 4 ? 10 : 1); n++)
			in_child(kinds[i].fn, NULL, kinds[i].ms);
		for (int n = 0; n < 100 && !(well = cell_is_well()); n++) {
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
			naptime(50);
		}
		check(well, "%s", kinds[i].name);
	}
	/* Everybody but the one who asks, its parent included, which ignores it. */
	pid = fork();
	if (pid == 0) {
		for (int s = 1; s < 65; s++)
			if (s != SIGKILL && s != SIGSTOP && s != SIGSYS && s < 32)
				kill(-1, s);
		_exit(5);
	}
	waitpid(pid, &st, 0);
	check(WIFEXITED(st) && WEXITSTATUS(st) == 5 && cell_is_well(), "every signal to -1");
	pid = fork();
	if (pid == 0) {
		kill(1, SIGKILL);
		kill(1, SIGSEGV);
		kill(1, SIGSTOP);
		RAW(SYS_tgkill, 1, 1, SIGKILL);
		RAW(SYS_tkill, 1, SIGKILL);
		RAW(424 /* pidfd_send_signal */, RAW_(434, 1, 0, 0, 0, 0, 0), SIGKILL, 0, 0);
		_exit(0);
	}
	waitpid(pid, &st, 0);
	check(cell_is_well(), "process 1 cannot be killed");
	pid = fork();
	if (pid == 0) {
		pid_t parent = getppid();

		kill(parent, SIGSTOP);
		naptime(50);
		kill(parent, SIGCONT);
		_exit(0);
	}
	waitpid(pid, &st, 0);
	check(cell_is_well(), "the first process is stopped and continued");
	return done();
}
