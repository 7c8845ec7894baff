/* needs: root */
/* differs: mprotect runs on the host, for which the content of all file systems is on one mount */
/* Files on a noexec mount cannot be mapped for execution, neither by mmap nor later by mprotect. */
#include "guest.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

int main(void)
{
	int fd;
	char *m, *a;

	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	mkdir("d", 0755);
	CHECK(mount("x", "d", "tmpfs", MS_NOEXEC, NULL) == 0);
	put_file("d/f", "hello");
	fd = open("d/f", O_RDWR);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	printf("%s\n", ename(errno));
	m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	SHOW(mprotect(m, 4096, PROT_READ | PROT_EXEC));
	SHOW(mprotect(m, 4096, PROT_READ | PROT_WRITE));
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	SHOW(mprotect(m, 4096, PROT_READ | PROT_EXEC));
	SHOW(mprotect(m, 4096, PROT_READ));
	a = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SHOW(mprotect(a, 4096, PROT_READ | PROT_EXEC));
	munmap(m, 4096);
	close(fd);
	CHECK(umount2("d", MNT_DETACH) == 0);
	rmdir("d");
	return 0;
}
