/* viv port: which ports of the host lead into a cell. */
#include "cli/list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/vivd.h"

static void port_print(FILE *to, const struct json *port)
{
	const char *address = json_show(port, "address");
	bool v6 = strchr(address, ':');

	fprintf(to, "%s%s%s:%s->%s/%s", v6 ? "[" : "", address, v6 ? "]" : "",
		json_show(port, "host_port"), json_show(port, "cell_port"),
		json_show(port, "protocol"));
}

void ports_print(FILE *to, const struct json *cell)
{
	const struct json *list = json_get(cell, "ports", JSON_LIST);

	for (const struct json *p = list ? list->first : NULL; p; p = p->next) {
		port_print(to, p);
		fputs(p->next ? ", " : "", to);
	}
}

/* "80", "80/udp". */
static bool is_meant(const struct json *port, const char *text)
{
	const char *cell = json_show(port, "cell_port");
	size_t n = strcspn(text, "/");

	return strlen(cell) == n && !strncmp(cell, text, n) &&
	       !strcmp(text[n] ? text + n + 1 : "tcp", json_show(port, "protocol"));
}

int port_main(struct args *a, struct err *e)
{
	const char *port = a->n > 1 ? a->words[1] : NULL;
	const struct json *list;
	struct json_doc d = { 0 };
	bool found = !port;

	if (vivd_ask("GET", cell_path(a->words[0], "").str, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "ports", JSON_LIST);
	for (const struct json *p = list ? list->first : NULL; p; p = p->next) {
		const char *address = json_show(p, "address");
		bool v6 = strchr(address, ':');

		if (port && !is_meant(p, port))
			continue;
		found = true;
		if (a->json) {
			json_line_print(p, false);
		} else if (port) {
			printf("%s%s%s:%s\n", v6 ? "[" : "", address, v6 ? "]" : "",
			       json_show(p, "host_port"));
		} else {
			port_print(stdout, p);
			putchar('\n');
		}
	}
	json_free(&d);
	if (found)
		return 0;
	return err_set(e, ERR_NOT_FOUND,
		       "the cell does not publish port %s" REMEDY
		       "'viv port %s' lists those that it does",
		       port, a->words[0]);
}
