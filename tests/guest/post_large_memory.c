/*
 * Large reads and writes whose buffers are not all there, each so often that it goes the shortest
 * way there is: what was moved before the bad page counts, and the file's position tells the same.
 * And what a program that makes them does with SIGSEGV and SIGBUS, sent, caught, blocked or its own
 * fault.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define KIB 1024L
#define SPAN (512 * KIB)
/* Says something only if it is not so. */
#define MUST(expr) ((void)((expr) || CHECK(!#expr[0])))
#define TIMES 60

static char *mem; /* 512 KiB, of which the page at 256 KiB is bad, and after which there is nothing */
static char *good; /* 1 MiB */
static int fd;
/* So much of addr keeps what is put there: the host zeroes what lies behind the end of a mapped
 * file when it writes the page out. */
static long kept = SPAN;

static size_t kept_of(long n)
{
	return (size_t)(n < kept ? n : kept);
}

static void warm_up(void)
{
	for (int i = 0; i < 700; i++)
		if (pwrite(fd, good, 40000, 0) != 40000 || pread(fd, good, 40000, 0) != 40000)
			abort();
	for (int i = 0; i < 300; i++)
		if (pwrite(fd, good, SPAN, 0) != SPAN || pread(fd, good, SPAN, 0) != SPAN ||
		    lseek(fd, 0, SEEK_SET) || write(fd, good, 70000) != 70000 || lseek(fd, 0, SEEK_SET) ||
		    read(fd, good, 70000) != 70000)
			abort();
}

/* Both ways: what they give, that it is always the same, and that the bytes are right. */
static void try(const char *what, char *addr, size_t n)
{
	long first[2] = { 0, 0 };
	int e[2] = { 0, 0 }, same = 0;

	for (int r = 0; r < TIMES; r++) {
		long got, put;

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		errno = 0;
		got = read(fd, addr, n);
		if (r == 0) {
			first[0] = got;
			e[0] = errno;
		}
		same += got == first[0] && (got >= 0 || errno == e[0]) && lseek(fd, 0, SEEK_CUR) == (got < 0 ? 0 : got) &&
			(got <= 0 || !memcmp(addr, good, kept_of(got)));
		MUST(lseek(fd, SPAN, SEEK_SET) == SPAN);
		errno = 0;
		put = write(fd, addr, n);
		if (r == 0) {
			first[1] = put;
			e[1] = errno;
		}
		same += put == first[1] && (put >= 0 || errno == e[1]) &&
			lseek(fd, 0, SEEK_CUR) == SPAN + (put < 0 ? 0 : put);
		if (put > 0) {
			MUST(pread(fd, good + SPAN, (size_t)put, SPAN) == put);
			same += !memcmp(good + SPAN, addr, kept_of(put));
		} else {
			same++;
		}
	}
	printf("%s: read %ld %s, write %ld %s, %s\n", what, first[0], first[0] < 0 ? ename(e[0]) : "bytes", first[1],
	       first[1] < 0 ? ename(e[1]) : "bytes", same == 3 * TIMES ? "always" : "NOT ALWAYS");
}

static sigjmp_buf jump;
static volatile int caught;

static void on_fault(int sig)
{
	caught += sig == SIGSEGV || sig == SIGBUS;
	siglongjmp(jump, 1);
}

/* The fate of a child that does it. */
static void fate(const char *what, void (*fn)(void))
{
	pid_t pid;
	int st;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		warm_up();
		fn();
		_exit(0);
	}
	CHECK(waitpid(pid, &st, 0) == pid);
	if (WIFSIGNALED(st))
		printf("%s: signal %d\n", what, WTERMSIG(st));
	else
		printf("%s: exit %d\n", what, WEXITSTATUS(st));
}

static void null_read(void)
{
	*(volatile char *)NULL;
}

static void bad_write(void)
{
	*(volatile char *)(mem + 256 * KIB) = 1;
}

static void beyond_file(void)
{
	*(volatile char *)(mem + SPAN - 1) = 1;
}

static void raised(void)
{
	raise(SIGSEGV);
}

static void sent_to_sleeper(void)
{
	pid_t parent = getpid();

	if (fork() == 0) {
		usleep(50000);
		kill(parent, SIGBUS);
		_exit(0);
	}
	pause();
}

static void caught_own(void)
{
	struct sigaction sa = { .sa_handler = on_fault }, old;

	sigaction(SIGSEGV, &sa, &old);
	if (old.sa_handler != SIG_DFL)
		_exit(1);
	for (int i = 0; i < 50; i++)
		if (!sigsetjmp(jump, 1))
			null_read();
	if (caught != 50)
		_exit(2);
	for (int i = 0; i < 50; i++)
		if (pwrite(fd, mem + 128 * KIB, SPAN / 2, 0) != 128 * KIB || pread(fd, mem, SPAN, 0) != 256 * KIB)
			_exit(3);
	if (caught != 50)
		_exit(4);
	sa.sa_handler = SIG_DFL;
	sigaction(SIGSEGV, &sa, &old);
	_exit(old.sa_handler == on_fault ? 7 : 5);
}

static void blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 50; i++)
		if (pwrite(fd, mem + 128 * KIB, SPAN / 2, 0) != 128 * KIB ||
		    pwrite(fd, mem + 256 * KIB, 70000, 0) != -1 || errno != EFAULT)
			_exit(1);
	kill(getpid(), SIGSEGV);
	sigpending(&set);
	_exit(sigismember(&set, SIGSEGV) ? 7 : 2);
}

static void ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	kill(getpid(), SIGSEGV);
	_exit(pwrite(fd, mem + 128 * KIB, SPAN / 2, 0) == 128 * KIB ? 7 : 1);
}

static void shown(void)
{
	struct sigaction old;
	char line[256];
	unsigned long mask = ~0UL;
	FILE *f = fopen("/proc/self/status", "r");

	for (int sig = 7; sig <= 11; sig += 4)
		if (sigaction(sig, NULL, &old) || old.sa_handler != SIG_DFL || old.sa_flags)
			_exit(1);
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "SigCgt: %lx", &mask);
	_exit(mask == 0 ? 7 : 2);
}

int main(void)
{
	int small = open("small", O_CREAT | O_RDWR | O_TRUNC, 0600);
	char *ro;

	fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);
	mem = mmap(NULL, SPAN + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	good = mmap(NULL, 2 * SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ro = mmap(NULL, SPAN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || small < 0 || mem == MAP_FAILED || good == MAP_FAILED || ro == MAP_FAILED)
		return 2;
	mprotect(mem + 256 * KIB, 4096, PROT_NONE);
	munmap(mem + SPAN, 4096);
	for (long i = 0; i < SPAN; i++)
		good[i] = (char)(i * 31 + i / 4096);
	warm_up();

	try("up to the bad page", mem, 256 * KIB);
	try("over the bad page", mem, SPAN);
	try("a little before it", mem + 256 * KIB - 100, 100000);
	try("an odd distance", mem + 256 * KIB - 70001, 200000);
	try("from it on", mem + 256 * KIB, 100000);
	try("over the end", mem + SPAN - 80000, 100000);
	try("read-only", ro, 100000);
	try("nowhere", NULL, 100000);
	try("not an address", (char *)0x800000000000, 100000);
	try("beyond all addresses", (char *)-4096L, 100000);
	/* Memory whose file ends in the middle: SIGBUS for who touches it. */
	CHECK(ftruncate(small, 100000) == 0);
	CHECK(mmap(mem + 384 * KIB, 128 * KIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, small, 0) != MAP_FAILED);
	kept = 100000;
	try("over the end of a file", mem + 384 * KIB, 128 * KIB);
	kept = SPAN;

	fate("a null pointer", null_read);
	fate("the bad page", bad_write);
	fate("beyond the end of a file", beyond_file);
	fate("raised", raised);
	fate("sent to a sleeper", sent_to_sleeper);
	fate("caught", caught_own);
	fate("blocked", blocked);
	fate("ignored", ignored);
	fate("as shown", shown);
	unlink("f");
	unlink("small");
	return 0;
}
