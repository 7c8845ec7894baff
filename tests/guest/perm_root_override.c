/* Root passes every permission bit, but executes a file only if somebody may. */
/* needs: root */
#include "guest.h"

static void run(void)
{
	execl("./prog", "prog", (char *)NULL);
	printf("execve: %s\n", ename(errno));
}

int main(void)
{
	put_file("f", "secret");
	SHOW(chmod("f", 0));
	printf("%s\n", get_file("f"));
	SHOWOK(open("f", O_RDWR));
	SHOW(access("f", R_OK | W_OK));
	SHOW(access("f", X_OK));
	mkdir("d", 0755);
	put_file("d/g", "inside");
	SHOW(chmod("d", 0));
	printf("%s\n", get_file("d/g"));
	SHOW(access("d", R_OK | W_OK | X_OK));
	SHOW(unlink("d/g"));
	put_file("prog", "#!/bin/sh\nexit 3\n");
	show_status("no x", in_child(run));
	SHOW(chmod("prog", 0001));
	show_status("x for others", in_child(run));
	/* Another user's file. */
	SHOW(chown("f", 1000, 1000));
	SHOW(chmod("f", 0600));
	SHOW(unlink("f"));
	rmdir("d");
	unlink("prog");
	return 0;
}
