/* SysV shared memory: one memory for those who attach it, through fork and by key; what is counted;
 * when it goes. */
#include "guest.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

static int id;

static int attached(void)
{
	struct shmid_ds ds;
	return shmctl(id, IPC_STAT, &ds) ? -1 : (int)ds.shm_nattch;
}

static void child(void)
{
	printf("inherited: %d attached\n", attached());
	execl("/bin/true", "true", NULL);
}

int main(void)
{
	key_t key = 0x56000000 | (getpid() & 0xffff);
	struct shmid_ds ds;
	char *p, *q;

	id = shmget(key, 5000, IPC_CREAT | IPC_EXCL | 0600);
	CHECK(id >= 0);
	SHOW(shmget(key, 5000, IPC_CREAT | IPC_EXCL | 0600));
	CHECK(shmget(key, 0, 0) == id);
	CHECK(shmget(key, 5000, IPC_CREAT | 0600) == id);
	SHOW(shmget(key, 5001, 0));
	SHOW(shmget(key + 0x10000, 10, 0));
	SHOW(shmget(IPC_PRIVATE, 0, 0600));

	p = shmat(id, NULL, 0);
	CHECK(p != (void *)-1);
	q = shmat(id, NULL, SHM_RDONLY);
	CHECK(q != (void *)-1 && q != p);
	printf("attached %d, zeroed %d\n", attached(), p[0] == 0 && p[4999] == 0 && p[8191] == 0);
	strcpy(p, "hello");
	printf("seen: %s\n", q);
	pid_t pid = xfork();
	if (pid == 0) {
		printf("child sees %s, %d attached\n", q, attached());
		strcpy(p, "from the child");
		printf("detach %d, %d attached\n", shmdt(q), attached());
		_exit(0);
	}
	xwait(pid);
	printf("seen: %s\n", q);
	pid = xfork();
	if (pid == 0) {
		q[0] = 'x';
		_exit(0);
	}
	show_status("write to a read-only attachment", xwait(pid));
	show_status("exec", in_child(child));
	printf("attached %d\n", attached());

	CHECK(shmctl(id, IPC_STAT, &ds) == 0);
	printf("size %zu mode %o mine %d cpid %d lpid %d\n", ds.shm_segsz, ds.shm_perm.mode,
	       ds.shm_perm.uid == geteuid() && ds.shm_perm.cgid == getegid(), ds.shm_cpid == getpid(),
	       ds.shm_lpid != 0);
	CHECK(ds.shm_perm.__key == key && ds.shm_atime != 0 && ds.shm_ctime != 0);
	ds.shm_perm.mode = 0640;
	SHOW(shmctl(id, IPC_SET, &ds));
	shmctl(id, IPC_STAT, &ds);
	printf("mode %o\n", ds.shm_perm.mode);

	SHOW(shmdt(q));
	SHOW(shmdt(q));
	SHOW(shmdt(p + 1));
	SHOW(shmdt(&ds));
	SHOW((long)shmat(id, p, 0));
	SHOW((long)shmat(id, p + 1, 0));
	SHOW((long)shmat(id, NULL, SHM_REMAP));
	SHOW((long)shmat(-1, NULL, 0));
	SHOW((long)shmat(id + 1000000, NULL, 0));
	char *hole = mmap(NULL, 8 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(hole, 8 * 4096);
	CHECK(shmat(id, hole + 4096, 0) == hole + 4096);
	CHECK(shmdt(hole + 4096) == 0);
	CHECK(shmat(id, hole + 5000, SHM_RND) == hole + 4096);
	printf("attached %d, text %s\n", attached(), hole + 4096);
	CHECK(shmat(id, hole + 4096, SHM_REMAP) == hole + 4096);
	printf("text %s\n", hole + 4096);
	CHECK(shmdt(hole + 4096) == 0);

	SHOW(shmctl(id, IPC_RMID, NULL));
	printf("still there: %s\n", p);
	shmctl(id, IPC_STAT, &ds);
	printf("mode %o attached %d private %d\n", ds.shm_perm.mode, (int)ds.shm_nattch,
	       ds.shm_perm.__key == IPC_PRIVATE);
	SHOW(shmget(key, 0, 0));
	SHOW(shmdt(p));
	SHOW(shmctl(id, IPC_STAT, &ds));
	SHOW(shmctl(id, IPC_RMID, NULL));
	SHOW(shmctl(-1, IPC_STAT, &ds));

	id = shmget(IPC_PRIVATE, 100, 0600);
	SHOW(shmctl(id, 99, &ds));
	SHOW(shmctl(id, IPC_STAT, (void *)8));
	SHOW(shmctl(id, IPC_RMID, NULL));
	return 0;
}
