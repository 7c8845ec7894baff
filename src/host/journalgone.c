/* See journalgone.h. A reader gives the file another name first; a writer looks afterwards whether
 * what it wrote to still has its own, and else writes once more. */
#include "host/journalgone.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GONE ".gone"
#define TAKEN ".gone.taken"
#define TRIES 4

static bool is_still(int fd, int journals)
{
	struct stat mine, named;

	return fstat(fd, &mine) == 0 && fstatat(journals, GONE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

void journal_gone_note(int journals, const char *id, const char *reason)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%.40s %.16s\n", id, reason);
	bool done = false;

	for (int i = 0; i < TRIES && !done; i++) {
		int fd = openat(journals, GONE,
				O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				0600);

		if (fd < 0)
			return;
		done = write(fd, line, (size_t)n) != n || is_still(fd, journals);
		close(fd);
	}
}

size_t journal_gone_take(int journals, char *to, size_t n)
{
	struct stat st;
	ssize_t got;
	char *end;
	int fd;

	*to = '\0';
	/* What an earlier reader did not finish comes first. */
	if (fstatat(journals, TAKEN, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	    renameat(journals, GONE, journals, TAKEN) < 0)
		return 0;
	fd = openat(journals, TAKEN, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	got = fd < 0 ? -1 : read(fd, to, n);
	if (fd >= 0)
		close(fd);
	end = got > 0 ? memrchr(to, '\n', (size_t)got) : NULL;
	if (!end)
		return 0;
	*end = '\0';
	return (size_t)(end - to);
}

void journal_gone_done(int journals)
{
	(void)!unlinkat(journals, TAKEN, 0);
}
