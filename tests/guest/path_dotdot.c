/*
 * "..": at the root it stays there; a missing or non-directory component before it is still an
 * error.
 */
#include "guest.h"

static bool same(const char *a, const char *b)
{
	struct stat x, y;
	if (stat(a, &x) || stat(b, &y))
		return false;
	return x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

int main(void)
{
	struct stat st;
	CHECK(same("/", "/.."));
	CHECK(same("/", "/../../.."));
	CHECK(same("/usr", "/../usr/../../usr"));
	CHECK(same("/dev/null", "/dev/../dev/./null"));
	/* Out of a mount and back. */
	CHECK(same("/proc/..", "/"));
	CHECK(same("/dev/shm/../..", "/"));
	mkdir("a", 0755);
	mkdir("a/b", 0755);
	put_file("f", "x");
	CHECK(same("a/..", "."));
	CHECK(same("a/b/../..", "."));
	CHECK(same("a/b/../b/.././b", "a/b"));
	CHECK(!same("a", "a/b"));
	SHOW(stat("missing/..", &st));
	SHOW(stat("f/..", &st));
	SHOW(stat("f/.", &st));
	SHOW(stat("a/missing/../b", &st));
	/* The parent of a linked directory is its own, not the link's. */
	symlink("a/b", "l");
	CHECK(same("l/..", "a"));
	CHECK(same("l/../..", "."));
	unlink("l");
	unlink("f");
	rmdir("a/b");
	rmdir("a");
	return 0;
}
