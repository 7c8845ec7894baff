/* A process that announces itself as a child although the kernel knows its number: its first thread
 * has ended, another one takes over the number by executing a file of the guest's in place of the
 * stub, and shows a token. No second process with that number may come to be, as the host would
 * tell of the end of one of them only. */
#include <pthread.h>

#include "hostile.h"

static int prog; /* a memfd: the host executes it, unlike files of the cell */

/* An ELF file of one page, which announces itself with token and then waits for ever. */
static void prog_write(long token)
{
	static const uint8_t head[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 0 };
	uint8_t page[4096] = { 0 }, *c = page + 256;
	const uint64_t base = 0x10000000;

	memcpy(page, head, sizeof(head));
	*(uint16_t *)(page + 16) = 2; /* ET_EXEC */
	*(uint16_t *)(page + 18) = 62; /* x86-64 */
	*(uint32_t *)(page + 20) = 1;
	*(uint64_t *)(page + 24) = base + 256; /* entry */
	*(uint64_t *)(page + 32) = 64; /* program headers */
	*(uint16_t *)(page + 52) = 64;
	*(uint16_t *)(page + 54) = 56;
	*(uint16_t *)(page + 56) = 1;
	*(uint32_t *)(page + 64) = 1; /* PT_LOAD */
	*(uint32_t *)(page + 68) = 5; /* r-x */
	*(uint64_t *)(page + 80) = base;
	*(uint64_t *)(page + 88) = base;
	*(uint64_t *)(page + 96) = 4096;
	*(uint64_t *)(page + 104) = 4096;
	*(uint64_t *)(page + 112) = 4096;
	*c++ = 0x48, *c++ = 0xbf; /* movabs token, %rdi */
	memcpy(c, &token, 8), c += 8;
	*c++ = 0xb8, *c++ = HC_CHILD & 0xff, *c++ = HC_CHILD >> 8, c += 2; /* mov $HC_CHILD, %eax */
	*c++ = 0x0f, *c++ = 0x05; /* syscall */
	*c++ = 0xb8, *c++ = SYS_pause, c += 3;
	*c++ = 0x0f, *c++ = 0x05;
	*c++ = 0xeb, *c++ = 0xf7; /* back to the pause */
	prog = memfd_create("ghost", 0);
	(void)!write(prog, page, sizeof(page));
}

static void *taker(void *arg)
{
	char *none[] = { NULL };

	(void)arg;
	naptime(100); /* the first thread ends */
	for (int i = 0; i < 256; i++)
		MARKED(SYS_close, i, 0, 0, 0, 0);
	for (int i = 0; i <= STUB_FD; i++) /* which numbers they get is not ours to say */
		RAW(HC_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE, prog, 0);
	MARKED(SYS_execveat, STUB_FD, "", none, none, AT_EMPTY_PATH);
	_exit(9);
}

static void takes_over(void *arg)
{
	pthread_t th;

	(void)arg;
	prog_write(RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD));
	pthread_create(&th, NULL, taker, NULL);
	RAW(SYS_exit, 0);
}

int main(void)
{
	int status = 0;
	pid_t pid = fork(), got;
	char path[64];

	if (pid == 0) {
		takes_over(NULL);
		_exit(8);
	}
	naptime(500);
	kill(pid, SIGKILL);
	got = waitpid(pid, &status, 0);
	check(got == pid && WIFSIGNALED(status), "a process that takes over a number is ended (status %x)", status);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	naptime(100);
	check(kill(pid, 0) < 0 && errno == ESRCH && access(path, F_OK) < 0, "nothing of it stays");
	check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "it had no child");
	check(cell_is_well(), "the cell is well");
	return done();
}
