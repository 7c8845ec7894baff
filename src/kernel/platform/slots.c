/* Descriptors that runners hold; see slots.h. Slots are handed out first come, first served, and
 * never taken back: a cell that maps more than STUB_SLOTS different image files pays for the rest
 * each time. */
#include <errno.h>

#include "host/notify.h"
#include "kernel/platform/slots.h"
#include "stub/stub.h"

static uint64_t keys[STUB_SLOTS];
static uint32_t used;

static int slot_of(uint64_t key)
{
	for (uint32_t i = 0; i < used; i++)
		if (keys[i] == key)
			return (int)i;
	if (used == STUB_SLOTS)
		return -1;
	keys[used] = key;
	return (int)used++;
}

int slot_give_fd(uint64_t slots[2], uint64_t id, int host_fd, uint64_t key, bool *ret_keep)
{
	int slot = key ? slot_of(key) : -1, ret;

	*ret_keep = slot >= 0;
	if (slot < 0)
		return notify_addfd(id, host_fd, -1);
	if (!(slots[slot / 64] & (1UL << slot % 64))) {
		ret = notify_addfd(id, host_fd, STUB_SLOT_FD + slot);
		if (ret < 0)
			return ret;
		slots[slot / 64] |= 1UL << slot % 64;
	}
	return STUB_SLOT_FD + slot;
}
