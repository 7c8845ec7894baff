/*
 * Large reads and writes by processes that have an open file in common: its position moves by whole
 * calls, so every block is written and read once, with and without O_APPEND. And what becomes of
 * those of a process while another thread of it replaces the program, or makes processes in its
 * memory.
 */
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BLOCK (160 << 10)
#define BLOCKS 40
#define PROCS 3
/* Says something only if it is not so. */
#define MUST(expr) ((void)((expr) || CHECK(!#expr[0])))

static char data[BLOCK], back[BLOCK];

static void warm_up(int fd)
{
	for (int i = 0; i < 150; i++)
		MUST(pwrite(fd, data, BLOCK, 0) == BLOCK && pread(fd, back, BLOCK, 0) == BLOCK);
}

static void mark(unsigned tag)
{
	for (unsigned i = 0; i < BLOCK / sizeof(tag); i++)
		((unsigned *)data)[i] = tag;
}

/* The tag of a block that is all of one; 0: it is not. */
static unsigned tag_of(const char *b)
{
	unsigned tag = *(const unsigned *)b;

	return memcmp(b, b + sizeof(tag), BLOCK - sizeof(tag)) ? 0 : tag;
}

static int all_well(void)
{
	int st, well = 0;

	for (int i = 0; i < PROCS; i++)
		well += wait(&st) > 0 && st == 0;
	return well == PROCS;
}

static void shared(int flags, const char *what)
{
	unsigned char *seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("f", O_CREAT | O_RDWR | O_TRUNC | flags, 0600), once = 0;

	warm_up(fd);
	MUST(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	for (int p = 0; p < PROCS; p++)
		if (fork() == 0) {
			int good = 0;

			for (int i = 0; i < BLOCKS; i++) {
				mark((unsigned)(1 + p * BLOCKS + i));
				good += write(fd, data, BLOCK) == BLOCK;
			}
			_exit(good != BLOCKS);
		}
	MUST(all_well());
	MUST(lseek(fd, 0, SEEK_CUR) == (off_t)BLOCK * BLOCKS * PROCS);
	MUST(lseek(fd, 0, SEEK_END) == (off_t)BLOCK * BLOCKS * PROCS);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	for (int p = 0; p < PROCS; p++)
		if (fork() == 0) {
			while (read(fd, back, BLOCK) == BLOCK) {
				unsigned tag = tag_of(back);

				if (tag < 1 || tag > PROCS * BLOCKS)
					_exit(1);
				__atomic_fetch_add(&seen[tag], 1, __ATOMIC_SEQ_CST);
			}
			_exit(0);
		}
	MUST(all_well());
	for (int i = 1; i <= PROCS * BLOCKS; i++)
		once += seen[i] == 1;
	printf("%s: %d blocks, once each\n", what, once);
	munmap(seen, 4096);
	close(fd);
	unlink("f");
}

static int busy_fd;

static void *busy(void *arg)
{
	char *own = malloc(BLOCK);

	(void)arg;
	memset(own, 'b', BLOCK);
	for (;;)
		if (pwrite(busy_fd, own, BLOCK, 0) != BLOCK || pread(busy_fd, own, BLOCK, 0) != BLOCK)
			abort();
}

/* Another thread is in the middle of a transfer when this one becomes another program. */
static void exec_beside(void)
{
	int st, good = 0;

	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t th;

			busy_fd = open("g", O_CREAT | O_RDWR, 0600);
			pthread_create(&th, NULL, busy, NULL);
			warm_up(busy_fd);
			usleep((useconds_t)(i * 300));
			execl("/bin/true", "true", NULL);
			_exit(9);
		}
		good += waitpid(pid, &st, 0) == pid && st == 0;
	}
	printf("exec: %d\n", good);
	unlink("g");
}

static void on_fault(int sig)
{
	(void)sig;
	_exit(3);
}

static char stack[64 << 10] __attribute__((aligned(64)));
static volatile int result;

/* In the memory of its parent, with signals of its own. */
static int beside(void *arg)
{
	char *bad = arg;
	int st = -1;
	pid_t pid;

	signal(SIGSEGV, on_fault);
	pid = fork();
	if (pid == 0) {
		int fd = open("h", O_CREAT | O_RDWR, 0600);

		warm_up(fd);
		for (int i = 0; i < 1000; i++)
			if (pwrite(fd, bad, BLOCK, 0) != -1 || errno != EFAULT)
				_exit(4);
		_exit(5);
	}
	waitpid(pid, &st, 0);
	result = WIFEXITED(st) ? WEXITSTATUS(st) : -1;
	_exit(0);
}

/* A bad buffer is no business of a handler for faults, whoever set it. */
static void handler_beside(void)
{
	char *bad = mmap(NULL, BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("h", O_CREAT | O_RDWR | O_TRUNC, 0600), st;
	pid_t pid;

	warm_up(fd);
	pid = clone(beside, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, bad);
	MUST(waitpid(pid, &st, 0) == pid && st == 0);
	printf("handler of another: %d\n", result);
	for (int i = 0; i < 1000; i++)
		MUST(pwrite(fd, bad, BLOCK, 0) == -1 && errno == EFAULT);
	close(fd);
	unlink("h");
}

int main(void)
{
	memset(data, 'd', sizeof(data));
	shared(0, "position");
	shared(O_APPEND, "append");
	exec_beside();
	handler_beside();
	return 0;
}
