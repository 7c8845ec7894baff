/* statfs and statvfs: plausible numbers here, the known types of /proc and /dev/shm, errors. */
#include "guest.h"
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

int main(void)
{
	struct statfs a, b;
	struct statvfs v;
	int p[2];
	put_file("f", "x");
	SHOW(statfs(".", &a));
	CHECK(a.f_bsize >= 512 && a.f_blocks > 0 && a.f_bfree <= a.f_blocks &&
	      a.f_bavail <= a.f_bfree);
	CHECK(a.f_ffree <= a.f_files);
	SHOW(a.f_namelen);
	SHOW(fstatfs(open("f", O_RDONLY), &b));
	CHECK(a.f_type == b.f_type && a.f_bsize == b.f_bsize && a.f_blocks == b.f_blocks);
	SHOW(statvfs("f", &v));
	CHECK(v.f_blocks == a.f_blocks && v.f_namemax == 255 && !(v.f_flag & ST_RDONLY));
	SHOW(statfs("/proc", &a));
	CHECK(a.f_type == PROC_SUPER_MAGIC);
	SHOW(statfs("/dev/shm", &a));
	CHECK(a.f_type == TMPFS_MAGIC);
	SHOW(pipe(p));
	SHOW(fstatfs(p[0], &a));
	CHECK(a.f_type == PIPEFS_MAGIC);
	SHOW(statfs("missing", &a));
	SHOW(statfs("f/x", &a));
	SHOW(statfs("", &a));
	SHOW(fstatfs(-1, &a));
	SHOW(statfs(".", (struct statfs *)8));
	SHOW(fstatfs(open("f", O_PATH), &a));
	unlink("f");
	return 0;
}
