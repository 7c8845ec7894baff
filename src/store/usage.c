/* See usage.h. */
#include "store/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* names: 0, or only files with at most that many count. */
static uint64_t usage_below(int dir, const char *path, unsigned depth, unsigned names,
			    uint64_t *files)
{
	struct dirent *e;
	struct stat st;
	uint64_t n;
	DIR *d;
	int fd;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	n = (uint64_t)st.st_blocks * 512;
	if (files)
		++*files;
	if (names && !S_ISDIR(st.st_mode))
		return st.st_nlink <= names ? n : 0;
	if (names)
		n = 0;
	if (!S_ISDIR(st.st_mode))
		return n / MAX(st.st_nlink, 1u);
	if (!depth)
		return n;
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			n += usage_below(dirfd(d), e->d_name, depth - 1, names, files);
	if (d)
		closedir(d);
	return n;
}

uint64_t tree_usage(int dir, const char *path)
{
	return usage_below(dir, path, USAGE_DEPTH, 0, NULL);
}

uint64_t tree_usage_alone(int dir, const char *path, unsigned names)
{
	return usage_below(dir, path, USAGE_DEPTH, names, NULL);
}

uint64_t tree_usage_files(int dir, const char *path, uint64_t *ret_files)
{
	*ret_files = 0;
	return usage_below(dir, path, USAGE_DEPTH, 0, ret_files);
}
