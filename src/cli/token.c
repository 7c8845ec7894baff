/* viv token: who may use the API over the network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list.h"
#include "cli/vivd.h"

int token_create_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);
	const char *scope, *cell;
	struct viv_client *c;
	struct buf b = { 0 };
	struct json_doc d = { 0 };
	int64_t ns = -1;

	if (status)
		return status;
	if (!arg_time(&a, "expires", &ns))
		return ERR_USAGE;
	status = vivd_connect(&c);
	if (status)
		return status;
	scope = arg_value(&a, "scope");
	cell = arg_value(&a, "cell");
	buf_add_text(&b, "{");
	json_member_text(&b, "scope", scope ? scope : cell ? "cell" : "admin");
	json_member_text(&b, "cell", cell);
	json_member_text(&b, "name", arg_value(&a, "name"));
	if (ns >= 0)
		json_member_seconds(&b, "expires_in", ns);
	buf_add(&b, "}", 2);
	status = vivd_ask(c, "POST", "/v1/tokens", (char *)b.p, &d);
	if (!status && a.json)
		json_value_print(stdout, d.root, false);
	else if (!status)
		fputs(json_show(d.root, "token"), stdout);
	if (!status)
		putchar('\n');
	json_free(&d);
	viv_close(c);
	buf_free(&b);
	return status;
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

int token_ls_main(int argc, char **argv)
{
	static const struct listing tokens = { .path = "/v1/tokens",
					       .member = "tokens",
					       .heading = heading_print,
					       .row = row_print,
					       .name = token_shown };
	struct args a;
	int status = args_take(&a, argc, argv);

	return status ? status : list_show(&a, &tokens);
}

int token_rm_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv), r;
	struct viv_client *c;
	char path[128];

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	for (int i = 0; i < a.n; i++) {
		/* An id has nothing that a path must not have. */
		if (strlen(a.words[i]) > 64 ||
		    strspn(a.words[i], "0123456789abcdef") != strlen(a.words[i])) {
			r = fail(ERR_NOT_FOUND,
				 "there is no token '%s'" REMEDY "'viv token ls' lists them",
				 a.words[i]);
		} else {
			snprintf(path, sizeof(path), "/v1/tokens/%s", a.words[i]);
			r = vivd_ask(c, "DELETE", path, NULL, NULL);
		}
		status = status ? status : r;
		if (!r)
			printf(a.json ? "{\"id\":\"%s\"}\n" : "%s\n", a.words[i]);
	}
	viv_close(c);
	return status;
}
