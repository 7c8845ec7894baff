/* POSIX locks belong to a table of descriptors: processes that share one share the locks, and a
 * lock that was waited for while its descriptor was closed is not kept. */
#include "guest.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
static int fd, result, error;

/* What another process meets. */
static const char *seen_by_other(const char *path)
{
	int p[2], type = -1;

	if (pipe(p) < 0)
		return "?";
	if (fork() == 0) {
		struct flock l = all;
		int f = open(path, O_RDWR);

		fcntl(f, F_GETLK, &l);
		type = l.l_type;
		(void)!write(p[1], &type, sizeof(type));
		_exit(0);
	}
	(void)!read(p[0], &type, sizeof(type));
	wait(NULL);
	close(p[0]);
	close(p[1]);
	return type == F_UNLCK ? "free" : type == F_WRLCK ? "locked" : "?";
}

static void *waiter(void *arg)
{
	(void)arg;
	result = fcntl(fd, F_SETLKW, &all);
	error = errno;
	return NULL;
}

static void shared_table(void)
{
	pid_t pid;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	SHOW(fcntl(fd, F_SETLK, &all));
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		struct flock l = all;

		fcntl(fd, F_GETLK, &l);
		printf("a process with the same table meets %s\n", l.l_type == F_UNLCK ? "none" : "a lock");
		SHOW(fcntl(fd, F_SETLK, &all));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("after its end it is %s\n", seen_by_other("f"));
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		close(open("f", O_RDONLY));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("after a close there it is %s\n", seen_by_other("f"));
	close(fd);
}

static void closed_meanwhile(void)
{
	int go[2], f;
	pthread_t th;
	pid_t pid;
	char c;

	(void)!pipe(go);
	pid = fork();
	if (pid == 0) {
		f = open("f", O_RDWR);
		fcntl(f, F_SETLK, &all);
		(void)!write(go[1], "x", 1);
		sleep(1);
		_exit(0);
	}
	(void)!read(go[0], &c, 1);
	fd = open("f", O_RDWR);
	pthread_create(&th, NULL, waiter, NULL);
	usleep(300000);
	close(fd);
	waitpid(pid, NULL, 0);
	pthread_join(th, NULL);
	printf("the waiter: %d %s\n", result, ename(error));
	printf("then it is %s\n", seen_by_other("f"));
}

int main(void)
{
	shared_table();
	closed_meanwhile();
	unlink("f");
	return 0;
}
