/* The error numbers of open, and which of several is reported first. */
#include "guest.h"

int main(void)
{
	char long_name[300], *bad = (char *)8;
	put_file("f", "x");
	SHOW(mkdir("d", 0755));
	SHOW(open("missing", O_RDONLY));
	SHOW(open("missing/x", O_RDONLY | O_CREAT, 0600));
	SHOW(open("", O_RDONLY));
	SHOW(open("f/x", O_RDONLY));
	SHOW(open("f/", O_RDONLY));
	SHOW(open("f/..", O_RDONLY));
	SHOW(open(bad, O_RDONLY));
	SHOW(open("d", O_WRONLY | O_CREAT | O_EXCL, 0600));
	SHOW(open("new/", O_WRONLY | O_CREAT, 0600));
	SHOW(open("d/", O_RDONLY | O_CREAT, 0600));

	memset(long_name, 'n', sizeof(long_name));
	long_name[255] = '\0';
	SHOWOK(open(long_name, O_WRONLY | O_CREAT, 0600));
	SHOW(unlink(long_name));
	long_name[255] = 'n';
	long_name[256] = '\0';
	SHOW(open(long_name, O_WRONLY | O_CREAT, 0600));
	SHOW(open(long_name, O_RDONLY));
	SHOW(openat(-1, "f", O_RDONLY));
	SHOW(openat(9999, "f", O_RDONLY));
	SHOW(close(9999));
	SHOW(close(-1));
	unlink("f");
	rmdir("d");
	return 0;
}
