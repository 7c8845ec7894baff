/* /dev/shm is a tmpfs: shm_open, shared memory between processes by name, unlink, sparse files. */
#include "guest.h"
#include <sys/mman.h>

static char name[64];

static void child(void)
{
	int fd = shm_open(name, O_RDWR, 0);
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("child sees %s\n", m);
	strcpy(m, "from the child");
}

int main(void)
{
	char path[96];
	struct stat st;
	snprintf(name, sizeof(name), "/guest-shm-%d", (int)getpid());
	snprintf(path, sizeof(path), "/dev/shm%s", name);
	int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
	SHOW(ftruncate(fd, 4096));
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	strcpy(m, "from the parent");
	show_status("child", in_child(child));
	printf("parent sees %s\n", m);
	CHECK(stat(path, &st) == 0 && st.st_size == 4096 && (st.st_mode & 07777) == 0600);
	SHOW(ftruncate(fd, 1ll << 30));
	fstat(fd, &st);
	CHECK(st.st_size == 1 << 30 && st.st_blocks < 1000);
	SHOW(shm_unlink(name));
	SHOW(shm_unlink(name));
	printf("still %s\n", m);
	CHECK(mkdir(path, 0700) == 0 && rmdir(path) == 0);
	return 0;
}
