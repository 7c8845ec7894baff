/* A set-group-id directory of another group gives its files that group, not the maker's. */
/* needs: root */
#include "guest.h"

static void body(void)
{
	struct stat st;
	drop_to_user();
	put_file("d/f", "x");
	stat("d/f", &st);
	printf("file: uid %d gid %d mode %04o\n", st.st_uid, st.st_gid, st.st_mode & 07777);
	mkdir("d/sub", 0755);
	stat("d/sub", &st);
	printf("directory: uid %d gid %d mode %04o\n", st.st_uid, st.st_gid, st.st_mode & 07777);
	put_file("plain/f", "x");
	stat("plain/f", &st);
	printf("elsewhere: uid %d gid %d\n", st.st_uid, st.st_gid);
	/* Not in the group: the file's set-group-id bit cannot be had. */
	SHOW(chmod("d/f", 02755));
	stat("d/f", &st);
	printf("mode %04o\n", st.st_mode & 07777);
	unlink("d/f");
	unlink("plain/f");
	rmdir("d/sub");
}

int main(void)
{
	mkdir("d", 0755);
	mkdir("plain", 0755);
	SHOW(chown("d", 0, 1234));
	SHOW(chmod("d", 02777));
	SHOW(chmod("plain", 0777));
	show_status("child", in_child(body));
	rmdir("d");
	rmdir("plain");
	return 0;
}
