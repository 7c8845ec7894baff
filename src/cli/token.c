/* viv token: who may use the API over the network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/vivd.h"
#include "cli/words.h"

static const char usage_token[] = "viv token create [--scope admin|cell|read] [--cell CELL] "
				  "[--name NAME] [--expires TIME] [--json] | "
				  "viv token ls [--json] [-q] | viv token rm ID...";

void token_help(void)
{
	printf("Usage: %s\n\n"
	       "A token is shown once, when it is made; only its hash is kept. admin may do "
	       "everything, "
	       "cell uses one cell\n"
	       "and sees no other, read looks and changes nothing (with --cell: at that one "
	       "only).\n",
	       usage_token);
}

static void member_add(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_add_text(b, b->len > 1 ? ",\"" : "\"");
	buf_add_text(b, name);
	buf_add_text(b, "\":");
	json_text_add(b, value);
}

static int create_main(int argc, char **argv)
{
	const char *scope = NULL, *cell = NULL, *name = NULL, *expires = NULL;
	bool json = flag_take(&argc, argv, "--json");
	int status = option_take(&argc, argv, "--scope", &scope);
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply;
	struct buf b = { 0 };
	struct json_doc d;
	struct err e;
	int64_t ns;
	char text[64];

	status = status ? status : option_take(&argc, argv, "--cell", &cell);
	status = status ? status : option_take(&argc, argv, "--name", &name);
	status = status ? status : option_take(&argc, argv, "--expires", &expires);
	status = status ? status : words_check(argc, argv, 0, 0, usage_token);
	if (status)
		return status;
	if (expires && !value_duration(expires, &ns)) {
		fail("--expires '%s': a time such as 10m or 24h", expires);
		return ERR_USAGE;
	}
	c = vivd_open();
	if (!c)
		return ERR_FAILED;
	buf_add_text(&b, "{");
	member_add(&b, "scope", scope ? scope : cell ? "cell" : "admin");
	member_add(&b, "cell", cell);
	member_add(&b, "name", name);
	if (expires) {
		snprintf(text, sizeof(text), ",\"expires_in\":%.3f", (double)ns / NSEC_PER_SEC);
		buf_add_text(&b, text);
	}
	buf_add(&b, "}", 2);
	if (viv_call(c, "POST", "/v1/tokens", (char *)b.p, &reply, &error) < 0) {
		fail("%s", error.text);
		status = ERR_FAILED;
	} else if (reply.status != 201) {
		status = vivd_refused(&reply);
	} else if (json) {
		printf("%s", reply.body);
	} else if (json_parse(&d, reply.body, reply.size, &e) == 0) {
		printf("%s\n", json_show(d.root, "token"));
		json_free(&d);
	}
	viv_reply_free(&reply);
	viv_close(c);
	buf_free(&b);
	return status;
}

/* One of a list, as it came. */
static void object_print(const struct json *o)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	for (const struct json *m = o->first; m; m = m->next)
		member_add(&b, m->key, m->text);
	buf_add(&b, "}", 2);
	printf("%s\n", (char *)b.p);
	buf_free(&b);
}

static int ls_tokens(int argc, char **argv)
{
	bool json = flag_take(&argc, argv, "--json"), quiet = flag_take(&argc, argv, "-q");
	int status = words_check(argc, argv, 0, 0, usage_token);
	struct viv_client *c = status ? NULL : vivd_open();
	const struct json *list;
	struct json_doc d;

	if (!c)
		return status ? status : ERR_FAILED;
	status = vivd_ask(c, "GET", "/v1/tokens", NULL, &d);
	viv_close(c);
	if (status)
		return status;
	list = json_get(d.root, "tokens", JSON_LIST);
	if (!json && !quiet)
		printf("%-14s %-6s %-20s %-26s %s\n", "ID", "SCOPE", "NAME", "CREATED", "CELL");
	for (const struct json *t = list ? list->first : NULL; t; t = t->next) {
		if (json)
			object_print(t);
		else if (quiet)
			printf("%s\n", json_show(t, "id"));
		else
			printf("%-14s %-6s %-20s %-26s %s\n", json_show(t, "id"),
			       json_show(t, "scope"), json_show(t, "name"), json_show(t, "created"),
			       json_show(t, "cell"));
	}
	json_free(&d);
	return 0;
}

static int rm_tokens(int argc, char **argv)
{
	int status = words_check(argc, argv, 1, argc, usage_token), r;
	struct viv_client *c = status ? NULL : vivd_open();
	char path[128];

	if (!c)
		return status ? status : ERR_FAILED;
	for (int i = 1; i < argc; i++) {
		/* An id has nothing that a path must not have. */
		if (strlen(argv[i]) > 64 ||
		    strspn(argv[i], "0123456789abcdef") != strlen(argv[i])) {
			fail("there is no token '%s'; 'viv token ls' lists them", argv[i]);
			status = ERR_NOT_FOUND;
			continue;
		}
		snprintf(path, sizeof(path), "/v1/tokens/%s", argv[i]);
		r = vivd_ask(c, "DELETE", path, NULL, NULL);
		if (r)
			status = r;
		else
			printf("%s\n", argv[i]);
	}
	viv_close(c);
	return status;
}

int token_main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "create"))
		return create_main(argc - 1, argv + 1);
	if (!strcmp(what, "ls"))
		return ls_tokens(argc - 1, argv + 1);
	if (!strcmp(what, "rm"))
		return rm_tokens(argc - 1, argv + 1);
	fail("usage: %s", usage_token);
	return ERR_USAGE;
}
