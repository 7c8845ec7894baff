/* viv token: who may use the API over the network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list.h"
#include "cli/vivd.h"

int token_create_main(struct args *a, struct err *e)
{
	const char *scope = arg_value(a, "scope"), *cell = arg_value(a, "cell");
	struct buf b = { 0 };
	struct json_doc d = { 0 };
	int64_t ns = -1;
	int r;

	if (arg_time(a, "expires", &ns, e) < 0)
		return -1;
	buf_add_text(&b, "{");
	json_member_text(&b, "scope", scope ? scope : cell ? "cell" : "admin");
	json_member_text(&b, "cell", cell);
	json_member_text(&b, "name", arg_value(a, "name"));
	if (ns >= 0)
		json_member_seconds(&b, "expires_in", ns);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", "/v1/tokens", (char *)b.p, &d, e);
	if (!r && a->json)
		json_line_print(d.root, false);
	else if (!r)
		printf("%s\n", json_show(d.root, "token"));
	json_free(&d);
	buf_free(&b);
	return r;
}

static void heading_print(void)
{
	printf("%-14s %-6s %-20s %-26s %s\n", "ID", "SCOPE", "NAME", "CREATED", "CELL");
}

static void row_print(const struct json *token)
{
	printf("%-14s %-6s %-20s %-26s %s\n", json_show(token, "id"), json_show(token, "scope"),
	       json_show(token, "name"), json_show(token, "created"), json_show(token, "cell"));
}

static const char *token_shown(const struct json *token)
{
	return json_show(token, "id");
}

int token_ls_main(struct args *a, struct err *e)
{
	static const struct listing tokens = { .path = "/v1/tokens",
					       .member = "tokens",
					       .heading = heading_print,
					       .row = row_print,
					       .name = token_shown };

	return list_show(a, &tokens, e);
}

static int token_remove(const struct args *a, const char *id, void *arg, struct err *e)
{
	char path[128];

	(void)arg;
	/* An id has nothing that a path must not have. */
	if (strlen(id) > 64 || strspn(id, "0123456789abcdef") != strlen(id))
		return err_set(e, ERR_NOT_FOUND,
			       "there is no token '%s'" REMEDY "'viv token ls' lists them", id);
	snprintf(path, sizeof(path), "/v1/tokens/%s", id);
	if (vivd_ask("DELETE", path, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"id\":\"%s\"}\n" : "%s\n", id);
	return 0;
}

int token_rm_main(struct args *a, struct err *e)
{
	return words_each(a, token_remove, NULL, e);
}
