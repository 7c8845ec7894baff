/* See observe.h. */
#include "kernel/task/observe.h"

const struct observer *observer SEALED;

void observer_set(const struct observer *o)
{
	observer = o;
}
