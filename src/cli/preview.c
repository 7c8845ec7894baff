/* viv preview: ports of cells for browsers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list.h"
#include "cli/vivd.h"

int preview_main(struct args *a, struct err *e)
{
	struct buf b = { 0 };
	struct json_doc d = { 0 };
	int64_t ns = -1;
	uint32_t port;
	int r;

	if (!value_u32(a->words[1], &port) || !port || port > UINT16_MAX)
		return args_wrong(a, e, "'%s' is not a port", a->words[1]);
	if (arg_time(a, "expires", &ns, e) < 0)
		return -1;
	buf_add_text(&b, "{");
	json_member_number(&b, "port", port);
	if (ns >= 0)
		json_member_seconds(&b, "expires_in", ns);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", cell_path(a->words[0], "/previews").str, (char *)b.p, &d, e);
	if (!r && a->json)
		json_line_print(d.root, false);
	else if (!r)
		printf("%s\n", json_show(d.root, arg_is_on(a, "path") ? "path_url" : "url"));
	json_free(&d);
	buf_free(&b);
	return r;
}

static void heading_print(void)
{
	printf("%-16s %-16s %-6s %-25s %s\n", "ID", "CELL", "PORT", "EXPIRES", "URL");
}

static void row_print(const struct json *p)
{
	printf("%-16s %-16.16s %-6s %-25s %s\n", json_show(p, "id"), json_show(p, "cell"),
	       json_show(p, "port"), json_show(p, "expires"), json_show(p, "url"));
}

static const char *preview_shown(const struct json *p)
{
	return json_show(p, "id");
}

int preview_ls_main(struct args *a, struct err *e)
{
	static const struct listing previews = { .path = "/v1/previews",
						 .member = "previews",
						 .heading = heading_print,
						 .row = row_print,
						 .name = preview_shown };

	return list_show(a, &previews, e);
}

static int preview_remove(const struct args *a, const char *id, void *arg, struct err *e)
{
	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/previews/", id, "").str, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"id\":\"%s\"}\n" : "%s\n", id);
	return 0;
}

int preview_rm_main(struct args *a, struct err *e)
{
	return words_each(a, preview_remove, NULL, e);
}
