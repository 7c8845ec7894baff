/* See useslog.h. */
#include "store/useslog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

#define FILE_NAME "uses"

void useslog_add(const struct disk *d, const char *line)
{
	int fd = openat(d->dir, FILE_NAME, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0600);
	char text[1024];
	struct stat st;
	int n = snprintf(text, sizeof(text), "%s\n", line);

	if (fd < 0)
		return;
	if (n > 0 && (size_t)n < sizeof(text) && fstat(fd, &st) == 0 &&
	    st.st_size + n <= USESLOG_MAX)
		(void)!write(fd, text, (size_t)n);
	close(fd);
}

static int dir_open(int store, const char *disk)
{
	char path[8 + DISK_ID_LEN];

	snprintf(path, sizeof(path), "disks/%s", disk);
	return openat(store, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

int useslog_read(int store, const char *disk, char **ret)
{
	int dir = dir_open(store, disk), err;
	size_t n;

	if (dir < 0)
		return -errno;
	err = file_read_all(dir, FILE_NAME, USESLOG_MAX, ret, &n);
	close(dir);
	return err;
}

void useslog_remove(int store, const char *disk)
{
	int dir = dir_open(store, disk);

	if (dir < 0)
		return;
	unlinkat(dir, FILE_NAME, 0);
	close(dir);
}
