/* Spare journals (tend.h): a cell that starts takes one by renaming it, which is one change of the
 * file system instead of five. Their rings are new files that no kernel has ever had. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "host/journalring.h"
#include "journal/tend.h"
#include "wire/journalraw.h"

static const char *const files[] = { "raw.00000001", "meta.json", "ring.kernel" };

static bool files_make(int dir)
{
	uint64_t id;
	int fd;

	for (unsigned i = 0; i < ARRAY_LEN(files); i++) {
		fd = openat(dir, files[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    0600);
		if (fd < 0)
			return false;
		if (i + 1 < ARRAY_LEN(files))
			close(fd);
	}
	if (getrandom(&id, sizeof(id), 0) != sizeof(id) || journal_ring_make(fd, id) < 0) {
		close(fd);
		return false;
	}
	close(fd);
	return true;
}

static void spare_remove(int spares, const char *name)
{
	int dir = openat(spares, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (unsigned i = 0; i < ARRAY_LEN(files) && dir >= 0; i++)
		(void)!unlinkat(dir, files[i], 0);
	if (dir >= 0)
		close(dir);
	(void)!unlinkat(spares, name, AT_REMOVEDIR);
}

/* Under another name until it is whole. */
static bool spare_make(int spares, const char *name)
{
	static const char half[] = "new";
	int dir;
	bool good;

	if (mkdirat(spares, half, 0700) < 0) {
		if (errno != EEXIST)
			return false;
		/* A killed sealer left it; one that is at its end and makes it makes no more. */
		spare_remove(spares, half);
		if (mkdirat(spares, half, 0700) < 0)
			return false;
	}
	dir = openat(spares, half, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	good = dir >= 0 && files_make(dir) &&
	       renameat2(spares, half, spares, name, RENAME_NOREPLACE) == 0;
	if (dir >= 0)
		close(dir);
	if (!good)
		spare_remove(spares, half);
	return good;
}

void spares_fill(int journals)
{
	int spares = mkdirat(journals, JOURNAL_SPARE, 0700) == 0 || errno == EEXIST
			     ? openat(journals, JOURNAL_SPARE,
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
			     : -1;
	struct stat st;

	for (unsigned i = 0; i < JOURNAL_SPARES && spares >= 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		if (fstatat(spares, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT &&
		    !spare_make(spares, name))
			break;
	}
	if (spares >= 0)
		close(spares);
}
