/*
 * Pages wholly beyond the end of the file are SIGBUS; the rest of the last page is zeros;
 * truncation takes pages away.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;
static volatile sig_atomic_t got;
static siginfo_t info;

static void on_fault(int sig, siginfo_t *si, void *ctx)
{
	(void)ctx;
	got = sig;
	info = *si;
	siglongjmp(env, 1);
}

static void touch(const char *what, volatile char *at, bool write)
{
	got = 0;
	if (sigsetjmp(env, 1) == 0) {
		if (write)
			*at = 'w';
		else
			(void)*at;
	}
	printf("%s: %s", what, got ? signame(got) : "ok");
	if (got)
		printf(", address %s, code %s", info.si_addr == (void *)at ? "right" : "wrong",
		       info.si_code == BUS_ADRERR ? "BUS_ADRERR" : "other");
	printf("\n");
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	char *m = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	touch("inside", m, false);
	touch("rest of the page", m + 100, false);
	touch("next page", m + page, false);
	touch("next page written", m + page + 7, true);
	SHOW(ftruncate(fd, 2 * page));
	touch("after extending", m + page, true);
	touch("third page", m + 2 * page, false);
	SHOW(ftruncate(fd, 5));
	touch("after cutting", m + page, false);
	printf("cut bytes are zero: %d\n", m[7] == 0);
	SHOW(ftruncate(fd, 2 * page));
	printf("back as zero: %d\n", m[page] == 0);
	char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	p[page] = 'x';
	SHOW(ftruncate(fd, 0));
	touch("private copy after cutting", p + page, false);
	/* A system call that meets such a page gets EFAULT, no signal. */
	SHOW(write(fd, m, 10));
	unlink("f");
	return 0;
}
