/* See secret.h: the words of which a secret is made, as people and the keeper write them. vivd
 * checks with these what the gate will read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/secret.h"

int secret_host_parse(const char *text, struct secret_host *ret, struct err *e)
{
	const char *name = text + (strncmp(text, "*.", 2) ? 0 : 2);
	const char *colon = strchr(name, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	char *end = NULL;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	*ret = (struct secret_host){ .port = (uint16_t)port };
	if (colon && (colon[1] < '0' || colon[1] > '9' || *end || !port || port > UINT16_MAX))
		return err_set(e, ERR_INVALID, "'%s' has no port from 1 to 65535 after its colon",
			       text);
	if (n >= sizeof(ret->name) || name == text + n)
		return err_set(e, ERR_INVALID,
			       "'%s' is not a host" REMEDY
			       "a secret is bound to names such as api.example.org, *.example.org "
			       "or example.org:8443",
			       text);
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		if (&text[i] >= name && !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
					  c == '-' || c == '_' || c == '.'))
			return err_set(e, ERR_INVALID, "'%s' is not a host", text);
		ret->name[i] = c;
	}
	if (n > 1 && ret->name[n - 1] == '.')
		ret->name[n - 1] = '\0';
	return 0;
}

/* A header's name, or that of a parameter or user: what cannot change the meaning of a line. */
static bool name_is_good(const char *s)
{
	if (strlen(s) >= SECRET_NAME_MAX)
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s > '~' || *s == ':' || *s == '"' || *s == '&' || *s == '=')
			return false;
	return true;
}

int secret_place_parse(const char *text, struct secret_place *ret, struct err *e)
{
	static const struct {
		const char *word;
		bool named, optional;
	} kinds[] = {
		[SECRET_HEADER] = { "header", true, false },
		[SECRET_BEARER] = { "bearer", false, false },
		[SECRET_BASIC] = { "basic", true, true },
		[SECRET_QUERY] = { "query", true, false },
		[SECRET_ANYWHERE] = { "anywhere", false, false },
		[SECRET_BODY] = { "body", false, false },
	};
	size_t n = strcspn(text, " ");
	const char *name = text[n] ? text + n + 1 : "";

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strlen(kinds[i].word) != n || strncmp(kinds[i].word, text, n))
			continue;
		if ((*name && !kinds[i].named) ||
		    (!*name && kinds[i].named && !kinds[i].optional) || !name_is_good(name))
			break;
		ret->where = (enum secret_where)i;
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		return 0;
	}
	return err_set(e, ERR_INVALID,
		       "'%s' is not a place for a secret" REMEDY
		       "places are 'header NAME', 'bearer', 'basic [USER]', 'query NAME', "
		       "'anywhere' and 'body'",
		       text);
}

int secret_value_check(const char *value, size_t n, struct err *e)
{
	if (n < SECRET_VALUE_MIN || n > SECRET_VALUE_MAX)
		return err_set(e, ERR_INVALID, "a secret's value has %u to %u characters",
			       SECRET_VALUE_MIN, SECRET_VALUE_MAX);
	for (size_t i = 0; i < n; i++)
		if (value[i] < ' ' || value[i] > '~')
			return err_set(e, ERR_INVALID,
				       "a secret's value is one line of printable ASCII");
	if (value[0] == ' ' || value[n - 1] == ' ')
		return err_set(e, ERR_INVALID, "a secret's value has no spaces around it");
	return 0;
}
