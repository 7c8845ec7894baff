/* What vivd says of itself: /v1/version, /v1/openapi.json, /metrics. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/openapi.h"
#include "api/routes.h"
#include "daemon/cells.h"
#include "daemon/pool.h"

void version_get(struct request *r)
{
	struct daemon *d = r->d;

	reply_json(r, 200,
		   json_pack("{s:s,s:s,s:i,s:s,s:s,s:f,s:b}", "version", VIV_VERSION, "api", "v1",
			     "pid", (int)getpid(), "socket", d->socket, "started",
			     time_text(d->started).str, "uptime",
			     (double)(uv_hrtime() - d->began) / NSEC_PER_SEC, "activated",
			     (int)d->activated));
}

void openapi_get(struct request *r)
{
	reply_text(r, 200, "application/json", openapi_json, (size_t)(openapi_end - openapi_json));
}

static void metric(struct buf *b, const char *name, const char *type, const char *help, double v)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "# HELP vivarium_%s %s\n# TYPE vivarium_%s %s\nvivarium_%s %.17g\n", name, help,
		 name, type, name, v);
	buf_add_text(b, line);
}

static void cells_metric(struct daemon *d, struct buf *b)
{
	unsigned count[CELL_STATES] = { 0 };
	struct cell *c;
	char line[128];

	list_for_each (c, &d->cells, link)
		count[c->state]++;
	buf_add_text(b, "# HELP vivarium_cells Cells by state.\n# TYPE vivarium_cells gauge\n");
	for (unsigned i = CELL_CREATED; i < CELL_REMOVED; i++) {
		snprintf(line, sizeof(line), "vivarium_cells{state=\"%s\"} %u\n",
			 cell_state_name(i), count[i]);
		buf_add_text(b, line);
	}
}

static void pool_metrics(struct daemon *d, struct buf *b)
{
	struct pool_figures p = pool_figures(d);

	metric(b, "pool_cells", "gauge", "Idle cells that wait in the pool.", p.ready);
	metric(b, "pool_booting", "gauge", "Cells that boot for the pool.", p.booting);
	metric(b, "pool_given_total", "counter", "Cells that the pool gave away.", (double)p.given);
	metric(b, "pool_missed_total", "counter", "Times that the pool had none.",
	       (double)p.missed);
}

void metrics_get(struct request *r)
{
	struct daemon *d = r->d;
	struct buf b = { 0 };

	metric(&b, "uptime_seconds", "gauge", "Since vivd started.",
	       (double)(uv_hrtime() - d->began) / NSEC_PER_SEC);
	metric(&b, "requests_total", "counter", "HTTP requests.", (double)d->count.requests);
	metric(&b, "requests_refused_total", "counter",
	       "HTTP requests that were answered with an error.", (double)d->count.refused);
	metric(&b, "events_total", "counter", "Events since vivd started.",
	       (double)d->count.events);
	metric(&b, "last_event", "gauge", "Number of the newest event.", (double)d->last_event);
	metric(&b, "cell_starts_total", "counter", "Cells that were started.",
	       (double)d->count.starts);
	metric(&b, "execs_total", "counter", "Processes that were asked for.",
	       (double)d->count.execs);
	cells_metric(d, &b);
	pool_metrics(d, &b);
	reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", b.p, b.len);
	buf_free(&b);
}
