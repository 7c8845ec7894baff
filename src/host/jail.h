/* The stages of isolation that every locked-in program shares: an empty root of its own, no
 * capabilities, limits. host/isolate.h has the whole order for a kernel, gate/isolate.c that for a
 * gate. Each is called as root of a user namespace and a mount namespace of its own. */
#ifndef VIV_HOST_JAIL_H
#define VIV_HOST_JAIL_H

#include <sys/resource.h>

#include "base/base.h"

/* The frame: a small tmpfs that all of the program's mounts are attached to. It hangs nowhere
 * itself, so nothing leads from it to the host's tree, and at the end it goes in one piece.
 * Before Linux 6.15 a mount that hangs nowhere can carry no others; there the frame becomes the
 * namespace's root, and the host's tree is unmounted, which takes longer. */
struct frame {
	int fd;
	bool attached;
};

/* All return 0 or -errno. */

/* A detached mount of a new file system: its descriptor or -errno. options: key, value, ...,
 * NULL. */
int must_check mount_new(const char *fs, const char *const *options, unsigned attr);
int must_check isolate_stage_frame(struct frame *f);
/* Attaches a detached mount below a directory of the frame, under a new name. */
int must_check frame_mount(struct frame *f, int dir, const char *name, int mount);
/* The process's own root: an empty directory of the frame, which nobody can change any more. */
int must_check isolate_stage_root(struct frame *f);
/* All capabilities but those of the mask keep go, and none can be gained. */
int must_check isolate_stage_caps(uint64_t keep);
/* Sets a limit; a hard limit that is lower already stays. */
int must_check rlimit_set(int which, rlim_t soft, rlim_t hard);

#endif
