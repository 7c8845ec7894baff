/*
 * Signals in the middle of large reads and writes of files: with and without SA_RESTART such a call
 * is never cut short and never fails, and its bytes and its position are right. Children that fork,
 * run another program or are killed in the middle leave nothing behind for the others.
 */
#include "guest.h"
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

/* Says something only if it is not so. */
#define MUST(expr) ((void)((expr) || CHECK(!#expr[0])))
#define BLOCK (192 << 10)
#define BLOCKS 24

static char *data, *back;
static volatile long runs, inner;
static int fd;

static void on_alarm(int sig)
{
	static char own[70000];

	(void)sig;
	runs++;
	/* Calls of the handler's own, of the same kind. */
	if (runs % 16 == 0)
		inner += pread(fd, own, sizeof(own), 0) == sizeof(own);
}

static int rounds(int n)
{
	int same = 0;

	for (int r = 0; r < n; r++) {
		data[r % BLOCK]++;
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		for (int i = 0; i < BLOCKS; i++) {
			*(int *)data = i;
			same += write(fd, data, BLOCK) == BLOCK;
		}
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		for (int i = 0; i < BLOCKS; i++) {
			*(int *)data = i;
			same += read(fd, back, BLOCK) == BLOCK && !memcmp(data, back, BLOCK);
		}
		MUST(lseek(fd, 0, SEEK_CUR) == (off_t)BLOCK * BLOCKS);
	}
	return same == 2 * n * BLOCKS;
}

static void with_signals(int flags)
{
	struct itimerval every = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };
	int ok = 1;

	runs = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 400 && (i < 10 || runs < 200); i++)
		ok &= rounds(1);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("flags %x: %s, %s\n", (unsigned)flags, ok ? "all right" : "WRONG", runs >= 100 ? "many signals" : "FEW");
}

int main(void)
{
	int st, right = 0;

	fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);
	data = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	back = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || data == MAP_FAILED || back == MAP_FAILED)
		return 2;
	for (int i = 0; i < BLOCK; i++)
		data[i] = (char)(i * 13 + i / 4096);
	CHECK(rounds(20));
	with_signals(0);
	with_signals(SA_RESTART);
	CHECK(inner > 0);
	signal(SIGALRM, SIG_DFL);

	for (int i = 0; i < 12; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			char name[16];

			snprintf(name, sizeof(name), "c%d", i);
			fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
			unlink(name);
			if (i % 3 == 1) /* ends in the middle */
				ualarm(1000 * (unsigned)i + 500, 0);
			for (int r = 0; r < (i % 3 == 1 ? 100000 : 4); r++)
				if (!rounds(1))
					_exit(1);
			if (i % 3 == 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		right += rounds(2);
		MUST(waitpid(pid, &st, 0) == pid);
		right += i % 3 == 1 ? WIFSIGNALED(st) && WTERMSIG(st) == SIGALRM : st == 0;
	}
	CHECK(right == 24);
	CHECK(rounds(3));
	unlink("f");
	return 0;
}
