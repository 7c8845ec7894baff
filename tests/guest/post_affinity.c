/*
 * A program whose calls keep the kernel busy is bound to the processor that it asks for: always the
 * same one for the same number (which may be another, as a cell's are counted from 0).
 */
#include "guest.h"
#include <sched.h>

#define ROUNDS 200

int main(void)
{
	cpu_set_t all, one;
	int elsewhere = 0, refused = 0, cpu = 0;
	static int is[CPU_SETSIZE]; /* of each that was asked for; 0: not yet, else one more */
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
		if (!is[cpu])
			is[cpu] = sched_getcpu() + 1;
		elsewhere += sched_getcpu() + 1 != is[cpu];
		refused += sched_setaffinity(0, sizeof(all), &all) != 0;
	}
	for (int i = 0; i < CPU_SETSIZE; i++)
		for (int k = 0; k < i; k++)
			elsewhere += is[i] && is[i] == is[k];
	printf("refused %d, on another processor %d\n", refused, elsewhere);
	return 0;
}
