/*
 * flock: locks belong to the open file, so dup and fork share them, a second open conflicts, and
 * the last close frees.
 */
#include "guest.h"
#include <sys/file.h>

static int fd;

static void child_unlocks(void)
{
	SHOW(flock(fd, LOCK_EX | LOCK_NB));
	SHOW(flock(fd, LOCK_UN));
}

int main(void)
{
	put_file("f", "x");
	fd = open("f", O_RDONLY);
	int two = open("f", O_RDWR), three = open("f", O_RDONLY);
	SHOW(flock(fd, LOCK_SH));
	SHOW(flock(two, LOCK_SH | LOCK_NB));
	SHOW(flock(three, LOCK_EX | LOCK_NB));
	SHOW(flock(two, LOCK_UN));
	SHOW(flock(fd, LOCK_EX | LOCK_NB));
	SHOW(flock(two, LOCK_SH | LOCK_NB));
	SHOW(flock(fd, LOCK_EX | LOCK_NB));
	SHOW(flock(fd, LOCK_SH | LOCK_NB));
	SHOW(flock(two, LOCK_SH | LOCK_NB));
	SHOW(flock(two, LOCK_UN));
	SHOW(flock(fd, LOCK_EX | LOCK_NB));
	int d = dup(fd);
	SHOW(close(fd));
	SHOW(flock(two, LOCK_EX | LOCK_NB));
	fd = d;
	show_status("child", in_child(child_unlocks));
	SHOW(flock(two, LOCK_EX | LOCK_NB));
	SHOW(close(two));
	SHOW(flock(three, LOCK_EX | LOCK_NB));
	SHOW(flock(three, LOCK_UN));
	SHOW(flock(three, LOCK_UN));
	SHOW(flock(three, 0));
	SHOW(flock(three, LOCK_SH | LOCK_EX));
	SHOW(flock(-1, LOCK_SH));
	SHOW(flock(open("f", O_PATH), LOCK_SH));
	SHOW(flock(open(".", O_RDONLY), LOCK_EX | LOCK_NB));
	unlink("f");
	return 0;
}
