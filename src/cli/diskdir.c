/* viv run --disk DIR: a disk in a directory of its own, without a store: for tests and for repairs. The layers are those below
 * DIR/data, the one with the highest number is the active one and stands on all others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/bootspec.h"
#include "host/hostmount.h"
#include "host/isolate.h"

static int number_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of the layers, sorted; 1 if there are none. */
static int layers_find(const char *data, uint32_t numbers[SPEC_MAX_LAYERS], uint32_t *ret_n)
{
	DIR *d = opendir(data);
	struct dirent *e;
	uint32_t n = 0;

	if (!d)
		return fail("--disk: cannot read '%s': %s", data, strerror(errno));
	while ((e = readdir(d)))
		if (n < SPEC_MAX_LAYERS && value_u32(e->d_name, &numbers[n]) && numbers[n])
			n++;
	closedir(d);
	if (!n)
		numbers[n++] = 1;
	qsort(numbers, n, sizeof(*numbers), number_cmp);
	*ret_n = n;
	return 0;
}

int disk_dir_prepare(const char *dir, const char *tell, struct bootspec *spec, uid_t *uid,
		     gid_t *gid, int *ret_fd)
{
	uint32_t numbers[SPEC_MAX_LAYERS], n = 0;
	char path[4096];
	struct stat st;
	int lock, status;

	if ((mkdir(dir, 0755) < 0 && errno != EEXIST) ||
	    (size_t)snprintf(path, sizeof(path), "%s/lock", dir) >= sizeof(path))
		return fail("--disk: cannot make '%s': %s", dir, strerror(errno));
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return fail(errno == EWOULDBLOCK ? "--disk: '%s' is in use by another cell" :
						   "--disk: cannot lock '%s'",
			    dir);
	snprintf(path, sizeof(path), "%s/data", dir);
	if (mkdir(path, 0755) == 0) {
		if (chown(path, *uid, *gid) < 0)
			return fail("--disk: cannot give '%s' to the cell: %s", path,
				    strerror(errno));
	} else if (errno != EEXIST) {
		return fail("--disk: cannot make '%s': %s", path, strerror(errno));
	}
	if (stat(path, &st) < 0)
		return fail("--disk: cannot read '%s': %s", path, strerror(errno));
	if (*uid != geteuid()) {
		*uid = st.st_uid;
		*gid = st.st_gid;
	}
	status = layers_find(path, numbers, &n);
	if (status)
		return status;
	if (tell) {
		spec->mode = !strcmp(tell, "list")  ? MODE_LIST :
			     !strcmp(tell, "check") ? MODE_CHECK :
						      MODE_TAR;
		spec->tar_whole = !strcmp(tell, "tar");
		spec->out_fd = 1;
	}
	spec->disk = (struct disk_spec){ .present = true,
					 .readonly = tell != NULL,
					 .active = numbers[n - 1],
					 .first = spec->nlayers,
					 .nsealed = tell ? n : n - 1 };
	for (uint32_t i = 0; i < spec->disk.nsealed; i++)
		spec->layers[spec->nlayers++] = (struct layer_spec){ -1, numbers[i] };
	*ret_fd = host_disk_open(path, tell != NULL, *uid, &spec->disk.detached);
	return *ret_fd < 0 ? fail("--disk: cannot open '%s': %s", path, strerror(-*ret_fd)) : 0;
}
