/* The loop of viv mcp: descriptors and what to do about them; see mcp.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/mcp.h"

#define WATCHES_MAX 512
#define TICK_MS 1000

struct watch {
	int fd;
	short events;
	void (*fn)(void *arg, short revents);
	void *arg;
};

static struct watch watches[WATCHES_MAX];
static unsigned nwatches;
static volatile sig_atomic_t stopped;

static struct watch *watch_find(int fd)
{
	for (unsigned i = 0; i < nwatches; i++)
		if (watches[i].fd == fd)
			return &watches[i];
	return NULL;
}

void watch_set(int fd, short events, void (*fn)(void *arg, short revents), void *arg)
{
	struct watch *w = watch_find(fd);

	/* Calls and connections are bounded, each with one descriptor. */
	if (!w && nwatches == WATCHES_MAX)
		abort();
	if (!w)
		w = &watches[nwatches++];
	*w = (struct watch){ .fd = fd, .events = events, .fn = fn, .arg = arg };
}

void watch_drop(int fd)
{
	struct watch *w = watch_find(fd);

	if (w)
		*w = watches[--nwatches];
}

void loop_stop(void)
{
	stopped = 1;
}

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

static void signals_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

void loop_run(void (*tick)(void))
{
	struct pollfd p[WATCHES_MAX];

	signals_catch();
	while (!stopped) {
		unsigned n = nwatches;

		for (unsigned i = 0; i < n; i++)
			p[i] = (struct pollfd){ .fd = watches[i].events ? watches[i].fd : -1,
						.events = watches[i].events };
		if (poll(p, n, TICK_MS) < 0 && errno != EINTR)
			return;
		/* What one does may drop others. */
		for (unsigned i = 0; i < n && !stopped; i++) {
			struct watch *w = p[i].revents ? watch_find(p[i].fd) : NULL;

			if (w && (p[i].revents & (w->events | POLLERR | POLLHUP | POLLNVAL)))
				w->fn(w->arg, p[i].revents);
		}
		tick();
	}
}
