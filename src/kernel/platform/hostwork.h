/* Calls of the host that would hold the loop for long, given to another thread (host/worker.h,
 * docs/decisions/0027).
 *
 * Whoever has some embeds a struct hostwork, or several works share one. The function is called
 * from the loop, once for each work that was put, in their order; until then the struct stays where
 * it is. A descriptor that is given is the work's: a duplicate, or one that nobody else closes
 * before. */
#ifndef VIV_KERNEL_PLATFORM_HOSTWORK_H
#define VIV_KERNEL_PLATFORM_HOSTWORK_H

#include "base/program.h"
#include "host/worker.h"

struct hostwork {
	void (*const *done)(struct hostwork *h, uint32_t tag,
			    const struct work *w); /* w: with its result */
};

/* Whether n works can be put. */
bool hostwork_has_room(uint32_t n);
/* Starts with the next hostwork_start(). */
void hostwork_put(struct hostwork *h, uint32_t tag, const struct work *w);
void hostwork_start(void);
/* Waits here until the oldest of what was put is done, and tells its owner. false: there is
 * none. */
bool hostwork_wait(void);

/* From so many bytes on, freeing is worth another thread: some milliseconds. */
#define FREE_LONG (4UL << 20)

/* Closes fd, which may be the last that holds a file of many bytes, without waiting for the host to
 * free them. forget: the file stays, but what of it is in memory goes (fd is no O_PATH). */
void hostwork_close(int fd, bool forget);
bool hostwork_is_closing(void); /* not all of them are closed yet */

#endif
