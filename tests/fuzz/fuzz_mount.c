/* mount(2) and umount2(2) as root of a cell calls them: a byte of flags, then source, target, type
 * and options, each ended by a line end. What was mounted is detached again. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#include "fuzz.h"
#include "kernel/sys/handlers.h"
#include "kernel/vfs/mount.h"

const char fuzz_name[] = "mount";
const size_t fuzz_max = 1024;

void fuzz_init(void)
{
	static const char *const dirs[] = { "/d", "/d/e", "/m" };

	(void)world_task();
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		FUZZ_CHECK(world_call(sys_mkdirat, (uint64_t)AT_FDCWD, (uint64_t)dirs[i], 0755, 0, 0, 0) == 0);
}

static unsigned mounts_count(void)
{
	unsigned n = 0;

	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		n++;
	return n;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const uint64_t flags[] = { 0, MS_RDONLY, MS_BIND, MS_BIND | MS_REC, MS_REMOUNT, MS_REMOUNT | MS_BIND | MS_RDONLY,
					  MS_MOVE, MS_PRIVATE, MS_NOEXEC | MS_NOSUID | MS_NODEV };
	static char text[8192], *part[4];
	unsigned before = mounts_count();
	size_t n = 0;

	if (!size)
		return;
	memset(text, 0, sizeof(text));
	memcpy(text, data + 1, size - 1);
	for (char *s = text; n < 4; n++) {
		part[n] = s;
		s += strcspn(s, "\n");
		if (*s)
			*s++ = 0;
	}
	(void)world_call(sys_mount, (uint64_t)part[0], (uint64_t)part[1], (uint64_t)part[2], flags[(data[0] & 15) % ARRAY_LEN(flags)],
			 data[0] & 64 ? 0 : (uint64_t)part[3], 0);
	FUZZ_CHECK(mounts_count() <= before + 8);
	if (data[0] & 128)
		(void)world_call(sys_umount2, (uint64_t)part[1], data[0] & 16 ? MNT_DETACH : 0, 0, 0, 0, 0);
	/* Not by paths: what was mounted over the root has none. */
	for (int i = 0; i < 16 && mounts_count() > before; i++)
		for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
			if (m->parent) {
				mount_get(m);
				mount_detach(m);
				mount_put(m);
				break;
			}
	FUZZ_CHECK(mounts_count() == before);
}
