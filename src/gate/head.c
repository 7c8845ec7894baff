/* Heads of HTTP messages; see http.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/http.h"

void head_fini(struct head *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		free(h->fields[i].name);
		free(h->fields[i].value);
	}
	free(h->fields);
	free(h->method);
	free(h->target);
	free(h->authority);
	free(h->scheme);
	free(h->reason);
	*h = (struct head){ 0 };
}

void text_set(char **to, const void *p, size_t n)
{
	char *old = *to;

	*to = xstrndup(p, n);
	free(old);
}

bool is_token(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
		      (p[i] >= '0' && p[i] <= '9') || (p[i] && strchr("!#$%&'*+-.^_`|~", p[i]))))
			return false;
	return n > 0;
}

bool is_value(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)p[i] < ' ' && p[i] != '\t') || p[i] == 0x7f)
			return false;
	return true;
}

const char *head_add(struct head *h, const void *name, size_t nname, const void *value,
		     size_t nvalue)
{
	const char *v = value;

	while (nvalue && (v[0] == ' ' || v[0] == '\t'))
		v++, nvalue--;
	while (nvalue && (v[nvalue - 1] == ' ' || v[nvalue - 1] == '\t'))
		nvalue--;
	if (!is_token(name, nname))
		return "a wrong name of a header";
	if (!is_value(v, nvalue))
		return "a character that headers cannot have";
	h->size += nname + nvalue + 32;
	if (h->n == HEAD_FIELDS_MAX || h->size > HEAD_MAX)
		return "too many headers";
	/* Room for 16 more at a time. */
	if (h->n % 16 == 0) {
		struct field *more = xalloc((h->n + 16) * sizeof(*more));

		if (h->n)
			memcpy(more, h->fields, h->n * sizeof(*more));
		free(h->fields);
		h->fields = more;
	}
	h->fields[h->n].secret = false;
	h->fields[h->n].name = xstrndup(name, nname);
	h->fields[h->n++].value = xstrndup(v, nvalue);
	return NULL;
}

const char *head_find(const struct head *h, const char *name, unsigned *ret_count)
{
	const char *found = NULL;
	unsigned count = 0;

	for (unsigned i = 0; i < h->n; i++)
		if (!strcasecmp(h->fields[i].name, name))
			found = h->fields[i].value, count++;
	if (ret_count)
		*ret_count = count;
	return count == 1 ? found : NULL;
}

void head_remove(struct head *h, const char *name)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < h->n; i++) {
		if (strcasecmp(h->fields[i].name, name)) {
			h->fields[kept++] = h->fields[i];
			continue;
		}
		free(h->fields[i].name);
		free(h->fields[i].value);
	}
	h->n = kept;
}

/* The next token of a list, NULL at its end; *list moves on. */
static const char *list_next(const char **list, size_t *ret_n)
{
	const char *p = *list + strspn(*list, " \t,");
	size_t n = strcspn(p, ",");

	*list = p + n;
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	*ret_n = n;
	return n ? p : NULL;
}

bool list_has(const char *list, const char *token)
{
	const char *p;
	size_t n;

	while ((p = list_next(&list, &n)))
		if (n == strlen(token) && !strncasecmp(p, token, n))
			return true;
	return false;
}

bool head_has(const struct head *h, const char *name, const char *token)
{
	for (unsigned i = 0; i < h->n; i++)
		if (!strcasecmp(h->fields[i].name, name) && list_has(h->fields[i].value, token))
			return true;
	return false;
}

/* Connection cannot name what decides where a message goes and how long it is. */
static bool is_essential(const char *name)
{
	static const char *const names[] = { "host", "content-length", "transfer-encoding",
					     "authorization", "cookie" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

void head_hops(struct head *h)
{
	static const char *const names[] = {
		"connection",	       "keep-alive", "proxy-connection", "proxy-authenticate",
		"proxy-authorization", "te",	     "upgrade",		 "http2-settings"
	};
	char *lists[HEAD_FIELDS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < h->n; i++)
		if (!strcasecmp(h->fields[i].name, "connection"))
			lists[n++] = xstrndup(h->fields[i].value, strlen(h->fields[i].value));
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		head_remove(h, names[i]);
	for (unsigned i = 0; i < n; i++) {
		const char *list = lists[i], *p;
		size_t len;

		for (unsigned k = 0; k < 32 && (p = list_next(&list, &len)); k++) {
			char *name = xstrndup(p, len);

			if (!is_essential(name))
				head_remove(h, name);
			free(name);
		}
		free(lists[i]);
	}
}

bool authority_is(const char *text, const char *name, uint16_t port, uint16_t port_default)
{
	size_t n = strlen(name), brackets = strchr(name, ':') ? 1 : 0;
	char want[8];

	if (brackets && *text++ != '[')
		return false;
	if (strncasecmp(text, name, n))
		return false;
	text += n;
	if (brackets && *text++ != ']')
		return false;
	if (!brackets && *text == '.')
		text++;
	if (!*text)
		return port == port_default;
	snprintf(want, sizeof(want), ":%u", port);
	return !strcmp(text, want);
}
