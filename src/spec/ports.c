/* See ports.h. */
#include "spec/ports.h"

#include <stdio.h>
#include <string.h>

static bool number_read(const char **at, uint16_t *ret)
{
	unsigned n = 0, digits = 0;

	for (; **at >= '0' && **at <= '9' && digits < 6; (*at)++, digits++)
		n = 10 * n + (unsigned)(**at - '0');
	*ret = (uint16_t)n;
	return digits && digits < 6 && n <= UINT16_MAX;
}

/* "80", "80-90"; the whole text. */
static bool range_read(const char *text, uint16_t *ret_first, uint16_t *ret_count)
{
	uint16_t last;

	if (!number_read(&text, ret_first))
		return false;
	last = *ret_first;
	if (*text == '-') {
		text++;
		if (!number_read(&text, &last) || !*ret_first)
			return false;
	}
	if (*text || last < *ret_first || last - *ret_first >= PORTS_MAX)
		return false;
	*ret_count = (uint16_t)(last - *ret_first + 1);
	return true;
}

/* What stands before the last colon of text, which is cut there; NULL: there is none. */
static char *last_part(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static bool address_read(char *text, struct ip *ret)
{
	size_t n = strlen(text);

	if (text[0] == '[') {
		if (n < 3 || text[n - 1] != ']' || strchr(text, '.'))
			return false;
		text[n - 1] = '\0';
		return ip_parse(text + 1, ret) && !ip_is_v4(ret);
	}
	return !strchr(text, ':') && ip_parse(text, ret);
}

static bool parse(char *text, struct published *ret)
{
	char *slash = strchr(text, '/'), *host, *cell;
	uint16_t count = 1;

	if (slash) {
		*slash = '\0';
		ret->udp = !strcmp(slash + 1, "udp");
		if (!ret->udp && strcmp(slash + 1, "tcp"))
			return false;
	}
	cell = last_part(text);
	if (!cell) /* the cell's alone */
		return range_read(text, &ret->cell, &ret->count) && ret->cell;
	if (!range_read(cell, &ret->cell, &ret->count) || !ret->cell)
		return false;
	/* In "[::1]:80" the rest is an address, which needs a port of its own, even an empty one.
	 */
	host = text[0] == '[' && text[strlen(text) - 1] == ']' ? NULL : last_part(text);
	if (text[0] == '[' && !host)
		return false;
	if (host && !address_read(text, &ret->addr))
		return false;
	if (!host)
		host = text;
	if (*host && !range_read(host, &ret->host, &count))
		return false;
	return !ret->host || count == ret->count;
}

int ports_parse(const char *where, const char *text, struct published *ret, struct err *e)
{
	char copy[128];

	*ret = (struct published){ 0 };
	(void)!ip_parse("127.0.0.1", &ret->addr);
	if (strlen(text) < sizeof(copy) && parse(strcpy(copy, text), ret))
		return 0;
	return err_set(
		e, ERR_USAGE,
		"%s '%.64s': must be [ADDRESS:]HOSTPORT:CELLPORT[/udp], such as 8080:80" REMEDY
		"a HOSTPORT of 0 is any free port; ranges such as 8000-8009 have the same "
		"length on both sides",
		where, text);
}

int ports_check(const char *where, char *const *list, struct err *e)
{
	struct published r;
	unsigned n = 0;

	for (; list && *list; list++) {
		if (ports_parse(where, *list, &r, e) < 0)
			return -1;
		n += r.count;
	}
	return n <= PORTS_MAX ? 0 : err_set(e, ERR_USAGE, "%s: at most %d ports", where, PORTS_MAX);
}
