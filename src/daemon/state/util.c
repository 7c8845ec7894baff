/* Small things that all of vivd uses; see daemon.h. */
#include "daemon/state/daemon.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/log.h"

int64_t time_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

struct time_text time_text(int64_t ns)
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct time_text t = { "" };
	struct tm tm;
	char day[24];

	if (!gmtime_r(&seconds, &tm))
		return t;
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(t.str, sizeof(t.str), "%s.%03dZ", day, (int)(ns % NSEC_PER_SEC / 1000000));
	return t;
}

void random_hex(char *text, size_t n)
{
	unsigned char byte;

	for (size_t i = 0; i < n; i++) {
		if (getrandom(&byte, 1, 0) != 1)
			log_die("the host gives no random bytes");
		snprintf(text + 2 * i, 3, "%02x", byte);
	}
}
