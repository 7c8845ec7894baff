/* readdir's d_type and d_ino agree with lstat for each kind of file. */
#include "guest.h"
#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int main(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "d/socket" };
	mkdir("d", 0755);
	mkdir("d/dir", 0755);
	put_file("d/regular", "x");
	symlink("dir", "d/symlink");
	mkfifo("d/fifo", 0644);
	link("d/regular", "d/hardlink");
	SHOW(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&sun, sizeof(sun)));
	struct dirent **list;
	int n = scandir("d", &list, NULL, by_name);
	SHOW(n);
	for (int i = 0; i < n; i++) {
		struct stat st;
		char path[300];
		snprintf(path, sizeof(path), "d/%s", list[i]->d_name);
		lstat(path, &st);
		printf("%s: d_type %d, lstat %s, inode %s\n", list[i]->d_name, list[i]->d_type,
		       IFTODT(st.st_mode) == list[i]->d_type ? "agrees" : "differs",
		       st.st_ino == list[i]->d_ino ? "agrees" : "differs");
	}
	static const char *const names[] = { "regular", "symlink", "fifo", "hardlink", "socket" };
	for (int i = 0; i < 5; i++) {
		char path[300];
		snprintf(path, sizeof(path), "d/%s", names[i]);
		unlink(path);
	}
	rmdir("d/dir");
	rmdir("d");
	return 0;
}
