/* A program whose calls keep the kernel busy is bound to the processor that it asks for. */
#include "guest.h"
#include <sched.h>

#define ROUNDS 200

int main(void)
{
	cpu_set_t all, one;
	int elsewhere = 0, refused = 0, cpu = 0;
	struct stat st;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 50; k++)
			fstat(1, &st);
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &all));
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		refused += sched_setaffinity(0, sizeof(one), &one) != 0;
		elsewhere += sched_getcpu() != cpu;
		refused += sched_setaffinity(0, sizeof(all), &all) != 0;
	}
	printf("refused %d, on another processor %d\n", refused, elsewhere);
	return 0;
}
