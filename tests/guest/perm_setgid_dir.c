/* In a set-group-id directory new files take its group; new directories take the bit as well. */
#include "guest.h"

static void body(void)
{
	struct stat d, st;
	drop_to_user();
	mkdir("d", 0755);
	SHOW(chmod("d", 02775));
	stat("d", &d);
	printf("d %04o\n", d.st_mode & 07777);
	mkdir("d/sub", 0755);
	stat("d/sub", &st);
	printf("sub %04o, group %s\n", st.st_mode & 07777,
	       st.st_gid == d.st_gid ? "same" : "other");
	put_file("d/f", "x");
	stat("d/f", &st);
	printf("f %04o, group %s\n", st.st_mode & 07777, st.st_gid == d.st_gid ? "same" : "other");
	mkdir("d/sub/deeper", 0700);
	stat("d/sub/deeper", &st);
	printf("deeper %04o\n", st.st_mode & 07777);
	mkfifo("d/p", 0644);
	stat("d/p", &st);
	printf("fifo %04o\n", st.st_mode & 07777);
	SHOW(chmod("d/sub", 0755));
	stat("d/sub", &st);
	printf("sub %04o\n", st.st_mode & 07777);
	/* Renaming a directory into one does not give it the bit. */
	mkdir("plain", 0755);
	SHOW(rename("plain", "d/plain"));
	stat("d/plain", &st);
	printf("moved %04o\n", st.st_mode & 07777);
	rmdir("d/plain");
	unlink("d/p");
	rmdir("d/sub/deeper");
	rmdir("d/sub");
	unlink("d/f");
	rmdir("d");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
