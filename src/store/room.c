/* See room.h. */
#include "store/room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NAME "room"
#define KEPT (2u << 20)
#define PLENTY (16u << 20) /* less than this is left to others */
#define FULL (1u << 20)

static uint64_t room_left(int dir)
{
	struct statvfs v;

	return fstatvfs(dir, &v) < 0 ? 0 : (uint64_t)v.f_bavail * v.f_frsize;
}

void room_keep(int dir)
{
	struct stat st;
	int fd;

	if ((fstatat(dir, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size >= KEPT) ||
	    room_left(dir) < PLENTY)
		return;
	fd = openat(dir, NAME, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	/* A hole would keep nothing, so a file system that cannot do this has none of it. */
	if (fallocate(fd, 0, 0, KEPT) < 0)
		unlinkat(dir, NAME, 0);
	close(fd);
}

void room_give(int dir)
{
	if (room_left(dir) < FULL)
		unlinkat(dir, NAME, 0);
}
