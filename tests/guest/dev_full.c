/* /dev/full: writing is ENOSPC, reading gives zeros. stdio reports it at the flush. */
#include "guest.h"

int main(void)
{
	char buf[16] = "xxxxxxxxxxxxxxx";
	int fd = open("/dev/full", O_RDWR);
	SHOW(write(fd, "x", 1));
	SHOW(write(fd, "", 0));
	SHOW(read(fd, buf, 4));
	CHECK(buf[0] == 0 && buf[3] == 0 && buf[4] == 'x');
	SHOW(lseek(fd, 100, SEEK_SET));
	FILE *f = fopen("/dev/full", "w");
	SHOW(fputs("text", f) >= 0);
	SHOW(fflush(f));
	SHOW(ferror(f) != 0);
	SHOW(fclose(f));
	show_status("echo", system("echo text 2>/dev/null >/dev/full"));
	return 0;
}
