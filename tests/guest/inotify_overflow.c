/* Equal events in a row are one; a full queue ends with an overflow event; a user has so many
 * instances. */
#include "guest.h"
#include <sys/inotify.h>

int main(void)
{
	static char buf[1 << 20] __attribute__((aligned(8)));
	int fd = inotify_init1(IN_NONBLOCK), count = 0, overflow = 0, last_is = 0;
	int f = open("f", O_RDWR | O_CREAT, 0644);
	ssize_t n;

	inotify_add_watch(fd, "f", IN_MODIFY | IN_ACCESS);
	for (int i = 0; i < 100; i++)
		pwrite(f, "x", 1, 0);
	n = read(fd, buf, sizeof(buf));
	printf("%d events for equal writes\n", (int)(n / 16));
	for (int i = 0; i < 9000; i++) {
		pwrite(f, "x", 1, 0);
		pread(f, buf, 1, 0);
	}
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n; p += 16) {
			struct inotify_event *e = (struct inotify_event *)p;
			count++;
			last_is = e->mask & IN_Q_OVERFLOW;
			overflow += last_is && e->wd == -1;
		}
	printf("%d events, %d overflows, the last one: %d\n", count, overflow, last_is != 0);
	pwrite(f, "x", 1, 0);
	printf("%d\n", (int)read(fd, buf, sizeof(buf)));
	unlink("f");
	return 0;
}
