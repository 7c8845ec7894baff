/* Every upcall leads somewhere: a slot that cell/upcalls.c forgets is NULL. */
#include <string.h>

#include "kernel/cell/upcalls.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/sys/wasm.h"
#include "kernel/task/upcalls.h"
#include "kernel/vfs/upcalls.h"
#include "tap.h"

static unsigned missing(const void *table, size_t size)
{
	unsigned n = 0;

	for (size_t i = 0; i < size; i += sizeof(void *)) {
		void *slot;

		memcpy(&slot, (const char *)table + i, sizeof(slot));
		n += !slot;
	}
	return n;
}

int main(void)
{
	upcalls_init();
	eq(missing(&task_upcalls, sizeof(task_upcalls)), 0, "all upcalls of tasks are set");
	eq(missing(&vfs_upcalls, sizeof(vfs_upcalls)), 0, "all upcalls of the VFS are set");
	ok(proc_net_show && wasm_missing, "and those of /proc/net and of programs");
	return tap_end();
}
