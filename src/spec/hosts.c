/* Values of --add-host, --dns and --dns-search. */
#include <stdio.h>
#include <string.h>

#include "policy/address.h"
#include "spec/options.h"

/* A host name: letters, digits, '-' and '_' in labels of at most 63. Into out in lower case. */
static bool name_parse(const char *text, size_t n, char out[HOST_NAME_SIZE])
{
	size_t label = 0;

	if (!n || n >= HOST_NAME_SIZE)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
		bool dot = c == '.';

		if (dot ? !label
			: !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
			    c == '_') ||
				    label == 63)
			return false;
		label = dot ? 0 : label + 1;
		out[i] = c;
	}
	out[n] = '\0';
	return label > 0;
}

bool host_parse(const char *text, struct host_value *ret)
{
	size_t n = strcspn(text, ":=");
	const char *addr = text + n + 1;
	size_t len;
	struct ip ip;

	if (!text[n] || !name_parse(text, n, ret->name))
		return false;
	len = strlen(addr);
	if (addr[0] == '[' && len > 2 && addr[len - 1] == ']') {
		addr++;
		len -= 2;
	}
	if (len >= sizeof(ret->addr))
		return false;
	memcpy(ret->addr, addr, len);
	ret->addr[len] = '\0';
	return ip_parse(ret->addr, &ip);
}

const char *setting_word_wrong(enum setting_id id, const char *text)
{
	char name[HOST_NAME_SIZE];
	struct host_value h;
	struct ip ip;

	switch (id) {
	case SET_GROUP_ADD:
		return group_is_valid(text) ? NULL : "is neither the name of a group nor a number";
	case SET_ADD_HOST:
		return host_parse(text, &h) ? NULL : "is not NAME:ADDRESS";
	case SET_DNS:
		return ip_parse(text, &ip) ? NULL : "is not an IP address";
	case SET_DNS_SEARCH:
		return name_parse(text, strlen(text), name) ? NULL : "is not a domain name";
	case SET_SECRET:
		return cell_name_is_valid(text) ? NULL : "is not the name of a secret";
	case SET_TOOL:
		return tool_name_is_valid(text) ? NULL : "is not the name of a tool";
	default:
		return NULL;
	}
}

bool tool_name_is_valid(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n && n <= TOOL_NAME_MAX && !name[n] && name[0] != '-' && name[0] != '_' &&
	       strcmp(name, "viv-tools");
}
