/* statx agrees with stat, sets the mask of what it gives, and checks flags and reserved bits. */
#include "guest.h"
#include <sys/sysmacros.h>

int main(void)
{
	struct statx sx;
	struct stat st;
	put_file("f", "12345");
	symlink("f", "l");
	SHOW(stat("f", &st));
	memset(&sx, 0xff, sizeof(sx));
	SHOW(statx(AT_FDCWD, "l", 0, STATX_BASIC_STATS, &sx));
	CHECK((sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
	CHECK(sx.stx_size == (uint64_t)st.st_size && sx.stx_ino == st.st_ino &&
	      sx.stx_mode == st.st_mode);
	CHECK(sx.stx_nlink == st.st_nlink && sx.stx_uid == st.st_uid && sx.stx_gid == st.st_gid);
	CHECK(sx.stx_blocks == (uint64_t)st.st_blocks && sx.stx_blksize == (uint32_t)st.st_blksize);
	CHECK(makedev(sx.stx_dev_major, sx.stx_dev_minor) == st.st_dev);
	CHECK(sx.stx_rdev_major == 0 && sx.stx_rdev_minor == 0);
	CHECK(sx.stx_mtime.tv_sec == st.st_mtim.tv_sec &&
	      sx.stx_mtime.tv_nsec == st.st_mtim.tv_nsec);
	CHECK(sx.stx_ctime.tv_sec == st.st_ctim.tv_sec &&
	      sx.stx_ctime.tv_nsec == st.st_ctim.tv_nsec);
	CHECK(sx.stx_atime.tv_sec == st.st_atim.tv_sec &&
	      sx.stx_atime.tv_nsec == st.st_atim.tv_nsec);
	SHOW(statx(AT_FDCWD, "l", AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_SIZE, &sx));
	CHECK(S_ISLNK(sx.stx_mode) && sx.stx_size == 1);
	SHOW(statx(open("f", O_RDONLY), "", AT_EMPTY_PATH, STATX_SIZE, &sx));
	SHOW(sx.stx_size);
	SHOW(statx(AT_FDCWD, "/dev/zero", 0, STATX_BASIC_STATS, &sx));
	printf("rdev %u:%u\n", sx.stx_rdev_major, sx.stx_rdev_minor);
	SHOW(statx(AT_FDCWD, "f", 0, 0, &sx));
	SHOW(statx(AT_FDCWD, "f", AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &sx));
	SHOW(statx(AT_FDCWD, "f", AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx));
	SHOW(statx(AT_FDCWD, "f", AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
		   &sx));
	SHOW(statx(AT_FDCWD, "f", 0, STATX__RESERVED, &sx));
	SHOW(statx(AT_FDCWD, "f", 0x40000000, STATX_BASIC_STATS, &sx));
	SHOW(statx(AT_FDCWD, "missing", 0, STATX_BASIC_STATS, &sx));
	SHOW(statx(AT_FDCWD, "", 0, STATX_BASIC_STATS, &sx));
	SHOW(statx(-1, "f", 0, STATX_BASIC_STATS, &sx));
	SHOW(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, (struct statx *)8));
	unlink("l");
	unlink("f");
	return 0;
}
