/*
 * PATH_MAX counts the final NUL: 4,095 bytes are a path, 4,096 are ENAMETOOLONG; a component holds
 * 255.
 */
#include "guest.h"

static char path[5000];

/* A path of exactly n bytes that leads to "f": "././/f". */
static const char *of_length(size_t n)
{
	memset(path, '/', sizeof(path));
	for (size_t i = 0; i < n; i += 2)
		path[i] = '.';
	if (n % 2 == 0)
		path[n - 2] = '/';
	path[n - 1] = 'f';
	path[n] = '\0';
	return path;
}

int main(void)
{
	struct stat st;
	char name[300];
	put_file("f", "x");
	SHOW(stat(of_length(100), &st));
	SHOW(stat(of_length(4095), &st));
	SHOW(stat(of_length(4096), &st));
	SHOW(stat(of_length(4900), &st));
	SHOWOK(open(of_length(4095), O_RDONLY));
	SHOW(open(of_length(4096), O_RDONLY));
	SHOW(mkdir(of_length(4096), 0755));
	SHOW(unlink(of_length(4096)));
	SHOW(rename("f", of_length(4096)));
	SHOW(symlink(of_length(4096), "l"));
	SHOW(symlink("f", of_length(4096)));
	SHOW(chdir(of_length(4096)));
	SHOW(access(of_length(4096), F_OK));
	SHOW(chmod(of_length(4096), 0600));
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	SHOW(stat(name, &st));
	SHOW(mkdir(name, 0755));
	SHOW(symlink("f", name));
	SHOW(rename("f", name));
	SHOW(link("f", name));
	SHOW(unlink(name));
	name[255] = '\0';
	SHOW(stat(name, &st));
	SHOW(mkdir(name, 0755));
	SHOW(rmdir(name));
	unlink("f");
	return 0;
}
