/* See gate.h: the settings as the keeper writes them. It is trusted; mistakes are ours. */
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

static int server_take(char **words, unsigned n, struct err *e)
{
	unsigned long port = n > 2 ? strtoul(words[2], NULL, 10) : DNS_PORT;

	if (settings.nservers == SETTINGS_SERVERS_MAX)
		return 0;
	if (n < 2 || !port || port > UINT16_MAX ||
	    !ip_parse(words[1], &settings.servers[settings.nservers].addr))
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong server");
	settings.servers[settings.nservers++].port = (uint16_t)port;
	return 0;
}

static int host_take(char **words, unsigned n, struct err *e)
{
	if (!settings.hosts)
		settings.hosts = xalloc(SETTINGS_HOSTS_MAX * sizeof(*settings.hosts));
	if (settings.nhosts == SETTINGS_HOSTS_MAX)
		return err_set(e, ERR_FAILED, "more than %u hosts", SETTINGS_HOSTS_MAX);
	if (n != 3 || strlen(words[1]) >= sizeof(settings.hosts->name) ||
	    !ip_parse(words[2], &settings.hosts[settings.nhosts].addr))
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong host");
	strcpy(settings.hosts[settings.nhosts++].name, words[1]);
	return 0;
}

static int secret_take(char *json, struct err *e)
{
	int ret;

	if (!settings.secrets)
		settings.secrets = secrets_new();
	ret = secrets_add(settings.secrets, json, strlen(json), e);
	explicit_bzero(json, strlen(json));
	return ret;
}

static int search_take(char **words, unsigned n, struct err *e)
{
	if (n != 2 || strlen(words[1]) >= sizeof(settings.search[0]) ||
	    settings.nsearch == SETTINGS_SEARCH_MAX)
		return err_set(e, ERR_FAILED, "the gate's settings have a wrong search domain");
	strcpy(settings.search[settings.nsearch++], words[1]);
	return 0;
}

static int line_take(char *line, struct err *e)
{
	char *words[4], *save = NULL;
	unsigned n = 0;

	if (!strncmp(line, "secret ", 7))
		return secret_take(line + 7, e);
	for (char *w = strtok_r(line, " ", &save); w && n < ARRAY_LEN(words);
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (n && !strcmp(words[0], "server"))
		return server_take(words, n, e);
	if (n == 2 && !strcmp(words[0], "own")) {
		struct ip a;

		if (!ip_parse(words[1], &a))
			return err_set(e, ERR_FAILED, "the gate's settings have a wrong address");
		ip_own_add(&a);
		return 0;
	}
	if (n && !strcmp(words[0], "host"))
		return host_take(words, n, e);
	if (n == 3 && !strcmp(words[0], "ca"))
		return ca_load(words[1], words[2], e);
	if (n == 2 && (!strcmp(words[0], "bundle") || !strcmp(words[0], "trust")))
		return trust_open(words[1], words[0][0] == 'b', e);
	if (n && !strcmp(words[0], "search"))
		return search_take(words, n, e);
	return err_set(e, ERR_FAILED, "the gate's settings have an unknown line");
}

static int text_take(char *text, struct err *e)
{
	for (;;) {
		size_t n = strcspn(text, "\n");
		bool last = !text[n];

		text[n] = '\0';
		if (!n || last)
			return n ? line_take(text, e)
				 : policy_parse(&settings.policy, text + !last,
						strlen(text + !last), "policy", 1, 1, e);
		if (line_take(text, e) < 0)
			return -1;
		text += n + 1;
	}
}

int settings_read(int fd, struct err *e)
{
	struct buf text = { 0 };
	ssize_t got = 1;
	int ret;

	policy_init(&settings.policy);
	while (got > 0 && text.len <= TEXT_MAX) {
		size_t len = text.len;

		got = read(fd, buf_more(&text, 65536), 65536);
		text.len = len + (got > 0 ? (size_t)got : 0);
	}
	buf_add(&text, "", 1);
	if (got < 0 || strlen((char *)text.p) + 1 != text.len)
		ret = err_set(e, ERR_FAILED, "cannot read the gate's settings");
	else
		ret = text_take((char *)text.p, e);
	buf_free(&text);
	return ret;
}
