/*
 * Large reads of a file that another process cuts short and writes again all the time: each gives
 * what is there, be it little or nothing, and the position tells how much; nobody dies of it. Then
 * of a file that is replaced by another under the same name and descriptor, and of one that is
 * mapped and changed there.
 */
#include "guest.h"
#include <sys/mman.h>

#define LEN (1 << 20)
#define BLOCK (160 << 10)

static char *buf;

static int all(const char *p, long n, char c)
{
	for (long i = 0; i < n; i++)
		if (p[i] != c)
			return 0;
	return 1;
}

static void cutter(void)
{
	int fd = open("f", O_RDWR);

	buf = malloc(LEN);
	memset(buf, 'a', LEN);
	for (int i = 0;; i++)
		if (ftruncate(fd, (i * 7919) % LEN) || pwrite(fd, buf, LEN, 0) != LEN)
			_exit(1);
}

static void cut(void)
{
	int fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600), wrong = 0, st;
	pid_t pid;

	memset(buf, 'a', LEN);
	if (write(fd, buf, LEN) != LEN)
		abort();
	for (int i = 0; i < 600; i++) /* a busy program */
		if (pread(fd, buf, BLOCK, (i % 5) * BLOCK) != BLOCK)
			abort();
	pid = fork();
	if (pid == 0)
		cutter();
	for (int i = 0; i < 500; i++) {
		off_t at = (i * 4099L) % LEN;
		long n, now;

		memset(buf, 0, 4096);
		lseek(fd, at, SEEK_SET);
		n = read(fd, buf, BLOCK);
		now = lseek(fd, 0, SEEK_CUR);
		wrong += n < 0 || n > BLOCK || now != at + n || (n > 0 && n < 4096 && buf[n]);
		n = pread(fd, buf, BLOCK, at);
		wrong += n < 0 || n > BLOCK;
	}
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &st, 0) == pid && WIFSIGNALED(st) && WTERMSIG(st) == SIGKILL);
	CHECK(wrong == 0);
	CHECK(ftruncate(fd, 0) == 0 && pread(fd, buf, BLOCK, 0) == 0);
	close(fd);
}

static void replaced(void)
{
	int fd[2], same = 0, to = 100;

	for (int k = 0; k < 2; k++) {
		fd[k] = open(k ? "h" : "g", O_CREAT | O_RDWR | O_TRUNC, 0600);
		memset(buf, k ? 'h' : 'g', LEN);
		if (write(fd[k], buf, LEN) != LEN)
			abort();
	}
	for (int i = 0; i < 400; i++) {
		char c = i % 2 ? 'h' : 'g';

		dup2(fd[i % 2], to);
		same += pread(to, buf, BLOCK, 12345) == BLOCK && all(buf, BLOCK, c);
		/* A new file, with the number of the last perhaps. */
		if (i % 20 == 0) {
			close(fd[0]);
			unlink("g");
			fd[0] = open("g", O_CREAT | O_RDWR | O_TRUNC, 0600);
			memset(buf, 'g', LEN);
			if (write(fd[0], buf, LEN) != LEN)
				abort();
		}
	}
	CHECK(same == 400);
	same = 0;
	for (int i = 0; i < 200; i++) {
		memset(buf, i, BLOCK);
		same += pwrite(fd[0], buf, BLOCK, i) == BLOCK;
		memset(buf, 0, BLOCK);
		same += pread(fd[0], buf, BLOCK, i) == BLOCK && all(buf, BLOCK, (char)i);
	}
	CHECK(same == 400);

	char *map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd[1], 0);

	for (int i = same = 0; i < 200; i++) {
		memset(map + 4096, i, BLOCK);
		same += pread(fd[1], buf, BLOCK, 4096) == BLOCK && all(buf, BLOCK, (char)i);
	}
	CHECK(same == 200);
	unlink("g");
	unlink("h");
}

int main(void)
{
	buf = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return 2;
	cut();
	replaced();
	unlink("f");
	return 0;
}
