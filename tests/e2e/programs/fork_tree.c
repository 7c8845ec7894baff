/* Each process forks the next, 100 deep; the deepest one answers, and each adds its part. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int descend(int left)
{
	int status;
	pid_t pid;

	if (!left)
		return 7;
	pid = fork();
	if (pid < 0)
		return 200;
	if (!pid)
		_exit(descend(left - 1));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 201;
	return (WEXITSTATUS(status) + 1) % 128;
}

static long breadth(int depth)
{
	int p[2];
	long sum = 1, x;

	if (!depth || pipe(p))
		return 1;
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			x = breadth(depth - 1);
			(void)!write(p[1], &x, sizeof(x));
			_exit(0);
		}
	close(p[1]);
	while (read(p[0], &x, sizeof(x)) == sizeof(x))
		sum += x;
	close(p[0]);
	while (wait(NULL) > 0)
		;
	return sum;
}

int main(void)
{
	printf("deep %d\n", descend(100));
	printf("broad %ld\n", breadth(4));
	return 0;
}
