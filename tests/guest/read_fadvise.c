/* readahead and posix_fadvise change nothing that can be read; they check descriptor and advice. */
#include "guest.h"

int main(void)
{
	int p[2];
	char buf[8] = "";
	put_file("f", "abcdef");
	int fd = open("f", O_RDONLY), w = open("f", O_WRONLY);
	SHOW(pipe(p));
	printf("sequential %s\n", ename(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL)));
	printf("random %s\n", ename(posix_fadvise(fd, 0, 100, POSIX_FADV_RANDOM)));
	printf("willneed %s\n", ename(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED)));
	printf("dontneed %s\n", ename(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)));
	printf("unknown %s\n", ename(posix_fadvise(fd, 0, 0, 99)));
	printf("negative length %s\n", ename(posix_fadvise(fd, 0, -1, POSIX_FADV_NORMAL)));
	printf("bad descriptor %s\n", ename(posix_fadvise(-1, 0, 0, POSIX_FADV_NORMAL)));
	printf("pipe %s\n", ename(posix_fadvise(p[0], 0, 0, POSIX_FADV_NORMAL)));
	SHOW(readahead(fd, 0, 4096));
	SHOW(readahead(w, 0, 4096));
	SHOW(readahead(p[0], 0, 4096));
	SHOW(readahead(-1, 0, 4096));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(read(fd, buf, 7));
	printf("%s\n", buf);
	unlink("f");
	return 0;
}
