/*
 * 2,000 files in one directory: each is listed exactly once, and can be found, removed and made
 * again.
 */
#include "guest.h"
#include <dirent.h>

enum { FILES = 2000 };

static void list(const char *when)
{
	static char seen[FILES];
	int total = 0, twice = 0, strange = 0, i;
	char end;
	memset(seen, 0, sizeof(seen));
	DIR *dir = opendir("d");
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		if (sscanf(e->d_name, "file-%d%c", &i, &end) != 1 || i < 0 || i >= FILES)
			strange++;
		else if (seen[i]++)
			twice++;
		total++;
	}
	closedir(dir);
	printf("%s: %d listed, %d twice, %d strange\n", when, total, twice, strange);
}

int main(void)
{
	char name[64];
	int made = 0, found = 0, removed = 0;
	struct stat st;
	mkdir("d", 0755);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		made += fd >= 0;
		close(fd);
	}
	SHOW(made);
	list("full");
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		found += lstat(name, &st) == 0;
	}
	SHOW(found);
	for (int i = 0; i < FILES; i += 2) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		removed += unlink(name) == 0;
	}
	SHOW(removed);
	list("half");
	SHOW(rmdir("d"));
	for (int i = 1; i < FILES; i += 2) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		unlink(name);
	}
	list("empty");
	SHOW(rmdir("d"));
	return 0;
}
