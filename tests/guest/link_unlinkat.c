/*
 * unlinkat: AT_REMOVEDIR makes it rmdir; unknown flags are EINVAL; directories are EISDIR for
 * unlink.
 */
#include "guest.h"

int main(void)
{
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	put_file("d/f", "x");
	int d = open("d", O_RDONLY);
	SHOW(unlinkat(d, "sub", 0));
	SHOW(unlinkat(d, "f", AT_REMOVEDIR));
	SHOW(unlinkat(d, "f", 0x8000));
	SHOW(unlinkat(d, "missing", 0));
	SHOW(unlinkat(d, "missing", AT_REMOVEDIR));
	SHOW(unlinkat(AT_FDCWD, "d", AT_REMOVEDIR));
	SHOW(unlinkat(d, "", AT_REMOVEDIR));
	SHOW(unlinkat(d, ".", AT_REMOVEDIR));
	SHOW(unlinkat(-1, "f", 0));
	SHOW(unlinkat(d, "f", 0));
	SHOW(unlinkat(d, "f", 0));
	SHOW(unlinkat(d, "sub/", AT_REMOVEDIR));
	SHOW(unlink("."));
	SHOW(unlink("/"));
	SHOW(unlink(""));
	SHOW(unlink("d/.."));
	SHOW(unlinkat(AT_FDCWD, "d", AT_REMOVEDIR));
	SHOW(unlinkat(d, "x", 0));
	return 0;
}
