/*
 * Every byte that stat and statx give is the same whether a look-up is the first or was made often
 * before: libc's calls, after many rounds, against the same calls made by an instruction of our
 * own.
 */
#include "guest.h"
#include <sys/syscall.h>

static __attribute__((noinline)) long raw(long nr, long a, long b, long c, long d, long e)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	/* The number comes from memory: there is no place to rewrite. */
	__asm__ volatile("mov %1, %%rax\n nop\n syscall"
			 : "=&a"(ret)
			 : "m"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}

static void compare(const char *path)
{
	static const int follow[] = { 0, AT_SYMLINK_NOFOLLOW };
	union {
		struct stat st;
		struct statx sx;
		char bytes[512];
	} a, b;

	for (int i = 0; i < 2; i++)
		for (int x = 0; x < 2; x++) {
			long r = 0, want;

			memset(&a, 0x5a, sizeof(a));
			memset(&b, 0x5a, sizeof(b));
			for (int k = 0; k < 10; k++) {
				r = x ? statx(AT_FDCWD, path, follow[i], STATX_ALL, &a.sx)
				      : fstatat(AT_FDCWD, path, &a.st, follow[i]);
				if (r < 0)
					r = -errno;
			}
			want = x ? raw(SYS_statx, AT_FDCWD, (long)path, follow[i], STATX_ALL, (long)&b)
				 : raw(SYS_newfstatat, AT_FDCWD, (long)path, (long)&b, follow[i], 0);
			printf("%s %s%s: %s, %s\n", path, x ? "statx" : "stat", i ? " itself" : "",
			       r == want ? "same result" : "another result",
			       memcmp(&a, &b, sizeof(a)) ? "other bytes" : "same bytes");
		}
	for (int mode = 0; mode < 8; mode++) {
		long r = 0;

		for (int k = 0; k < 5; k++)
			r = access(path, mode) ? -errno : 0;
		if (r != raw(SYS_access, (long)path, mode, 0, 0, 0))
			printf("%s: access %d differs\n", path, mode);
	}
	char t[64], u[64];
	long n = 0;
	for (int k = 0; k < 5; k++) {
		memset(t, 0x5a, sizeof(t));
		n = readlink(path, t, sizeof(t));
		n = n < 0 ? -errno : n;
	}
	memset(u, 0x5a, sizeof(u));
	if (n != raw(SYS_readlink, (long)path, (long)u, sizeof(u), 0, 0) || memcmp(t, u, sizeof(t)))
		printf("%s: readlink differs\n", path);
}

int main(void)
{
	char cwd[4096], path[5000];

	put_file("file", "some text");
	chmod("file", 04751);
	mkdir("dir", 01777);
	symlink("file", "link");
	symlink("dir/../link", "link2");
	symlink("nowhere", "dangling");
	mkfifo("fifo", 0600);
	link("file", "hard");
	compare("file");
	compare("dir");
	compare("dir/");
	compare(".");
	compare("dir/..");
	compare("link");
	compare("link2");
	compare("dangling");
	compare("fifo");
	compare("hard");
	compare("none");
	compare("file/x");
	compare("/");
	compare("/usr/bin/env");
	compare("/bin/sh");
	compare("/bin/none");
	compare("/usr/../usr/bin/../bin/env");
	if (getcwd(cwd, sizeof(cwd))) {
		snprintf(path, sizeof(path), "%s/link", cwd);
		int before = open("/dev/null", O_WRONLY), out = dup(1);
		/* Its name differs from run to run: only differences are told. */
		fflush(stdout);
		dup2(before, 1);
		compare(path);
		fflush(stdout);
		dup2(out, 1);
	}
	unlink("hard");
	unlink("fifo");
	unlink("dangling");
	unlink("link2");
	unlink("link");
	rmdir("dir");
	unlink("file");
	return 0;
}
