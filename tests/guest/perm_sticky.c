/*
 * In a sticky directory only the owner of the file or of the directory removes or renames: EPERM
 * for others.
 */
/* needs: root */
#include "guest.h"

static void body(void)
{
	drop_to_user();
	put_file("s/mine", "m");
	SHOW(unlink("s/theirs"));
	SHOW(rename("s/theirs", "s/x"));
	SHOW(rename("s/mine", "s/theirs"));
	SHOW(rmdir("s/dir"));
	SHOW(rename("s/mine", "s/renamed"));
	SHOW(unlink("s/renamed"));
	SHOW(open("s/theirs", O_WRONLY));
	SHOW(open("s/theirs", O_RDONLY | O_CREAT, 0600) >= 0);
	SHOW(unlink("s/missing"));
	/* Without the bit, write permission on the directory is enough. */
	SHOW(unlink("open/theirs"));
	SHOW(rmdir("open/dir"));
	/* The directory's owner may remove everything. */
	SHOW(unlink("own/theirs"));
}

int main(void)
{
	static const char *const dirs[] = { "s", "open", "own" };
	for (int i = 0; i < 3; i++) {
		char name[32];
		mkdir(dirs[i], 0777);
		chmod(dirs[i], i == 1 ? 0777 : 01777);
		snprintf(name, sizeof(name), "%s/theirs", dirs[i]);
		put_file(name, "t");
		snprintf(name, sizeof(name), "%s/dir", dirs[i]);
		mkdir(name, 0755);
	}
	SHOW(chown("own", 1000, 1000));
	show_status("child", in_child(body));
	printf("%s\n", get_file("s/theirs"));
	SHOW(unlink("s/theirs"));
	rmdir("s/dir");
	rmdir("own/dir");
	rmdir("s");
	rmdir("open");
	rmdir("own");
	return 0;
}
