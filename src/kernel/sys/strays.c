/* Processes that were made behind the kernel's back (strays.h).
 *
 * A guest can make the stub's marked clone itself. Such a child cannot ask for anything, its first question ends it, but it can
 * hold a place in the host's table and use memory that no table of ours counts. Every child that was asked for has a birth
 * pending until it announces itself, so when the host's /proc shows more unknown processes than there are births, some are strays.
 * Which ones cannot be told, so all unknown ones are ended; a child that is about to announce itself may be among them, in a cell
 * that is under attack from inside. Rounds are repeated because strays can make more meanwhile. Without a /proc there is no way
 * to find them; the host's limit on processes still bounds them. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "host/child.h"
#include "host/host.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/strays.h"
#include "kernel/task/task.h"

#define PERIOD NSEC_PER_SEC
#define ROUNDS 16

struct dirent_head { /* as getdents64 writes it */
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/* How many processes are in no table; ends them if asked to. */
static uint32_t unknown(bool end)
{
	static char buf[16384] __attribute__((aligned(8)));
	int fd = host_openat(cell.proc_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	uint32_t count = 0;
	int64_t n;

	if (fd < 0)
		return 0;
	while ((n = host_getdents(fd, buf, sizeof(buf))) > 0)
		for (int64_t at = 0; at < n;) {
			const struct dirent_head *d = (const void *)(buf + at);
			pid_t pid = atoi(d->name);

			at += d->reclen;
			if (pid <= 1 || proc_find(pid) || seed_is(pid))
				continue;
			count++;
			if (end)
				(void)host_kill(pid, SIGKILL);
		}
	host_close(fd);
	return count;
}

bool strays_are_possible(void)
{
	return cell.proc_fd < 0 || unknown(false) > 0;
}

void strays_sweep(void)
{
	static int64_t last;
	int round = 0;

	if (cell.proc_fd < 0 || (last && now_mono() - last < PERIOD))
		return;
	last = now_mono();
	if (unknown(false) <= births_count() + seed_births())
		return;
	while (unknown(true) && ++round < ROUNDS)
		;
	log_debug("unannounced processes were ended, in %d rounds", round);
}
