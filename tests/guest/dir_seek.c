/* telldir and seekdir return to the same entry; rewinddir starts anew and sees what was added. */
#include "guest.h"
#include <dirent.h>

static int count(DIR *dir)
{
	int n = 0;
	while (readdir(dir))
		n++;
	return n;
}

int main(void)
{
	char name[64], at5[256] = "", at6[256] = "";
	mkdir("d", 0755);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/entry%d", i);
		put_file(name, "");
	}
	DIR *dir = opendir("d");
	for (int i = 0; i < 5; i++)
		readdir(dir);
	long pos = telldir(dir);
	strcpy(at5, readdir(dir)->d_name);
	strcpy(at6, readdir(dir)->d_name);
	SHOW(count(dir));
	CHECK(readdir(dir) == NULL && errno == 0);
	seekdir(dir, pos);
	CHECK(strcmp(readdir(dir)->d_name, at5) == 0);
	CHECK(strcmp(readdir(dir)->d_name, at6) == 0);
	SHOW(count(dir));
	rewinddir(dir);
	SHOW(count(dir));
	put_file("d/new", "");
	rewinddir(dir);
	SHOW(count(dir));
	unlink("d/new");
	rewinddir(dir);
	SHOW(count(dir));
	/* A second stream has a place of its own. */
	DIR *two = opendir("d");
	readdir(two);
	rewinddir(dir);
	SHOW(count(two));
	SHOW(count(dir));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/entry%d", i);
		unlink(name);
	}
	rmdir("d");
	return 0;
}
