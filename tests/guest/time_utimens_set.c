/*
 * utimensat sets times to the nanosecond, UTIME_OMIT and UTIME_NOW each on their own; symlinks and
 * errors.
 */
#include "guest.h"
#include <time.h>

static void show(const char *path)
{
	struct stat st;
	lstat(path, &st);
	printf("%s: a %lld.%09ld m %lld.%09ld\n", path, (long long)st.st_atim.tv_sec,
	       st.st_atim.tv_nsec, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

int main(void)
{
	struct stat st;
	struct timespec ts[2] = { { 1000000000, 123456789 }, { 1100000000, 987654321 } };
	put_file("f", "x");
	symlink("f", "l");
	int fd = open("f", O_RDONLY);
	SHOW(utimensat(AT_FDCWD, "f", ts, 0));
	show("f");
	ts[0] = (struct timespec){ 5, UTIME_OMIT };
	ts[1] = (struct timespec){ 1200000000, 0 };
	SHOW(futimens(fd, ts));
	show("f");
	ts[1].tv_nsec = UTIME_OMIT;
	SHOW(futimens(fd, ts));
	show("f");
	ts[0] = (struct timespec){ -86400, 500000000 };
	SHOW(utimensat(AT_FDCWD, "l", ts, 0));
	show("f");
	ts[0] = (struct timespec){ 77, 7 };
	ts[1] = (struct timespec){ 88, 8 };
	SHOW(utimensat(AT_FDCWD, "l", ts, AT_SYMLINK_NOFOLLOW));
	show("l");
	show("f");
	time_t before = time(NULL) - 1;
	ts[0].tv_nsec = UTIME_OMIT;
	ts[1].tv_nsec = UTIME_NOW;
	SHOW(utimensat(AT_FDCWD, "f", ts, 0));
	stat("f", &st);
	CHECK(st.st_mtime >= before && st.st_mtime <= time(NULL) + 1 && st.st_atime == -86400);
	SHOW(utimensat(AT_FDCWD, "f", NULL, 0));
	stat("f", &st);
	CHECK(st.st_atime >= before && st.st_ctime >= before);
	ts[1].tv_nsec = 1000000000;
	SHOW(utimensat(AT_FDCWD, "f", ts, 0));
	ts[1].tv_nsec = -1;
	SHOW(utimensat(AT_FDCWD, "f", ts, 0));
	SHOW(utimensat(AT_FDCWD, "missing", NULL, 0));
	SHOW(utimensat(AT_FDCWD, "f", NULL, 0x40000000));
	SHOW(futimens(-1, NULL));
	unlink("l");
	unlink("f");
	return 0;
}
