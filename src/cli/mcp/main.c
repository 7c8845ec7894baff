/* viv mcp: the verb; see mcp.h. The words after "--" are options of 'viv create', which every cell
 * that a client creates gets: what it may reach is the operator's to say. */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/mcp/http.h"
#include "cli/mcp/mcp.h"

#define TOKEN_MIN 16
#define TOKEN_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

struct mcp_options mcp;
static bool over_http;

/* What every new cell has. */
static int create_read(struct args *a, struct err *e)
{
	static struct run_options o = { .detach = true };
	static char verb[] = "create";
	char **words = xalloc(((size_t)a->n + 2) * sizeof(*words));

	words[0] = verb;
	memcpy(words + 1, a->words, (size_t)a->n * sizeof(*words));
	if (run_options_parse(&o, a->n + 1, words, e) != 0)
		return err_wrap(e, "the options of new cells, after '--', are wrong");
	if (o.argv || o.name)
		return args_wrong(a, e, "after '--' come options only, and no --name");
	mcp.create = &o;
	return 0;
}

/* The first line of a file. */
static int token_read(const char *path, char *to, size_t size, struct err *e)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(to, (int)size, f)) {
		if (f)
			fclose(f);
		return err_set(e, ERR_USAGE, "--token-file '%s': cannot read a token from it",
			       path);
	}
	fclose(f);
	to[strcspn(to, "\r\n")] = '\0';
	if (strlen(to) < TOKEN_MIN || strspn(to, TOKEN_CHARS) != strlen(to))
		return err_set(e, ERR_USAGE,
			       "--token-file '%s': a token has at least %u letters, digits, '-', "
			       "'_' or '.'",
			       path, TOKEN_MIN);
	return 0;
}

static int http_start(const struct args *a, struct err *e)
{
	static struct http_options o;
	static char token[256];
	const char *file = arg_value(a, "token-file"), *origin;
	unsigned at = 0;
	int port;

	o.address = arg_value(a, "http");
	o.token = token;
	if (!file)
		token_make(token, HTTP_TOKEN_BYTES);
	else if (token_read(file, token, sizeof(token), e) < 0)
		return -1;
	while ((origin = arg_next(a, "allow-origin", &at))) {
		if (o.norigins == HTTP_ORIGINS_MAX)
			return args_wrong(a, e, "at most %u origins", HTTP_ORIGINS_MAX);
		o.origins[o.norigins++] = origin;
	}
	if (http_begin(&o, &port, e) < 0)
		return -1;
	/* For whoever started it. */
	if (a->json)
		printf("{\"url\":\"http://%.*s:%d/mcp\",\"token\":\"%s\"}\n",
		       (int)(strrchr(o.address, ':') - o.address), o.address, port, token);
	else
		printf("http://%.*s:%d/mcp\n%s%s", (int)(strrchr(o.address, ':') - o.address),
		       o.address, port, file ? "" : token, file ? "" : "\n");
	fflush(stdout);
	return 0;
}

static void tick(void)
{
	calls_tick();
	if (over_http)
		http_tick();
}

int mcp_main(struct args *a, struct err *e)
{
	const char *cell = arg_value(a, "cell");

	mcp.read_only = arg_is_on(a, "read-only");
	mcp.cell = cell;
	if (cell && !cell_name_is_valid(cell) && !cell_id_is_valid(cell))
		return args_wrong(a, e, "--cell '%s': not a name of a cell", cell);
	if (create_read(a, e) < 0)
		return -1;
	over_http = arg_value(a, "http") != NULL;
	if (!over_http && (arg_value(a, "token-file") || arg_value(a, "allow-origin")))
		return args_wrong(a, e, "--token-file and --allow-origin are for --http");
	if (!over_http)
		stdio_begin();
	else if (http_start(a, e) < 0)
		return -1;
	loop_run(tick);
	calls_cancel(NULL);
	if (!over_http)
		stdio_end();
	return 0;
}
