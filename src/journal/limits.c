/* See limits.h. */
#include "journal/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spec/values.h"

#define DAYS_MAX 36500

bool limit_days(const char *text, struct journal_limits *l)
{
	uint32_t days;

	if (!value_u32(text, &days) || days > DAYS_MAX)
		return false;
	l->age = days * JOURNAL_DAY;
	return true;
}

bool limit_space(const char *text, struct journal_limits *l)
{
	if (!strcmp(text, "0")) {
		l->bytes = 0;
		return true;
	}
	return value_size(text, &l->bytes);
}

int limits_environment(struct journal_limits *l, struct err *e)
{
	const char *days = getenv("VIV_JOURNAL_DAYS"), *space = getenv("VIV_JOURNAL_SPACE");

	if (days && *days && !limit_days(days, l))
		return err_set(
			e, ERR_USAGE,
			"VIV_JOURNAL_DAYS '%.40s' in the environment is not a number of days",
			days);
	if (space && *space && !limit_space(space, l))
		return err_set(e, ERR_USAGE,
			       "VIV_JOURNAL_SPACE '%.40s' in the environment is not a size, like "
			       "20G",
			       space);
	return 0;
}

bool limits_read(int journals, struct journal_limits *ret, int64_t *ret_at)
{
	int fd = openat(journals, JOURNAL_LIMITS_FILE,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned long long age, bytes;
	char text[80];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof(text) - 1) : -1;
	close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	*ret_at = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	if (sscanf(text, "age %llu bytes %llu", &age, &bytes) == 2 && age <= INT64_MAX)
		*ret = (struct journal_limits){ (int64_t)age, bytes };
	return true;
}

void limits_write(int journals, const struct journal_limits *l)
{
	int fd = openat(journals, JOURNAL_LIMITS_FILE,
			O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	char text[80];
	/* As long as the one before. */
	int n = snprintf(text, sizeof(text), "age %-20llu bytes %-20llu\n",
			 (unsigned long long)l->age, (unsigned long long)l->bytes);

	if (fd < 0)
		return;
	(void)!pwrite(fd, text, (size_t)n, 0);
	close(fd);
}

static int oldest_first(const void *a, const void *b)
{
	const struct journal_aged *x = a, *y = b;

	return x->written < y->written ? -1 : x->written > y->written;
}

size_t limits_exceeded(struct journal_aged *list, size_t n, const struct journal_limits *l,
		       int64_t now)
{
	uint64_t bytes = 0;
	size_t gone = 0;

	for (size_t i = 0; i < n; i++)
		bytes += list[i].bytes;
	if (n)
		qsort(list, n, sizeof(*list), oldest_first);
	while (gone < n && ((l->age && now - list[gone].written > l->age) ||
			    (l->bytes && bytes > l->bytes) || n - gone > JOURNALS_MAX))
		bytes -= list[gone++].bytes;
	return gone;
}
