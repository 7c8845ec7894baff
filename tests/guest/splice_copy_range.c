/*
 * copy_file_range: offsets given or the files' own, within one file when ranges do not overlap; its
 * errors.
 */
#include "guest.h"

int main(void)
{
	off64_t a = 2, b = 5;
	int p[2];
	put_file("in", "0123456789");
	int in = open("in", O_RDWR), out = open("out", O_RDWR | O_CREAT, 0644);
	SHOW(copy_file_range(in, &a, out, &b, 4, 0));
	printf("%lld %lld\n", (long long)a, (long long)b);
	SHOW(lseek(out, 0, SEEK_END));
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(lseek(out, 0, SEEK_SET));
	SHOW(copy_file_range(in, NULL, out, NULL, 100, 0));
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(lseek(out, 0, SEEK_CUR));
	printf("%s\n", get_file("out"));
	SHOW(copy_file_range(in, NULL, out, NULL, 100, 0));
	SHOW(copy_file_range(in, NULL, out, NULL, 0, 0));
	a = 0;
	b = 10;
	SHOW(copy_file_range(in, &a, in, &b, 5, 0));
	printf("%s\n", get_file("in"));
	a = 0;
	b = 3;
	SHOW(copy_file_range(in, &a, in, &b, 5, 0));
	SHOW(copy_file_range(in, &a, out, NULL, 5, 1));
	SHOW(copy_file_range(in, &a, open("out", O_RDONLY), NULL, 5, 0));
	SHOW(copy_file_range(open("in", O_WRONLY), &a, out, NULL, 5, 0));
	SHOW(copy_file_range(in, &a, open("out", O_WRONLY | O_APPEND), NULL, 5, 0));
	SHOW(copy_file_range(-1, &a, out, NULL, 5, 0));
	SHOW(copy_file_range(open(".", O_RDONLY), NULL, out, NULL, 5, 0));
	SHOW(pipe(p));
	SHOW(copy_file_range(p[0], NULL, out, NULL, 5, 0));
	a = -1;
	SHOW(copy_file_range(in, &a, out, NULL, 5, 0));
	unlink("in");
	unlink("out");
	return 0;
}
