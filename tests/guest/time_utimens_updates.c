/* Which operations move a file's mtime and ctime, and those of its directory. */
#include "guest.h"
#include <time.h>

static struct stat f0, d0;
static int fd;

static bool later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static void begin(void)
{
	fstat(fd, &f0);
	stat("d", &d0);
	/* File times come from a coarse clock. */
	nanosleep(&(struct timespec){ 0, 15000000 }, NULL);
}

static void end(const char *what)
{
	struct stat f, d;
	fstat(fd, &f);
	stat("d", &d);
	printf("%s:%s%s%s%s%s\n", what, later(f.st_mtim, f0.st_mtim) ? " mtime" : "",
	       later(f.st_ctim, f0.st_ctim) ? " ctime" : "",
	       later(d.st_mtim, d0.st_mtim) ? " dir-mtime" : "",
	       later(d.st_ctim, d0.st_ctim) ? " dir-ctime" : "",
	       later(f0.st_mtim, f.st_mtim) ? " BACKWARDS" : "");
}

#define STEP(expr) (begin(), (void)!(expr), end(#expr))

int main(void)
{
	char c;
	mkdir("d", 0755);
	put_file("d/f", "x");
	fd = open("d/f", O_RDWR);
	STEP(write(fd, "abc", 3));
	STEP(pread(fd, &c, 1, 0));
	STEP(write(fd, "", 0));
	STEP(ftruncate(fd, 1));
	STEP(ftruncate(fd, 1));
	STEP(truncate("d/f", 5));
	STEP(fchmod(fd, 0600));
	STEP(chown("d/f", -1, getegid()));
	STEP(link("d/f", "d/g"));
	STEP(rename("d/g", "d/h"));
	STEP(unlink("d/h"));
	STEP(mkdir("d/sub", 0755));
	STEP(rmdir("d/sub"));
	STEP(symlink("x", "d/l"));
	STEP(unlink("d/l"));
	STEP(open("d/f", O_WRONLY));
	STEP(open("d/f", O_WRONLY | O_TRUNC));
	STEP(futimens(fd, NULL));
	STEP(access("d/f", R_OK));
	STEP(rename("d/f", "f"));
	STEP(unlink("f"));
	rmdir("d");
	return 0;
}
