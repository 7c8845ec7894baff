/*
 * O_NONBLOCK on a fifo: writing without a reader is ENXIO, reading opens at once; O_RDWR never
 * waits.
 */
#include "guest.h"

int main(void)
{
	char buf[16] = "";
	struct stat st;
	SHOW(mkfifo("p", 0640));
	SHOW(mkfifo("p", 0640));
	SHOW(stat("p", &st));
	printf("mode %o\n", st.st_mode);
	SHOW(open("p", O_WRONLY | O_NONBLOCK));
	int r = open("p", O_RDONLY | O_NONBLOCK);
	CHECK(r >= 0);
	SHOW(read(r, buf, 4));
	int w = open("p", O_WRONLY | O_NONBLOCK);
	CHECK(w >= 0);
	SHOW(read(r, buf, 4));
	SHOW(write(w, "abcdef", 6));
	/* A second reader shares the same bytes. */
	int r2 = open("p", O_RDONLY);
	SHOW(read(r2, buf, 2));
	SHOW(read(r, buf, 2));
	printf("%.2s\n", buf);
	SHOW(close(w));
	SHOW(read(r, buf, 16));
	SHOW(read(r, buf, 16));
	/* A new writer, and the pipe goes on. */
	w = open("p", O_WRONLY);
	SHOW(write(w, "again", 5));
	SHOW(read(r2, buf, 16));
	close(r);
	close(r2);
	close(w);
	/* What nobody has open is forgotten. */
	int rw = open("p", O_RDWR);
	CHECK(rw >= 0);
	SHOW(write(rw, "kept", 4));
	SHOW(read(rw, buf, 2));
	close(rw);
	r = open("p", O_RDONLY | O_NONBLOCK);
	SHOW(read(r, buf, 16));
	SHOW(lseek(r, 0, SEEK_SET));
	SHOW(unlink("p"));
	SHOW(open("p", O_RDONLY | O_NONBLOCK));
	SHOW(fstat(r, &st));
	SHOW(st.st_nlink);
	return 0;
}
