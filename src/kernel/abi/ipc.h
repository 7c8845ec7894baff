/* SysV IPC as it lies in guest memory (x86-64). */
#ifndef VIV_KERNEL_ABI_IPC_H
#define VIV_KERNEL_ABI_IPC_H

#include <stdint.h>

struct linux_ipc_perm {
	int32_t key;
	uint32_t uid, gid, cuid, cgid;
	uint32_t mode;
	uint16_t seq, pad;
	uint32_t pad2;
	uint64_t unused[2];
};
_Static_assert(sizeof(struct linux_ipc_perm) == 48, "ipc64_perm");

struct linux_shmid_ds {
	struct linux_ipc_perm perm;
	uint64_t segsz;
	int64_t atime, dtime, ctime;
	int32_t cpid, lpid;
	uint64_t nattch;
	uint64_t unused[2];
};
_Static_assert(sizeof(struct linux_shmid_ds) == 112, "shmid64_ds");

struct linux_shminfo {
	uint64_t shmmax, shmmin, shmmni, shmseg, shmall, unused[4];
};

struct linux_shm_info {
	int32_t used_ids, pad;
	uint64_t shm_tot, shm_rss, shm_swp, swap_attempts, swap_successes;
};

struct linux_semid_ds {
	struct linux_ipc_perm perm;
	int64_t otime;
	uint64_t unused1;
	int64_t ctime;
	uint64_t unused2;
	uint64_t nsems;
	uint64_t unused[2];
};
_Static_assert(sizeof(struct linux_semid_ds) == 104, "semid64_ds");

struct linux_seminfo {
	int32_t semmap, semmni, semmns, semmnu, semmsl, semopm, semume, semusz, semvmx, semaem;
};

struct linux_sembuf {
	uint16_t num;
	int16_t op, flg;
};

struct linux_msqid_ds {
	struct linux_ipc_perm perm;
	int64_t stime, rtime, ctime;
	uint64_t cbytes, qnum, qbytes;
	int32_t lspid, lrpid;
	uint64_t unused[2];
};
_Static_assert(sizeof(struct linux_msqid_ds) == 120, "msqid64_ds");

struct linux_msginfo {
	int32_t msgpool, msgmap, msgmax, msgmnb, msgmni, msgssz, msgtql;
	uint16_t msgseg, pad;
};

#define LINUX_SHM_STAT 13
#define LINUX_SHM_INFO 14
#define LINUX_SHM_STAT_ANY 15
#define LINUX_SEM_STAT 18
#define LINUX_SEM_INFO 19
#define LINUX_SEM_STAT_ANY 20
#define LINUX_MSG_STAT 11
#define LINUX_MSG_INFO 12
#define LINUX_MSG_STAT_ANY 13

#endif
