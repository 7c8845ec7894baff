/* A box and its area (src/stub/post.h), mapped by the guest itself. */
#ifndef BOX_H
#define BOX_H

#include "../../src/stub/fast.h"
#include "../../src/stub/post.h"

/* What HC_POST gives for this argument; NULL: nothing. */
static inline void *shared_map(long what, size_t size)
{
	long fd = RAW(HC_POST, what), p;

	if (fd < 0)
		return NULL;
	p = RAW(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, STUB_MAP_HI | (unsigned long)fd, 0);
	return p < 0 ? NULL : (void *)p;
}

static inline struct post_box *box_map(void)
{
	return shared_map(0, POST_SIZE);
}

#endif
