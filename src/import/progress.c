/* The bar on a terminal, and signals that ask the work to stop; see progress.h. */
#include "import/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/report.h"
#include "base/utf8.h"

#define PERIOD_NS (100 * 1000000LL)

static bool as_json;

static struct {
	bool on;
	const char *what;
	uint64_t bytes, files, done, total;
	int64_t began, shown;
} bar;

static volatile sig_atomic_t caught;

void progress_json(void)
{
	as_json = true;
}

void progress_start(const char *what, bool quiet)
{
	memset(&bar, 0, sizeof(bar));
	bar.on = as_json || (!quiet && isatty(2));
	bar.what = what;
	bar.began = bar_now();
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

	if (!bar.on)
		return;
	t = bar_now();
	if (t - bar.shown < PERIOD_NS)
		return;
	bar.shown = t;
	if (!as_json) {
		bar_print(bar.what, bar.files, bar.bytes, bar.done, bar.total, bar.began);
		return;
	}
	fprintf(stderr,
		"{\"progress\":{\"files\":%llu,\"bytes\":%llu,\"done\":%llu,\"total\":%llu}}\n",
		(unsigned long long)bar.files, (unsigned long long)bar.bytes,
		(unsigned long long)MIN(bar.done, bar.total), (unsigned long long)bar.total);
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
	if (as_json) {
		warn("%s", line);
		return;
	}
	text_hide_controls(line);
	bar_clear();
	fprintf(stderr, "viv: %s\n", line);
}

/* One who asks again a second later is not to wait for the end of the work. At once it does not
 * count: timeout(1) for example sends its signal twice. */
static void on_signal(int signo)
{
	static int64_t first;
	int64_t t = bar_now();

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
