/*
 * symlink and readlink: any text is a target, its length is the size, readlink cuts without a NUL.
 */
#include "guest.h"

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	char buf[64], big[4200];
	struct stat st;
	SHOW(symlink("some/target", "l"));
	memset(buf, '#', sizeof(buf));
	SHOW(readlink("l", buf, sizeof(buf)));
	printf("%.13s\n", buf);
	memset(buf, '#', sizeof(buf));
	SHOW(readlink("l", buf, 4));
	printf("%.6s\n", buf);
	SHOW(readlink("l", buf, 0));
	SHOW(lstat("l", &st));
	printf("mode %o size %lld nlink %d\n", st.st_mode, (long long)st.st_size, (int)st.st_nlink);
	SHOW(stat("l", &st));
	SHOW(symlink("x", "l"));
	SHOW(symlink("", "e"));
	SHOW(symlink("x", ""));
	SHOW(symlink("x", "missing/l"));
	SHOW(symlink((char *)8, "e"));
	SHOW(symlink("//odd/./../text with spaces\n", "odd"));
	SHOW(readlink("odd", buf, sizeof(buf)));
	put_file("f", "x");
	SHOW(readlink("f", buf, sizeof(buf)));
	SHOW(readlink(".", buf, sizeof(buf)));
	SHOW(readlink("missing", buf, sizeof(buf)));
	SHOW(readlink("f/x", buf, sizeof(buf)));
	SHOW(readlink("l", bad, 10));
	memset(big, 'x', sizeof(big));
	big[4095] = '\0';
	SHOW(symlink(big, "big"));
	SHOW(readlink("big", big, sizeof(big)));
	SHOW(open("big", O_RDONLY));
	SHOW(unlink("big"));
	SHOW(unlink("odd"));
	SHOW(unlink("l"));
	unlink("f");
	return 0;
}
