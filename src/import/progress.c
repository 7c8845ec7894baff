/* The bar on a terminal, and signals that ask the work to stop; see progress.h. */
#include "import/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

#define PERIOD_NS (100 * 1000000LL)
#define BAR 24

static struct {
	bool on, drawn;
	const char *what;
	uint64_t bytes, files, done, total;
	int64_t started, shown;
} bar;

static volatile sig_atomic_t caught;

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void progress_start(const char *what, bool quiet)
{
	memset(&bar, 0, sizeof(bar));
	bar.on = !quiet && isatty(2);
	bar.what = what;
	bar.started = now();
}

void progress_add(uint64_t bytes, uint64_t files)
{
	bar.bytes += bytes;
	bar.files += files;
	progress_show();
}

void progress_source(uint64_t done, uint64_t total)
{
	bar.done = done;
	bar.total = total;
}

void progress_show(void)
{
	int64_t t;
	double seconds;
	char graph[4 * BAR] = "";

	if (!bar.on)
		return;
	t = now();
	if (t - bar.shown < PERIOD_NS)
		return;
	bar.shown = t;
	bar.drawn = true;
	seconds = (double)(t - bar.started) / NSEC_PER_SEC;
	if (bar.total) {
		unsigned full = (unsigned)(MIN(bar.done, bar.total) * BAR / bar.total);

		snprintf(graph, sizeof(graph), "[%.*s%.*s] %3u%% ", (int)full,
			 "########################", (int)(BAR - full), "........................",
			 (unsigned)(MIN(bar.done, bar.total) * 100 / bar.total));
	}
	fprintf(stderr, "\r%s %s%llu files, %.1f MB, %.1f MB/s\033[K", bar.what, graph,
		(unsigned long long)bar.files, (double)bar.bytes / 1e6,
		(double)bar.bytes / 1e6 / MAX(seconds, 0.01));
}

static void bar_clear(void)
{
	if (bar.drawn)
		fprintf(stderr, "\r\033[K");
	bar.drawn = false;
}

void progress_end(void)
{
	bar_clear();
	bar.on = false;
}

void progress_warn(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_hide_controls(line);
	bar_clear();
	fprintf(stderr, "viv: %s\n", line);
}

/* One who asks again a second later is not to wait for the end of the work. At once it does not count:
 * timeout(1) for example sends its signal twice. */
static void on_signal(int signo)
{
	static int64_t first;
	int64_t t = now();

	if (!caught) {
		caught = signo;
		first = t;
	} else if (t - first > NSEC_PER_SEC) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
}

void interrupt_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	/* Without SA_RESTART: a read that waits for a pipe is to return. */
	struct sigaction sa = { .sa_handler = on_signal };

	for (unsigned i = 0; i < ARRAY_LEN(signals); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void)
{
	return caught != 0;
}

void interrupt_finish(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
