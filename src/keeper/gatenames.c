/* What a cell's resolver is given: servers, --add-host, --dns-search; and the part of it that the
 * cell's own /etc/hosts and /etc/resolv.conf have. */
#include "keeper/gatenames.h"

#include <stdio.h>
#include <string.h>

#include "keeper/keeper.h"
#include "policy/policy.h"

static void line_add(struct buf *to, const char *word, const char *a, const char *b)
{
	char text[96 + HOST_NAME_SIZE];

	snprintf(text, sizeof(text), "%s %s%s%s\n", word, a, b ? " " : "", b ? b : "");
	buf_add_text(to, text);
}

/* The host's servers, as resolv.conf(5) has them: without any, the machine itself. */
static void hosts_servers_add(struct buf *to)
{
	FILE *f = fopen("/etc/resolv.conf", "re");
	char line[512], addr[128];
	bool any = false;

	while (f && fgets(line, sizeof(line), f)) {
		struct ip a;

		if (sscanf(line, " nameserver %127s", addr) != 1 || !ip_parse(addr, &a))
			continue;
		line_add(to, "server", addr, NULL);
		any = true;
	}
	if (f)
		fclose(f);
	if (!any)
		line_add(to, "server", "127.0.0.1", NULL);
}

void gate_names_add(const struct run_options *o, struct buf *to)
{
	struct host_value h;

	for (char **a = o->dns; a && *a; a++)
		line_add(to, "server", *a, NULL);
	if (!o->dns || !o->dns[0])
		hosts_servers_add(to);
	for (char **a = o->add_host; a && *a; a++)
		if (host_parse(*a, &h))
			line_add(to, "host", h.name, h.addr);
	for (char **a = o->dns_search; a && *a; a++)
		line_add(to, "search", *a, NULL);
}

/* Does an earlier one have the same address for another name? With a network, an address stands for
 * one name; the resolver has another for the second. */
static bool is_shared(const struct run_options *o, unsigned i)
{
	struct host_value h, other;
	struct ip a, b;

	if (!host_parse(o->add_host[i], &h) || !ip_parse(h.addr, &a))
		return true;
	for (unsigned k = 0; k < i; k++)
		if (host_parse(o->add_host[k], &other) && ip_parse(other.addr, &b) &&
		    !memcmp(&a, &b, sizeof(a)) && strcmp(other.name, h.name))
			return true;
	return false;
}

char *cell_hosts(const struct run_options *o, bool network)
{
	struct buf text = { 0 };
	struct host_value h;

	for (unsigned i = 0; o->add_host && o->add_host[i]; i++) {
		if (!host_parse(o->add_host[i], &h) || (network && is_shared(o, i)))
			continue;
		buf_add_text(&text, h.addr);
		buf_add_text(&text, "\t");
		buf_add_text(&text, h.name);
		buf_add_text(&text, "\n");
	}
	return (char *)text.p;
}

char *cell_search(const struct run_options *o)
{
	struct buf text = { 0 };

	for (char **a = o->dns_search; a && *a; a++) {
		if (text.len)
			buf_add_text(&text, " ");
		buf_add_text(&text, *a);
	}
	return (char *)text.p;
}
