/* A walk follows at most 40 symlinks: 40 in a chain open, the 41st is ELOOP; so are circles. */
#include "guest.h"

int main(void)
{
	char from[32], to[32];
	put_file("l0", "end");
	for (int i = 1; i <= 42; i++) {
		snprintf(from, sizeof(from), "l%d", i);
		snprintf(to, sizeof(to), "l%d", i - 1);
		if (symlink(to, from))
			printf("symlink %s: %s\n", from, ename(errno));
	}
	printf("l39: %s\n", get_file("l39"));
	printf("l40: %s\n", get_file("l40"));
	printf("l41: %s\n", get_file("l41"));
	printf("l42: %s\n", get_file("l42"));
	SHOW(symlink("self", "self"));
	SHOW(symlink("b", "a"));
	SHOW(symlink("a", "b"));
	struct stat st;
	SHOW(open("self", O_RDONLY));
	SHOW(stat("a", &st));
	SHOW(lstat("a", &st));
	SHOW(open("a/x", O_RDONLY));
	SHOW(mkdir("self/x", 0755));
	SHOW(chdir("b"));
	/* The count is for the whole walk, not for each component. */
	SHOW(symlink(".", "dot"));
	char path[300] = "";
	for (int i = 0; i < 40; i++)
		strcat(path, "dot/");
	strcat(path, "l0");
	printf("40 through dot: %s\n", get_file(path));
	path[strlen(path) - 1] = '1';
	printf("40 through dot and one more: %s\n", get_file(path));
	for (int i = 0; i <= 42; i++) {
		snprintf(from, sizeof(from), "l%d", i);
		unlink(from);
	}
	unlink("self");
	unlink("a");
	unlink("b");
	unlink("dot");
	return 0;
}
