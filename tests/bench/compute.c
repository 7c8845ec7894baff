/* Work that needs no kernel:
 *   compute cpu ROUNDS    arithmetic in registers
 *   compute memory ROUNDS random and sequential access to 64 MiB, allocated and first touched
 *   within the time
 * Prints nanoseconds, one line each round. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define WORDS (64l << 20 >> 3)

static volatile uint64_t sink;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void cpu(void)
{
	uint64_t x = 88172645463325252u, sum = 0;

	for (long i = 0; i < 60000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += x % 1000003;
	}
	sink = sum;
}

static void memory(void)
{
	uint64_t *p = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t x = 1, sum = 0;

	if (p == MAP_FAILED)
		exit(1);
	for (long i = 0; i < WORDS; i++)
		p[i] = (uint64_t)i;
	for (long i = 0; i < 1000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u + (sum & 1);
		sum += p[(x >> 33) % WORDS]++;
	}
	for (long i = 0; i < WORDS; i++)
		sum += p[i];
	sink = sum;
	munmap(p, WORDS * 8);
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	void (*fn)(void) = argc == 3 && !strcmp(argv[1], "memory") ? memory : cpu;

	if (rounds < 1)
		return 2;
	while (rounds--) {
		long long start = now();

		fn();
		printf("%lld\n", now() - start);
	}
	return 0;
}
