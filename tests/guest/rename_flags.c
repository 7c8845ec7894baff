/*
 * renameat2: RENAME_NOREPLACE fails when the target is there, RENAME_EXCHANGE swaps any two things.
 */
#include "guest.h"

static const char *kind(const char *path)
{
	struct stat st;
	return lstat(path, &st)	     ? ename(errno)
	       : S_ISDIR(st.st_mode) ? "directory"
	       : S_ISLNK(st.st_mode) ? "symlink"
				     : "file";
}

static int ren(const char *a, const char *b, unsigned flags)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, flags);
}

int main(void)
{
	put_file("a", "aaa");
	put_file("b", "bbb");
	mkdir("d", 0755);
	put_file("d/f", "in d");
	symlink("nowhere", "dangling");
	SHOW(ren("a", "b", RENAME_NOREPLACE));
	SHOW(ren("a", "dangling", RENAME_NOREPLACE));
	SHOW(ren("a", "d", RENAME_NOREPLACE));
	SHOW(ren("a", "a", RENAME_NOREPLACE));
	SHOW(ren("a", "c", RENAME_NOREPLACE));
	printf("%s %s\n", kind("a"), get_file("c"));
	SHOW(ren("b", "c", RENAME_EXCHANGE));
	printf("b %s", get_file("b"));
	printf(" c %s\n", get_file("c"));
	SHOW(ren("b", "d", RENAME_EXCHANGE));
	printf("b %s d %s: %s\n", kind("b"), kind("d"), get_file("b/f"));
	SHOW(ren("dangling", "c", RENAME_EXCHANGE));
	printf("dangling %s c %s\n", kind("dangling"), kind("c"));
	SHOW(ren("b", "missing", RENAME_EXCHANGE));
	SHOW(ren("b", "b/f", RENAME_EXCHANGE));
	SHOW(ren("b/f", "b", RENAME_EXCHANGE));
	SHOW(ren("b", "x", RENAME_EXCHANGE | RENAME_NOREPLACE));
	SHOW(ren("b", "x", 1 << 20));
	SHOW(renameat(-1, "b", AT_FDCWD, "x"));
	unlink("b/f");
	rmdir("b");
	unlink("c");
	unlink("d");
	unlink("dangling");
	return 0;
}
