/* Runs a command some times, one after the other, and prints what each run took, in nanoseconds,
 * one line each:
 *   timer [-n RUNS] [-w WARMUPS] COMMAND [ARGUMENT...]
 * It runs where the command runs, so that the start of a cell or a container is not counted. The
 * command's output is thrown away; if it fails, so does the timer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long long run(char **argv)
{
	long long start = now();
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "timer: %s failed (%#x)\n", argv[0], pid < 0 ? -1 : status);
		exit(1);
	}
	return now() - start;
}

int main(int argc, char **argv)
{
	int runs = 1, warmups = 0, c;

	while ((c = getopt(argc, argv, "+n:w:")) != -1)
		if (c == 'n')
			runs = atoi(optarg);
		else if (c == 'w')
			warmups = atoi(optarg);
		else
			return 2;
	if (optind >= argc)
		return 2;
	while (warmups-- > 0)
		run(argv + optind);
	while (runs-- > 0)
		printf("%lld\n", run(argv + optind));
	return 0;
}
