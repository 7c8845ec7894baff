/*
 * Making, removing and renaming names need write and search on the directory, nothing on the file.
 */
#include "guest.h"

static void body(void)
{
	drop_to_user();
	mkdir("d", 0755);
	put_file("d/f", "x");
	mkdir("d/sub", 0755);
	put_file("g", "y");
	SHOW(chmod("d", 0555));
	SHOW(unlink("d/f"));
	SHOW(rmdir("d/sub"));
	SHOW(mkdir("d/new", 0755));
	SHOW(symlink("x", "d/new"));
	SHOW(link("g", "d/new"));
	SHOW(mkfifo("d/new", 0644));
	SHOW(rename("d/f", "d/new"));
	SHOW(rename("g", "d/new"));
	SHOW(rename("d/f", "new"));
	SHOW(open("d/new", O_WRONLY | O_CREAT, 0644));
	/* What is there is there: EEXIST and opening come before the question of writing. */
	SHOW(mkdir("d/sub", 0755));
	SHOWOK(open("d/f", O_WRONLY | O_CREAT, 0644));
	SHOW(open("d/f", O_WRONLY | O_CREAT | O_EXCL, 0644));
	SHOW(unlink("d/missing"));
	SHOW(open(".", O_RDONLY | O_TMPFILE));
	SHOW(open("d", O_TMPFILE | O_RDWR, 0600));
	SHOW(chmod("d", 0755));
	SHOW(chmod("d/f", 0));
	SHOW(rename("d/f", "d/h"));
	SHOW(link("d/h", "h"));
	SHOW(unlink("d/h"));
	/* Moving a directory changes its "..", so it must be writable. */
	SHOW(chmod("d/sub", 0555));
	SHOW(rename("d/sub", "sub"));
	SHOW(rename("d/sub", "d/sub2"));
	chmod("d/sub2", 0755);
	rmdir("d/sub2");
	rmdir("d");
	unlink("h");
	unlink("g");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
