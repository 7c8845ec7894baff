/* A thread on a stack of two kilobytes that uses none of it: what lies below the stack is not
 * touched. */
#include "guest.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#define STACK 2048
static char buf[16384] __attribute__((aligned(4096)));
static volatile int ran, tid;

int main(void)
{
	char *top = buf + sizeof(buf);
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;
	long ret;
	int touched = 0;

	memset(buf, 0x5a, sizeof(buf));
	tid = 1;
	register long r10 __asm__("r10") = (long)&tid;
	register long r8 __asm__("r8") = 0;
	__asm__ volatile("syscall\n"
			 "test %%eax, %%eax\n"
			 "jnz 1f\n"
			 "movl $1, %[ran]\n"
			 "xor %%edi, %%edi\n"
			 "mov $60, %%eax\n"
			 "syscall\n"
			 "1:\n"
			 : "=a"(ret), [ran] "=m"(ran)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(&tid), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	CHECK(ret > 0);
	while (tid)
		syscall(SYS_futex, &tid, FUTEX_WAIT, tid, NULL, NULL, 0);
	SHOW(ran);
	for (size_t i = 0; i < sizeof(buf) - STACK; i++)
		touched += buf[i] != 0x5a;
	SHOW(touched);
	return 0;
}
