/* See gate.h: the settings as the keeper writes them. It is trusted; mistakes are ours. New ones
 * are read as a whole before they take the place of the old ones, so nobody sees a part of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/ca.h"
#include "gate/dns.h"
#include "gate/gate.h"
#include "gate/tls.h"

#define TEXT_MAX (2u << 20)

struct settings settings;

static int server_take(struct settings *s, char **words, unsigned n, struct err *e)
{
	unsigned long port = n > 2 ? strtoul(words[2], NULL, 10) : DNS_PORT;

	if (s->nservers == SETTINGS_SERVERS_MAX)
		return 0;
	if (n < 2 || !port || port > UINT16_MAX ||
	    !ip_parse(words[1], &s->servers[s->nservers].addr))
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong server");
	s->servers[s->nservers++].port = (uint16_t)port;
	return 0;
}

static int host_take(struct settings *s, char **words, unsigned n, struct err *e)
{
	if (!s->hosts)
		s->hosts = xalloc(SETTINGS_HOSTS_MAX * sizeof(*s->hosts));
	if (s->nhosts == SETTINGS_HOSTS_MAX)
		return err_set(e, ERR_FAILED, "more than %u hosts", SETTINGS_HOSTS_MAX);
	if (n != 3 || strlen(words[1]) >= sizeof(s->hosts->name) ||
	    !ip_parse(words[2], &s->hosts[s->nhosts].addr))
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong host");
	strcpy(s->hosts[s->nhosts++].name, words[1]);
	return 0;
}

static int secret_take(struct settings *s, char *json, struct err *e)
{
	int ret;

	if (!s->secrets)
		s->secrets = secrets_new();
	ret = secrets_add(s->secrets, json, strlen(json), e);
	explicit_bzero(json, strlen(json));
	return ret;
}

static int search_take(struct settings *s, char **words, unsigned n, struct err *e)
{
	if (n != 2 || strlen(words[1]) >= sizeof(s->search[0]) || s->nsearch == SETTINGS_SEARCH_MAX)
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong search domain");
	strcpy(s->search[s->nsearch++], words[1]);
	return 0;
}

static int line_take(struct settings *s, char *line, struct err *e)
{
	char *words[4], *save = NULL;
	unsigned n = 0;

	if (!strncmp(line, "secret ", 7))
		return secret_take(s, line + 7, e);
	for (char *w = strtok_r(line, " ", &save); w && n < ARRAY_LEN(words);
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (n && !strcmp(words[0], "server"))
		return server_take(s, words, n, e);
	if (n == 2 && !strcmp(words[0], "own")) {
		struct ip a;

		if (!ip_parse(words[1], &a))
			return err_set(e, ERR_FAILED, "the gate's settings have a wrong address");
		if (s == &settings)
			ip_own_add(&a);
		return 0;
	}
	if (n && !strcmp(words[0], "host"))
		return host_take(s, words, n, e);
	/* These stay what they were at the start. */
	if (n == 3 && !strcmp(words[0], "ca"))
		return s == &settings ? ca_load(words[1], words[2], e) : 0;
	if (n == 2 && (!strcmp(words[0], "bundle") || !strcmp(words[0], "trust")))
		return s == &settings ? trust_open(words[1], words[0][0] == 'b', e) : 0;
	if (n && !strcmp(words[0], "search"))
		return search_take(s, words, n, e);
	return err_set(e, ERR_FAILED, "the gate's settings have an unknown line");
}

static int text_take(struct settings *s, char *text, struct err *e)
{
	for (;;) {
		size_t n = strcspn(text, "\n");
		bool last = !text[n];

		text[n] = '\0';
		if (!n || last)
			return n ? line_take(s, text, e)
				 : policy_parse(&s->policy, text + !last, strlen(text + !last),
						"policy", 1, 1, e);
		if (line_take(s, text, e) < 0)
			return -1;
		text += n + 1;
	}
}

static void settings_fini(struct settings *s)
{
	policy_fini(&s->policy);
	free(s->hosts);
	secrets_put(s->secrets);
}

int settings_read(int fd, struct settings *s, struct err *e)
{
	struct buf text = { 0 };
	ssize_t got = 1;
	int ret;

	*s = (struct settings){ 0 };
	policy_init(&s->policy);
	while (got > 0 && text.len <= TEXT_MAX) {
		size_t len = text.len;

		got = read(fd, buf_more(&text, 65536), 65536);
		text.len = len + (got > 0 ? (size_t)got : 0);
	}
	buf_add(&text, "", 1);
	if (got < 0 || strlen((char *)text.p) + 1 != text.len)
		ret = err_set(e, ERR_FAILED, "cannot read the gate's settings");
	else
		ret = text_take(s, (char *)text.p, e);
	buf_free(&text);
	if (ret < 0)
		settings_fini(s);
	return ret;
}

int settings_change(int fd, struct err *e)
{
	struct settings new, old = settings;

	if (settings_read(fd, &new, e) < 0)
		return -1;
	settings = new;
	if ((new.nservers != old.nservers ||
	     memcmp(new.servers, old.servers, sizeof(new.servers)) != 0) &&
	    lookup_servers(e) < 0) {
		settings = old;
		settings_fini(&new);
		return -1;
	}
	secrets_succeed(settings.secrets, old.secrets);
	connect_review(&old.policy);
	settings_fini(&old);
	return 0;
}
