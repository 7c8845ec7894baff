/* needs: root */
/*
 * Large writes to a small file system: the last that fits is short, the next fails, and what was
 * written is there. Each so often that it goes the shortest way there is.
 */
#include "guest.h"
#include <sched.h>
#include <sys/mount.h>

#define SIZE (1 << 20)
#define TIMES 200

static char block[200001], back[SIZE];

int main(void)
{
	int same = 0, fd;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 2;
	CHECK(mkdir("m", 0700) == 0 && mount("tmpfs", "m", "tmpfs", 0, "size=1m") == 0);
	fd = open("m/f", O_CREAT | O_RDWR, 0600);
	memset(block, 'x', sizeof(block));
	for (int r = 0; r < TIMES; r++) {
		long n, total = 0, last = 0;

		if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
			abort();
		while ((n = write(fd, block, sizeof(block))) > 0) {
			total += n;
			last = n;
		}
		same += n == -1 && errno == ENOSPC && total == SIZE && last == SIZE % (long)sizeof(block) &&
			lseek(fd, 0, SEEK_CUR) == SIZE;
		same += pwrite(fd, block, 100000, SIZE - 50000) == 50000;
		same += pread(fd, back, SIZE, 0) == SIZE && back[SIZE - 1] == 'x' && !memcmp(back, back + 1, SIZE - 1);
	}
	CHECK(same == 3 * TIMES);
	close(fd);
	CHECK(umount("m") == 0 && rmdir("m") == 0);
	return 0;
}
