/* viv token: who may use the API over the network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
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

int token_ls_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);
	struct viv_client *c;
	const struct json *list;
	struct json_doc d = { 0 };
	bool quiet;

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	quiet = arg_is_on(&a, "quiet");
	status = vivd_ask(c, "GET", "/v1/tokens", NULL, &d);
	viv_close(c);
	if (status)
		return status;
	list = json_get(d.root, "tokens", JSON_LIST);
	if (!a.json && !quiet)
		printf("%-14s %-6s %-20s %-26s %s\n", "ID", "SCOPE", "NAME", "CREATED", "CELL");
	for (const struct json *t = list ? list->first : NULL; t; t = t->next) {
		if (a.json) {
			json_value_print(stdout, t, false);
			putchar('\n');
		} else if (quiet) {
			printf("%s\n", json_show(t, "id"));
		} else {
			printf("%-14s %-6s %-20s %-26s %s\n", json_show(t, "id"),
			       json_show(t, "scope"), json_show(t, "name"), json_show(t, "created"),
			       json_show(t, "cell"));
		}
	}
	json_free(&d);
	return 0;
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
			status = fail_as(ERR_NOT_FOUND,
					 "there is no token '%s'; 'viv token ls' lists them",
					 a.words[i]);
			continue;
		}
		snprintf(path, sizeof(path), "/v1/tokens/%s", a.words[i]);
		r = vivd_ask(c, "DELETE", path, NULL, NULL);
		if (r)
			status = r;
		else
			printf(a.json ? "{\"id\":\"%s\"}\n" : "%s\n", a.words[i]);
	}
	viv_close(c);
	return status;
}
