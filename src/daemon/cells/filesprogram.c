/* See filesprogram.h. */
#include "daemon/cells/filesprogram.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "wire/memfd.h"

extern const char files_blob[], files_blob_end[];

int files_program(void)
{
	static int fd = -1;
	char path[40];
	int made;

	if (fd >= 0)
		return fd;
	made = memfd_sealed("viv-files", files_blob, (size_t)(files_blob_end - files_blob));
	if (made < 0)
		return made;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	close(made);
	return fd < 0 ? -errno : fd;
}
