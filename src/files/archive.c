/* viv-files: trees of files as tar archives, out and in. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/ops.h"
#include "files/say.h"
#include "files/stored.h"
#include "files/tar.h"

static char about[TAR_ABOUT];

static int out_write(void *arg, const void *data, size_t n)
{
	(void)arg;
	data_say(data, n);
	return 0;
}

/* As docker: names begin with the last one of the path; with "." for a path that ends in "/." or is
 * "/". A link can stand for what it leads to. */
int tar_op(char **words)
{
	const struct tar_out o = { .write = out_write };
	size_t n = strlen(words[0]);
	struct stat st;
	char name[256], real_name[256], *real;
	int dir, ret;

	/* What cannot be looked at is told before the archive begins. */
	if (lstat(words[0], &st) < 0)
		return error_say(errno, words[0]);
	ret = stored_check(words[0], word_is_on(words[1]) ? 0 : O_NOFOLLOW);
	if (ret)
		return error_say(-ret, words[0]);
	while (n > 1 && words[0][n - 1] == '/')
		words[0][--n] = '\0';
	dir = parent_open(AT_FDCWD, words[0], name);
	if (dir < 0)
		return error_say(-dir, words[0]);
	if (!strcmp(name, ".."))
		return error_say(EINVAL, words[0]);
	strcpy(real_name, name);
	if (S_ISLNK(st.st_mode) && word_is_on(words[1])) {
		real = realpath(words[0], NULL);
		dir = real ? parent_open(AT_FDCWD, real, real_name) : -errno;
		if (dir < 0)
			return error_say(-dir, words[0]);
	}
	ret = tar_pack(&o, dir, real_name, name, about);
	return ret < 0 ? error_say(-ret, about[0] ? about : words[0]) : end_say();
}

static ssize_t in_read(void *arg, void *buf, size_t n)
{
	(void)arg;
	return data_hear(buf, n);
}

int untar_op(char **words)
{
	const struct tar_in i = { .read = in_read };
	struct tar_rules r = { .owners = geteuid() == 0,
			       .uid = word_number(words[1], 10, -1),
			       .gid = word_number(words[2], 10, -1) };
	int dir = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;
	struct stat st, root;

	if (dir < 0)
		return error_say(errno, words[0]);
	umask(0);
	r.in_root = fstat(dir, &st) == 0 && stat("/", &root) == 0 && st.st_dev == root.st_dev &&
		    st.st_ino == root.st_ino;
	ret = tar_unpack(&i, dir, &r, about);
	return ret < 0 ? error_say(-ret, about[0] ? about : words[0]) : end_say();
}
