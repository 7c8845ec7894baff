/*
 * AT_EXECFN is the path given to exec; AT_RANDOM differs for each exec; /proc/self/auxv shows the
 * same vector.
 */
#include "guest.h"
#include <elf.h>
#include <sys/auxv.h>

static int child(void)
{
	Elf64_auxv_t v[64];
	int fd = open("/proc/self/auxv", O_RDONLY), bad = 0,
	    n = read(fd, v, sizeof(v)) / (int)sizeof(*v), i;

	printf("execfn '%s'\n", (char *)getauxval(AT_EXECFN));
	/* libc keeps its own idea of AT_HWCAP. */
	for (i = 0; i < n && v[i].a_type != AT_NULL; i++)
		bad += v[i].a_type != AT_HWCAP && v[i].a_un.a_val != getauxval(v[i].a_type);
	printf("auxv: ends with AT_NULL %d, more than 10 %d, wrong %d\n", i<n, i> 10, bad);
	fflush(stdout);
	return write(9, (void *)getauxval(AT_RANDOM), 16) == 16 ? 0 : 1;
}

int main(int argc, char **argv)
{
	char random[3][16] = { 0 }, real[512] = "";
	int p[2];

	(void)argv;
	if (argc > 1)
		return child();
	signal(SIGCHLD, SIG_DFL);
	(void)!readlink("/proc/self/exe", real, sizeof(real) - 1);
	(void)!symlink(real, "link");
	(void)!pipe(p);
	dup2(p[1], 9);
	for (int i = 0; i < 2; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			execl(i ? "./link" : "link", "zero", "child", (char *)NULL);
			_exit(127);
		}
		show_status("child", xwait(pid));
		(void)!read(p[0], random[i], 16);
	}
	memcpy(random[2], (void *)getauxval(AT_RANDOM), 16);
	CHECK(memcmp(random[0], random[1], 16) && memcmp(random[1], random[2], 16) &&
	      memcmp(random[0], random[2], 16));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(memcmp(random[2], (void *)getauxval(AT_RANDOM), 16) == 0 ? 1 : 2);
	show_status("same after fork", xwait(pid));
	unlink("link");
	return 0;
}
