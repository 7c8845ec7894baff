/* SysV shared memory segments and who has them attached. */
#ifndef VIV_KERNEL_IPC_SHM_H
#define VIV_KERNEL_IPC_SHM_H

#include <sys/types.h>

#include "kernel/ipc/ipc.h"

struct task;

#define SHM_MODE_DEST 01000u /* as shm_perm.mode shows it: goes with its last attachment */
#define SHM_MODE_LOCKED 02000u
#define SHM_MAX_SIZE (1UL << 40)
#define SHM_MAX_SEGS 4096

struct shm {
	struct ipc_obj obj; /* first */
	uint64_t size, pages;
	int rw, ro; /* host descriptors of the content: it has no other place */
	uint32_t nattch;
	int64_t atime, dtime;
	pid_t cpid, lpid;
};

struct shm_map; /* an attachment; proc->shm_maps is a chain of them */

/* A new segment: 0, or -ENOSPC, -ENOMEM. returns it borrowed. */
int shm_new(struct task *t, int32_t key, uint64_t size, int flags, struct shm **ret_);
uint64_t shm_total_pages(void);
/* It goes when nobody has it attached any more. */
void shm_destroy(struct shm *s);

/* An attachment by t whose address is not known yet; ends one that t has not finished. On success s
 * lives at least until t's shm_attach_end(); on -ENOMEM it may be gone. */
int must_check shm_attach_begin(struct task *t, struct shm *s);
/* The address at which t has mapped it; 0: it could not. The segment may go with it. */
void shm_attach_end(struct task *t, uaddr_t addr);
/* The attachment that starts at addr goes: its length in bytes, or -EINVAL. */
int64_t shm_detach(struct task *t, uaddr_t addr);
void shm_detach_all(struct proc *p);
/* For fork: a chain with the same attachments; false: no memory. */
bool shm_maps_copy(struct proc *p, struct shm_map **ret_);
void shm_maps_free(struct shm_map *m, pid_t pid);

#endif
