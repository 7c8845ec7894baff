/* viv events: what happens, line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/vivd.h"

static void members_print(const struct json *o)
{
	for (const struct json *m = o ? o->first : NULL; m; m = m->next)
		if (m->text)
			printf(" %s=%s", m->key, m->text);
}

static int line_print(void *arg, const char *line, size_t size)
{
	const bool *json = arg;
	struct json_doc d;
	struct err e;

	if (*json) {
		printf("%s\n", line);
	} else if (json_parse(&d, line, size, &e) == 0) {
		if (!strcmp(json_show(d.root, "type"), "gap"))
			printf("(events %s to %s are not kept any more)\n",
			       json_show(d.root, "from"), json_show(d.root, "to"));
		else
			printf("%s %s %.12s", json_show(d.root, "time"), json_show(d.root, "type"),
			       json_show(d.root, "cell"));
		members_print(json_get(d.root, "data", JSON_OBJECT));
		printf("\n");
		json_free(&d);
	}
	return fflush(stdout) ? 1 : 0;
}

int events_main(struct args *a, struct err *e)
{
	const char *since = arg_value(a, "since");
	char path[128];

	if (since && (!*since || strspn(since, "0123456789") != strlen(since)))
		return args_wrong(a, e, "--since '%s': must be the number of an event", since);
	snprintf(path, sizeof(path), "/v1/events?follow=%d%s%.20s", !arg_is_on(a, "no-follow"),
		 since ? "&since=" : "", since ? since : "");
	return vivd_stream("GET", path, NULL, line_print, &a->json, e);
}
