/* viv events: what happens, line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/vivd.h"
#include "cli/words.h"

static const char usage_events[] = "viv events [--since SEQ] [--no-follow] [--json]";

void events_help(void)
{
	printf("Usage: %s\n\n"
	       "Prints what happens to cells from now on, or from the event after number SEQ on "
	       "(0: from the oldest that is kept).\n"
	       "--no-follow ends with the newest. --json prints one object for each event, whose "
	       "\"seq\" is the number to go on from.\n",
	       usage_events);
}

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

int events_main(int argc, char **argv)
{
	bool json = flag_take(&argc, argv, "--json");
	bool follow = !flag_take(&argc, argv, "--no-follow");
	const char *since = NULL;
	int status = option_take(&argc, argv, "--since", &since), r;
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply;
	char path[128];

	status = status ? status : words_check(argc, argv, 0, 0, usage_events);
	if (!status && since && (!*since || strspn(since, "0123456789") != strlen(since))) {
		fail("--since '%s': the number of an event", since);
		status = ERR_USAGE;
	}
	if (status)
		return status;
	c = vivd_open();
	if (!c)
		return ERR_FAILED;
	snprintf(path, sizeof(path), "/v1/events?follow=%d%s%.20s", follow, since ? "&since=" : "",
		 since ? since : "");
	r = viv_stream(c, "GET", path, NULL, line_print, &json, &reply, &error);
	if (r < 0) {
		fail("%s", error.text);
		status = ERR_FAILED;
	} else if (reply.status != 200) {
		status = vivd_refused(&reply);
	}
	viv_reply_free(&reply);
	viv_close(c);
	return status;
}
