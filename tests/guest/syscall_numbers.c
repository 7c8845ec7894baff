/* Numbers that are no calls: behind the last one, of x32, negative, with something in the upper
 * half of the register. Those from 0x7600 to 0xf5ff are left out: in a cell they are between the
 * stub and the kernel. */
#include "guest.h"

static long call(unsigned long nr)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(-1L), "S"(0L), "d"(0L) : "rcx", "r11", "memory");
	return ret;
}

int main(void)
{
	static const unsigned long none[] = { 400,	  423,	      600,	  1000,	      4096,	   0x75ff,
					      0xf600,	  0xffff,     0x10000,	  0x3fffffff, 0x40000000, 0x40000027,
					      0x400001ff, 0x40000200, 0x7fffffff, 0x80000000, 0xfffffffe };

	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		printf("%#lx: %s\n", none[i], call(none[i]) == -ENOSYS ? "ENOSYS" : "something else");
	printf("-1: %s\n", call(~0UL) == -ENOSYS ? "ENOSYS" : "something else");
	/* The host looks at the lower half: close, dup and socketpair of what is wrong. */
	printf("close %ld\n", call(3 | 1UL << 32));
	printf("dup %ld\n", call(32 | 5UL << 40));
	printf("socketpair %ld\n", call(53 | 1UL << 63));
	return 0;
}
