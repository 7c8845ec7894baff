/* Names do not cross file systems: link and rename between here and /dev/shm are EXDEV. */
#include "guest.h"

int main(void)
{
	char other[64], target[80];
	struct stat a, b;
	snprintf(other, sizeof(other), "/dev/shm/guest-exdev-%d", (int)getpid());
	snprintf(target, sizeof(target), "%s/x", other);
	put_file("f", "x");
	mkdir("d", 0755);
	SHOW(mkdir(other, 0755));
	CHECK(stat(".", &a) == 0 && stat(other, &b) == 0 && a.st_dev != b.st_dev);
	SHOW(link("f", target));
	SHOW(rename("f", target));
	SHOW(rename("d", target));
	SHOW(rename("missing", target));
	SHOW(put_file(target, "y"));
	SHOW(rename(target, "f"));
	SHOW(link(target, "g"));
	SHOW(rename(other, "e"));
	printf("%s%s\n", get_file("f"), access(target, F_OK) ? " gone" : " still there");
	/* A symlink may point anywhere. */
	SHOW(symlink(target, "l"));
	printf("%s\n", get_file("l"));
	SHOW(unlink(target));
	SHOW(rmdir(other));
	unlink("l");
	unlink("f");
	rmdir("d");
	return 0;
}
