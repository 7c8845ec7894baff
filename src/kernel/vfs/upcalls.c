/* See upcalls.h. */
#include "kernel/vfs/upcalls.h"

struct vfs_upcalls vfs_upcalls SEALED;
