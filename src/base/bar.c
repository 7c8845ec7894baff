/* See bar.h. */
#include "base/bar.h"

#include <stdio.h>
#include <time.h>

#define WIDTH 24

static bool drawn;

int64_t bar_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void bar_print(const char *what, uint64_t files, uint64_t bytes, uint64_t done, uint64_t total,
	       int64_t began)
{
	double seconds = (double)(bar_now() - began) / NSEC_PER_SEC;
	char graph[4 * WIDTH] = "";

	if (total) {
		unsigned full = (unsigned)(MIN(done, total) * WIDTH / total);

		snprintf(graph, sizeof(graph), "[%.*s%.*s] %3u%% ", (int)full,
			 "########################", (int)(WIDTH - full),
			 "........................", (unsigned)(MIN(done, total) * 100 / total));
	}
	fprintf(stderr, "\r%s %s%llu files, %.1f MB, %.1f MB/s\033[K", what, graph,
		(unsigned long long)files, (double)bytes / 1e6,
		(double)bytes / 1e6 / MAX(seconds, 0.01));
	drawn = true;
}

void bar_clear(void)
{
	if (drawn)
		fprintf(stderr, "\r\033[K");
	drawn = false;
}
