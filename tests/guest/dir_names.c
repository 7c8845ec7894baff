/*
 * A name is any bytes but '/' and NUL: spaces, control characters, invalid UTF-8, leading dots and
 * dashes, case.
 */
#include "guest.h"
#include <dirent.h>

static const char *const names[] = { " ",	   "a b",      "tab\tname",   "new\nline",
				     "\x01",	   "\xff\xfe", "caf\xc3\xa9", "...",
				     "-rf",	   "*?[]",     "\\",	      "Case",
				     "case",	   ".hidden",  "\"quoted\"",  "(deleted)",
				     "a (deleted)" };
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int main(void)
{
	mkdir("d", 0755);
	SHOW(chdir("d"));
	for (int i = 0; i < NAMES; i++)
		if (put_file(names[i], names[i]))
			printf("name %d: %s\n", i, ename(errno));
	struct dirent **list;
	int n = scandir(".", &list, NULL, by_name);
	SHOW(n);
	for (int i = 0; i < n; i++) {
		for (const unsigned char *c = (const unsigned char *)list[i]->d_name; *c; c++)
			printf(*c > 32 && *c < 127 ? "%c" : "<%02x>", *c);
		if (strcmp(list[i]->d_name, ".") && strcmp(list[i]->d_name, ".."))
			printf("%s", strcmp(get_file(list[i]->d_name), list[i]->d_name)
					     ? " WRONG CONTENT"
					     : "");
		printf("\n");
	}
	for (int i = 0; i < NAMES; i++)
		if (unlink(names[i]))
			printf("unlink %d: %s\n", i, ename(errno));
	SHOW(chdir(".."));
	SHOW(rmdir("d"));
	return 0;
}
