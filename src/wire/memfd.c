/* See memfd.h. */
#include "wire/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int memfd_sealed(const char *name, const void *buf, size_t n)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	int err;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < n;) {
		ssize_t w = write(fd, (const char *)buf + done, n - done);

		if (w < 0) {
			err = -errno;
			goto out_close;
		}
		done += (size_t)w;
	}
	if (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0) {
		err = -errno;
		goto out_close;
	}
	return fd;
out_close:
	close(fd);
	return err;
}

/* #syscalls: fcntl fstat newfstatat mmap munmap */
int memfd_map(int fd, size_t max, void **ret_map, size_t *ret_size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *map;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0)
		return -EINVAL;
	if (st.st_size <= 0 || (size_t)st.st_size > max)
		return -EINVAL;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*ret_map = map;
	*ret_size = (size_t)st.st_size;
	return 0;
}

/* #syscalls: munmap */
void memfd_unmap(void *map, size_t size)
{
	munmap(map, size);
}
