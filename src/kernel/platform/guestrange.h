/* Which addresses can be a guest's at all (x86-64, four levels of page tables). */
#ifndef VIV_KERNEL_PLATFORM_GUESTRANGE_H
#define VIV_KERNEL_PLATFORM_GUESTRANGE_H

#include "base/base.h"

#define GUEST_END 0x7ffffffff000UL

/* All of [addr, addr + n) lies below the end; an empty range at the end itself is fine. */
static inline bool guest_range_ok(uaddr_t addr, uint64_t n)
{
	return addr <= GUEST_END && n <= GUEST_END - addr;
}

#endif
