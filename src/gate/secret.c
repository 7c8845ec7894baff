/* See secret.h: the set of a cell's secrets, and which of them a host may have. The settings are
 * the keeper's and trusted; they are checked because a mistake here would send a value elsewhere.
 */
#include "gate/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define HTTPS_PORT 443

struct secrets *secrets_new(void)
{
	struct secrets *s = xalloc(sizeof(*s));

	memset(s, 0, sizeof(*s));
	s->refs = 1;
	return s;
}

struct secrets *secrets_get(struct secrets *s)
{
	if (s)
		s->refs++;
	return s;
}

static void text_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void secrets_put(struct secrets *s)
{
	if (!s || --s->refs)
		return;
	patterns_free(s->values);
	for (unsigned i = 0; i < s->n; i++) {
		text_wipe(s->list[i].value);
		free(s->list[i].placeholder);
	}
	for (unsigned i = 0; i < MIN(s->nformer, SECRETS_FORMER); i++) {
		text_wipe(s->former[i].value);
		free(s->former[i].placeholder);
	}
	free(s);
}

static void former_add(struct secrets *s, const char *placeholder, const char *value)
{
	unsigned i = s->nformer++ % SECRETS_FORMER;

	text_wipe(s->former[i].value);
	free(s->former[i].placeholder);
	s->former[i].placeholder = xstrndup(placeholder, strlen(placeholder));
	s->former[i].value = xstrndup(value, strlen(value));
}

void secrets_succeed(struct secrets *s, const struct secrets *before)
{
	if (!s || !before)
		return;
	for (unsigned i = 0; i < MIN(before->nformer, SECRETS_FORMER); i++)
		former_add(s, before->former[i].placeholder, before->former[i].value);
	for (unsigned i = 0; i < before->n; i++) {
		const struct secret *old = &before->list[i];
		unsigned k = 0;

		if (!old->value)
			continue;
		while (k < s->n && (!s->list[k].value || strcmp(s->list[k].value, old->value)))
			k++;
		if (k == s->n)
			former_add(s, old->placeholder, old->value);
	}
}

/* ---- reading ---- */

static int lists_take(struct secret *s, const struct json *v, struct err *e)
{
	const struct json *hosts = json_get(v, "hosts", JSON_LIST);
	const struct json *places = json_get(v, "places", JSON_LIST);

	for (const struct json *h = hosts ? hosts->first : NULL; h; h = h->next) {
		if (s->nhosts == SECRET_HOSTS_MAX)
			return err_set(e, ERR_INVALID, "a secret has more than %u hosts",
				       SECRET_HOSTS_MAX);
		if (secret_host_parse(h->text ? h->text : "", &s->hosts[s->nhosts++], e) < 0)
			return -1;
	}
	for (const struct json *p = places ? places->first : NULL; p; p = p->next) {
		if (s->nplaces == SECRET_PLACES_MAX)
			return err_set(e, ERR_INVALID, "a secret has more than %u places",
				       SECRET_PLACES_MAX);
		if (secret_place_parse(p->text ? p->text : "", &s->places[s->nplaces++], e) < 0)
			return -1;
	}
	return 0;
}

int secrets_add(struct secrets *set, const char *json, size_t n, struct err *e)
{
	struct secret *s = &set->list[set->n];
	struct json_doc d;
	const char *name, *placeholder, *value;
	bool lost;
	int ret = -1;

	if (set->n == SECRETS_MAX)
		return err_set(e, ERR_INVALID, "a cell has more than %u secrets", SECRETS_MAX);
	if (json_parse(&d, json, n, e) < 0)
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong secret");
	*s = (struct secret){ 0 };
	name = json_get_text(d.root, "name");
	placeholder = json_get_text(d.root, "placeholder");
	value = json_get_text(d.root, "value");
	lost = !value && json_get(d.root, "lost", JSON_BOOL);
	if (!name || !placeholder || (!value && !lost) || strlen(name) >= sizeof(s->name) ||
	    strlen(placeholder) < SECRET_VALUE_MIN)
		err_note(e, ERR_FAILED, "the gate's settings have a wrong secret");
	else if (secret_value_check(placeholder, strlen(placeholder), e) == 0 &&
		 (lost || secret_value_check(value, strlen(value), e) == 0))
		ret = lists_take(s, d.root, e);
	if (ret == 0) {
		strcpy(s->name, name);
		s->placeholder = xstrndup(placeholder, strlen(placeholder));
		s->value = value ? xstrndup(value, strlen(value)) : NULL;
		set->n++;
	}
	if (value)
		explicit_bzero((char *)(uintptr_t)value, strlen(value));
	json_free(&d);
	return ret;
}

/* ---- hosts ---- */

static bool host_matches(const struct secret_host *h, const char *name, uint16_t port, bool tls)
{
	size_t n = strlen(name), below = strlen(h->name);

	/* Without a port of its own, a value is never sent in the clear. */
	if (h->port ? h->port != port : port != HTTPS_PORT || !tls)
		return false;
	if (strncmp(h->name, "*.", 2))
		return !strcmp(h->name, name);
	below--;
	return n > below && !strcmp(name + n - below, h->name + 1);
}

void secret_site_init(struct secret_site *site, struct secrets *set, const char *host,
		      uint16_t port, bool tls)
{
	*site = (struct secret_site){ .set = secrets_get(set) };
	/* A name that does not fit is no host's: nothing is bound to it. */
	if (strlen(host) < sizeof(site->host))
		strcpy(site->host, host);
	for (unsigned i = 0; set && i < set->n; i++)
		for (unsigned j = 0; j < set->list[i].nhosts; j++)
			if (host_matches(&set->list[i].hosts[j], site->host, port, tls))
				site->bound |= (uint64_t)1 << i;
}

void secret_site_fini(struct secret_site *site)
{
	secrets_put(site->set);
	site->set = NULL;
	site->bound = 0;
}

bool secret_site_in_body(const struct secret_site *site)
{
	for (unsigned i = 0; site->set && i < site->set->n; i++)
		for (unsigned j = 0; j < site->set->list[i].nplaces; j++)
			if (site->bound >> i & 1 && site->set->list[i].value &&
			    site->set->list[i].places[j].where == SECRET_BODY)
				return true;
	return false;
}
