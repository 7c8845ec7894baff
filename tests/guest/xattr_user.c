/* user.* attributes: set, get, list, remove; sizes, flags and what cannot have them. */
#include "guest.h"
#include <sys/xattr.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
	char names[1024], *sorted[16];
	int count = 0;
	ssize_t n = listxattr(path, names, sizeof(names));
	for (char *at = names; at < names + n; at += strlen(at) + 1)
		if (!strncmp(at, "user.", 5))
			sorted[count++] = at;
	qsort(sorted, count, sizeof(char *), by_text);
	for (int i = 0; i < count; i++)
		printf("%s%s", i ? " " : "", sorted[i]);
	printf(" (%d)\n", count);
}

int main(void)
{
	static char huge[70000];
	char buf[256] = "", name[300];
	put_file("f", "x");
	mkdir("d", 0755);
	symlink("f", "l");
	mkfifo("p", 0644);
	SHOW(setxattr("f", "user.one", "value", 5, 0));
	SHOW(getxattr("f", "user.one", buf, sizeof(buf)));
	printf("%.5s\n", buf);
	SHOW(getxattr("f", "user.one", NULL, 0));
	SHOW(getxattr("f", "user.one", buf, 3));
	SHOW(setxattr("f", "user.one", "v", 1, XATTR_CREATE));
	SHOW(setxattr("f", "user.two", "v", 1, XATTR_REPLACE));
	SHOW(setxattr("f", "user.one", "longer value", 12, XATTR_REPLACE));
	SHOW(setxattr("f", "user.empty", "", 0, XATTR_CREATE));
	SHOW(getxattr("f", "user.empty", buf, sizeof(buf)));
	SHOW(setxattr("f", "user.bin", "a\0b", 3, 0));
	SHOW(getxattr("l", "user.bin", buf, sizeof(buf)));
	list("f");
	SHOW(listxattr("f", buf, 5));
	SHOW(removexattr("f", "user.empty"));
	SHOW(removexattr("f", "user.empty"));
	SHOW(getxattr("f", "user.none", buf, sizeof(buf)));
	list("f");
	SHOW(setxattr("f", "user.", "v", 1, 0));
	SHOW(setxattr("f", "nonsense.x", "v", 1, 0));
	SHOW(setxattr("f", "", "v", 1, 0));
	SHOW(setxattr("f", "user.x", "v", 1, 8));
	SHOW(setxattr("f", "user.x", huge, sizeof(huge), 0));
	memset(name, 'n', sizeof(name));
	memcpy(name, "user.", 5);
	name[256] = '\0';
	SHOW(setxattr("f", name, "v", 1, 0));
	name[255] = '\0';
	SHOW(setxattr("f", name, "v", 1, 0));
	SHOW(fsetxattr(open("d", O_RDONLY), "user.dir", "v", 1, 0));
	list("d");
	SHOW(lsetxattr("l", "user.x", "v", 1, 0));
	SHOW(lgetxattr("l", "user.one", buf, sizeof(buf)));
	SHOW(setxattr("p", "user.x", "v", 1, 0));
	SHOW(setxattr("missing", "user.x", "v", 1, 0));
	SHOW(fgetxattr(-1, "user.x", buf, 1));
	unlink("p");
	unlink("l");
	unlink("f");
	rmdir("d");
	return 0;
}
