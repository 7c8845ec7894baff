/* fsync, fdatasync, syncfs and sync_file_range: what they accept. */
#include "guest.h"

int main(void)
{
	int p[2];
	put_file("f", "content");
	int fd = open("f", O_RDWR), rd = open("f", O_RDONLY), dir = open(".", O_RDONLY);
	SHOW(pipe(p));
	SHOW(write(fd, "C", 1));
	SHOW(fsync(fd));
	SHOW(fdatasync(fd));
	SHOW(fsync(rd));
	SHOW(fsync(dir));
	SHOW(fdatasync(dir));
	SHOW(syncfs(fd));
	SHOW(syncfs(dir));
	SHOW(fsync(p[0]));
	SHOW(fdatasync(p[1]));
	SHOW(fsync(-1));
	SHOW(fsync(9999));
	SHOW(syncfs(-1));
	SHOW(fsync(open("/dev/null", O_WRONLY)));
	SHOW(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(fd, 0, 4,
			     SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				     SYNC_FILE_RANGE_WAIT_AFTER));
	SHOW(sync_file_range(fd, -1, 4, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(fd, 0, 4, 64));
	SHOW(sync_file_range(p[0], 0, 4, SYNC_FILE_RANGE_WRITE));
	printf("%s\n", get_file("f"));
	unlink("f");
	return 0;
}
