/*
 * POSIX lock ranges split, merge and change kind; lengths 0 and negative, origins, errors. A child
 * looks on.
 */
#include "guest.h"

static int fd;

static int lock(short type, short whence, off_t start, off_t len)
{
	struct flock fl = { .l_type = type, .l_whence = whence, .l_start = start, .l_len = len };
	return fcntl(fd, F_SETLK, &fl);
}

/* Each byte up to 40 as another process sees it: '.', 'r' or 'w'. */
static void look(void)
{
	char map[41] = "";
	for (int i = 0; i < 40; i++) {
		struct flock fl = {
			.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1
		};
		fcntl(fd, F_GETLK, &fl);
		map[i] = fl.l_type == F_UNLCK ? '.' : fl.l_type == F_RDLCK ? 'r' : 'w';
	}
	printf("%s\n", map);
}

#define STEP(expr) (errno = 0, show_(#expr, expr), in_child(look))

int main(void)
{
	put_file("f", "01234567890123456789");
	fd = open("f", O_RDWR);
	STEP(lock(F_WRLCK, SEEK_SET, 5, 20));
	STEP(lock(F_UNLCK, SEEK_SET, 10, 5));
	STEP(lock(F_RDLCK, SEEK_SET, 8, 4));
	STEP(lock(F_WRLCK, SEEK_SET, 0, 40));
	STEP(lock(F_RDLCK, SEEK_SET, 20, -5));
	STEP(lock(F_UNLCK, SEEK_END, 5, 0));
	lseek(fd, 3, SEEK_SET);
	STEP(lock(F_UNLCK, SEEK_CUR, 0, 2));
	STEP(lock(F_WRLCK, SEEK_END, -20, 0));
	STEP(lock(F_UNLCK, SEEK_SET, 0, 0));
	SHOW(lock(F_WRLCK, SEEK_SET, -1, 5));
	SHOW(lock(F_WRLCK, SEEK_SET, 2, -5));
	SHOW(lock(F_WRLCK, 9, 0, 5));
	SHOW(lock(9, SEEK_SET, 0, 5));
	STEP(lock(F_UNLCK, SEEK_SET, 0, 5));
	int rw = fd;
	fd = open("f", O_RDONLY);
	SHOW(lock(F_WRLCK, SEEK_SET, 0, 5));
	SHOW(lock(F_RDLCK, SEEK_SET, 0, 5));
	fd = open("f", O_WRONLY);
	SHOW(lock(F_RDLCK, SEEK_SET, 0, 5));
	fd = -1;
	SHOW(lock(F_RDLCK, SEEK_SET, 0, 5));
	fd = rw;
	SHOW(fcntl(fd, F_SETLK, (void *)8));
	unlink("f");
	return 0;
}
