/* /proc/PID/io counts what a process reads and writes; coredump_filter is kept and inherited. */
#include "guest.h"

static long field(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtol(p + strlen(key), NULL, 10) : -1;
}

static void core_child(void)
{
	printf("inherited: %s", get_file("/proc/self/coredump_filter"));
}

int main(void)
{
	static char buf[10000];
	long r0, w0, sr0, sw0;
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	char text[4096];

	snprintf(text, sizeof(text), "%s", get_file("/proc/self/io"));
	r0 = field(text, "rchar: "), w0 = field(text, "wchar: ");
	sr0 = field(text, "syscr: "), sw0 = field(text, "syscw: ");
	CHECK(write(fd, buf, sizeof(buf)) == sizeof(buf));
	CHECK(pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
	CHECK(pread(fd, buf, 10, 9995) == 5);
	(void)!write(-1, buf, 1);
	snprintf(text, sizeof(text), "%s", get_file("/proc/self/io"));
	CHECK(field(text, "rchar: ") - r0 >= 10005 && field(text, "rchar: ") - r0 < 11000);
	CHECK(field(text, "wchar: ") - w0 >= 10000 && field(text, "wchar: ") - w0 < 11000);
	CHECK(field(text, "syscr: ") - sr0 >= 2 && field(text, "syscr: ") - sr0 < 10);
	CHECK(field(text, "syscw: ") - sw0 >= 1 && field(text, "syscw: ") - sw0 < 20);
	CHECK(strstr(text, "\nread_bytes: ") && strstr(text, "\nwrite_bytes: ") &&
	      strstr(text, "\ncancelled_write_bytes: "));
	unlink("f");

	SHOW(put_file("/proc/self/coredump_filter", "0x33"));
	printf("%s", get_file("/proc/self/coredump_filter"));
	SHOW(put_file("/proc/self/coredump_filter", "0x7f\n"));
	printf("%s", get_file("/proc/self/coredump_filter"));
	SHOW(put_file("/proc/self/coredump_filter", "0xfff"));
	printf("%s", get_file("/proc/self/coredump_filter"));
	SHOW(put_file("/proc/self/coredump_filter", "x"));
	SHOW(put_file("/proc/self/coredump_filter", "1 2"));
	SHOW(put_file("/proc/self/coredump_filter", "99999999999"));
	SHOW(put_file("/proc/self/coredump_filter", "21"));
	in_child(core_child);
	return 0;
}
