/* Doing what a plan says. What is done is told as lines of JSON, which wait for their reader.
 *
 * Each action takes its steps by itself, several at once; one waits for what its cell depends on.
 * Nothing is remembered between runs: a run that was broken off, by whatever, leaves cells with
 * labels, and the next plan begins with those. When the reader goes away, what has begun comes to
 * its end, and nothing else is begun. */
#ifndef VIV_DAEMON_PROJECTS_RUN_H
#define VIV_DAEMON_PROJECTS_RUN_H

#include <sys/types.h>

#include "daemon/projects/plan.h"

struct project_run;

/* Whether the run goes on until the cells that are up are what they are to be: healthy, if they
 * have a health check; done with their prompt, if they have an agent; else running, or completed.
 */
struct project_wait {
	bool on;
	int64_t ms; /* no longer than this; 0: for ever */
};

/* Takes plan. news is called when there is something to read; not from within project_run_read.
 * dry: nothing is done but telling. */
struct project_run *project_run_new(struct daemon *d, struct plan *plan,
				    const struct project_wait *wait, bool dry,
				    void (*news)(void *arg), void *arg);
/* Some bytes; 0: none now; -1: that was all. */
ssize_t project_run_read(struct project_run *r, char *buf, size_t size);
/* The reader goes. */
void project_run_leave(struct project_run *r);

enum project_busy { PROJECT_FREE, PROJECT_ENDING, PROJECT_BUSY };
/* Whether something is being done for a project, of a cell by its id or of the host (""): by a run
 * that is read, or by one that comes to its end without a reader. */
enum project_busy project_busy(struct daemon *d, const char *parent, const char *project);

#endif
