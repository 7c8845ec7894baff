/*
 * process_vm_readv and process_vm_writev with a child: what moves, where it stops, and who is
 * refused.
 */
#include "guest.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

int main(void)
{
	char *mem = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[8192] = "", part[16] = "";
	struct iovec l[2] = { { buf, 5 }, { part, 4 } }, r[2] = { { mem, 9 }, { NULL, 0 } };
	int ready[2], go[2], status;
	char c;

	CHECK(mem != MAP_FAILED && pipe(ready) == 0 && pipe(go) == 0);
	strcpy(mem, "parent data");
	pid_t pid = fork();
	if (!pid) {
		strcpy(mem, "child data");
		CHECK(mprotect(mem + 4096, 4096, PROT_NONE) == 0);
		CHECK(mprotect(mem + 8192, 4096, PROT_READ) == 0);
		CHECK(write(ready[1], "r", 1) == 1 && read(go[0], &c, 1) == 1);
		_exit(strcmp(mem, "CHILD data") == 0 ? 7 : 8);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	SHOW(process_vm_readv(pid, l, 2, r, 1, 0));
	printf("[%s] [%s]\n", buf, part);
	l[0] = (struct iovec){ "CHILD", 5 };
	SHOW(process_vm_writev(pid, l, 1, r, 1, 0));
	printf("mine is still [%s]\n", mem);

	l[0] = (struct iovec){ buf, 8192 };
	r[0] = (struct iovec){ mem, 8192 };
	SHOW(process_vm_readv(pid, l, 1, r, 1, 0)); /* up to the page that cannot be read */
	r[0] = (struct iovec){ mem + 4096, 10 };
	SHOW(process_vm_readv(pid, l, 1, r, 1, 0));
	r[0] = (struct iovec){ mem + 8192, 10 };
	SHOW(process_vm_readv(pid, l, 1, r, 1, 0));
	SHOW(process_vm_writev(pid, l, 1, r, 1, 0));
	SHOW(process_vm_readv(pid, l, 1, r, 1, 1));
	SHOW(process_vm_readv(pid, l, 1, r, 0, 0));
	SHOW(process_vm_readv(pid, l, 0, r, 1, 0));
	SHOW(process_vm_readv(pid, l, 1, (void *)8, 1, 0));
	SHOW(process_vm_readv(pid, l, 2000, r, 1, 0));
	SHOW(process_vm_readv(0, l, 1, r, 1, 0));
	SHOW(process_vm_readv(4000000, l, 1, r, 1, 0));
	SHOW(process_vm_readv(4000000, l, 0, r, 1, 0));
	r[0] = (struct iovec){ mem, 10 };
	l[0] = (struct iovec){ (void *)8, 10 };
	SHOW(process_vm_readv(pid, l, 1, r, 1, 0));
	CHECK(write(go[1], "g", 1) == 1 && waitpid(pid, &status, 0) == pid);
	printf("child saw %d\n", WEXITSTATUS(status));
	l[0] = (struct iovec){ buf, 10 };
	SHOW(process_vm_readv(pid, l, 1, r, 1, 0));
	return 0;
}
