/* Landlock: writing only below the store; see confine.h. */
#include "import/confine.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of the distribution. */
#define ACCESS_TRUNCATE (1ull << 14) /* version 3 */
#define ACCESS_NET_TCP 3ull /* version 4: bind, connect */

struct ruleset {
	uint64_t fs;
	uint64_t net;
};

void confine_to_store(const struct store *s)
{
	struct ruleset r = { .fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
				   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
				   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
				   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
				   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
				   LANDLOCK_ACCESS_FS_REFER };
	struct landlock_path_beneath_attr store = { .parent_fd = s->fd };
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int fd;

	/* The first version cannot allow a rename from one directory to another. */
	if (version < 2)
		return;
	if (version >= 3)
		r.fs |= ACCESS_TRUNCATE;
	if (version >= 4)
		r.net = ACCESS_NET_TCP;
	store.allowed_access = r.fs;
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, version >= 4 ? sizeof(r) : sizeof(r.fs),
			  0);
	if (fd < 0)
		return;
	if (syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &store, 0) == 0 &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}
