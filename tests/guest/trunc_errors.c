/* The error numbers of truncate and ftruncate. */
#include "guest.h"

static void body(void)
{
	int p[2];
	drop_to_user();
	put_file("f", "0123456789");
	mkdir("d", 0755);
	symlink("f", "l");
	symlink("missing", "dangling");
	SHOW(truncate("missing", 0));
	SHOW(truncate("d", 0));
	SHOW(truncate("f/x", 0));
	SHOW(truncate("", 0));
	SHOW(truncate("f", -1));
	SHOW(truncate("l", 5));
	SHOW(truncate("dangling", 5));
	SHOW(truncate((char *)8, 0));
	SHOW(ftruncate(open("f", O_RDONLY), 0));
	SHOW(ftruncate(open("d", O_RDONLY), 0));
	SHOW(ftruncate(open("f", O_WRONLY), -1));
	SHOW(ftruncate(-1, 0));
	SHOW(pipe(p));
	SHOW(ftruncate(p[1], 0));
	SHOW(ftruncate(open("/dev/null", O_WRONLY), 0));
	SHOW(truncate("/dev/null", 0));
	SHOW(chmod("f", 0400));
	SHOW(truncate("f", 0));
	printf("%s\n", get_file("f"));
	unlink("dangling");
	unlink("l");
	unlink("f");
	rmdir("d");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
