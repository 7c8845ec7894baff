/*
 * Bad addresses and odd buffers in calls that were made from the same place, with the same path,
 * many times before: EFAULT and not SIGSEGV, and not a byte more is written than the call says.
 */
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>

static char *pages; /* readable, then none */
static char *heap;

static void warm(const char *path)
{
	struct stat *st = (struct stat *)heap;
	struct statx *sx = (struct statx *)heap;

	for (int i = 0; i < 20; i++)
		if (stat(path, st) || lstat(path, st) || access(path, R_OK) || statx(AT_FDCWD, path, 0, STATX_ALL, sx) ||
		    fstatat(AT_FDCWD, path, st, 0))
			printf("%s: %s\n", path, ename(errno));
}

static void bad_pointers(void)
{
	static char *const bad[] = { NULL, (char *)8, (char *)0x7ffffffff000, (char *)0xffff800000000000, (char *)-1 };
	char *none = pages + 4096;

	for (int i = 0; i < 5; i++) {
		printf("%d\n", i);
		SHOW(stat(bad[i], (struct stat *)heap));
		SHOW(stat("file", (struct stat *)bad[i]));
		SHOW(lstat("file", (struct stat *)bad[i]));
		SHOW(access(bad[i], F_OK));
		SHOW(readlink(bad[i], heap, 100));
		SHOW(readlink("link", bad[i], 100));
		SHOW(statx(AT_FDCWD, "file", 0, STATX_ALL, (struct statx *)bad[i]));
	}
	SHOW(stat(none, (struct stat *)heap));
	SHOW(stat("file", (struct stat *)none));
	/* Some of the buffer is there. */
	SHOW(stat("file", (struct stat *)(none - 8)));
	SHOW(stat("file", (struct stat *)(none - sizeof(struct stat) + 1)));
	SHOW(stat("file", (struct stat *)(none - sizeof(struct stat))));
	SHOW(statx(AT_FDCWD, "file", 0, STATX_ALL, (struct statx *)(none - 255)));
	SHOW(statx(AT_FDCWD, "file", 0, STATX_ALL, (struct statx *)(none - 256)));
	/* A path at the end of what is there, with and without its end. */
	memcpy(none - 5, "file", 5);
	SHOW(stat(none - 5, (struct stat *)heap));
	SHOW(access(none - 5, R_OK));
	memcpy(none - 4, "file", 4);
	SHOW(stat(none - 4, (struct stat *)heap));
	SHOW(access(none - 4, R_OK));
	/* Only to be read. */
	mprotect(pages, 4096, PROT_READ);
	SHOW(stat("file", (struct stat *)pages));
	SHOW(readlink("link", pages, 100));
	mprotect(pages, 4096, PROT_READ | PROT_WRITE);
	/* It was good a moment ago. */
	SHOW(stat("file", (struct stat *)pages));
	munmap(pages, 4096);
	SHOW(stat("file", (struct stat *)pages));
	SHOW(access(pages, F_OK));
}

/* Texts and buffers of every length; what is behind the text stays as it was. */
static void buffers(void)
{
	int wrong = 0;

	for (int len = 1; len <= 24; len++) {
		char target[32] = "", name[16];

		memset(target, 'a' + len, (size_t)len);
		snprintf(name, sizeof(name), "l%d", len);
		symlink(target, name);
		for (int size = 1; size <= 32; size++)
			for (int again = 0; again < 4; again++) {
				char on_stack[64], *buf = again & 1 ? on_stack : heap + 7;
				int n, want = len < size ? len : size;

				memset(buf, '#', 64);
				n = (int)readlink(name, buf, (size_t)size);
				if (n != want || memcmp(buf, target, (size_t)want))
					wrong++;
				for (int k = want; k < 64; k++)
					wrong += buf[k] != '#';
			}
		unlink(name);
	}
	printf("buffers: %d wrong\n", wrong);
	SHOW(readlink("link", heap, 0));
	SHOW(syscall(SYS_readlink, "link", heap, -1));
}

static void lengths(void)
{
	static const int len[] = { 5, 64, 255, 256, 257, 511, 512, 513, 514, 1024, 4094, 4095, 4096, 5000 };
	char path[6000];

	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct stat st;
		int ok = 0, err = 0;

		/* "/////...file" is relative to nothing: use "./././" and slashes. */
		memset(path, '/', sizeof(path));
		path[0] = '.';
		memcpy(path + len[i] - 4, "file", 5);
		if (len[i] == 5)
			strcpy(path, "./file");
		for (int k = 0; k < 6; k++) {
			errno = 0;
			if (stat(path, &st) == 0 && st.st_size == 5)
				ok++;
			else
				err = errno;
		}
		printf("%d bytes: %d good, %s\n", len[i], ok, ename(err));
	}
}

static void odd_arguments(void)
{
	struct stat st;
	struct statx sx;

	for (int i = 0; i < 3; i++) {
		SHOW(syscall(SYS_newfstatat, AT_FDCWD, "file", &st, 0x10000));
		SHOW(syscall(SYS_newfstatat, AT_FDCWD, "", &st, 0));
		SHOW(syscall(SYS_newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH));
		SHOW(syscall(SYS_newfstatat, -1, "file", &st, 0));
		SHOW(syscall(SYS_newfstatat, AT_FDCWD, "file", &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
		SHOW(syscall(SYS_statx, AT_FDCWD, "file", AT_STATX_SYNC_TYPE, STATX_ALL, &sx));
		SHOW(syscall(SYS_statx, AT_FDCWD, "file", 0, STATX__RESERVED, &sx));
		SHOW(syscall(SYS_statx, AT_FDCWD, "file", AT_STATX_DONT_SYNC, 0, &sx));
		SHOW(syscall(SYS_faccessat, AT_FDCWD, "file", 8));
		SHOW(syscall(SYS_faccessat, AT_FDCWD, "file", R_OK));
		SHOW(syscall(439, AT_FDCWD, "file", R_OK, AT_EACCESS));
		SHOW(syscall(439, AT_FDCWD, "file", R_OK, 1));
		SHOW(access("file", 8));
		SHOW(access("file/", F_OK));
		SHOW(stat("link/", &st));
		SHOW(lstat("dirlink/", &st));
	}
}

int main(void)
{
	heap = malloc(4096);
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + 4096, 4096, PROT_NONE);
	put_file("file", "hello");
	symlink("file", "link");
	mkdir("dir", 0755);
	symlink("dir", "dirlink");
	warm("file");
	warm("link");
	for (int i = 0; i < 10; i++)
		if (readlink("link", heap, 100) != 4)
			printf("readlink: %s\n", ename(errno));
	lengths();
	buffers();
	odd_arguments();
	bad_pointers();
	unlink("link");
	unlink("dirlink");
	rmdir("dir");
	unlink("file");
	return 0;
}
