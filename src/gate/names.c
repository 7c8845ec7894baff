/* Which address stands for which name. A binding is made once and stays for the cell's life: what a
 * program was told stays true, and no name can be moved to an address that means another. Each is
 * written to a memory file of the keeper's, as a line "ADDRESS NAME", and the gate after this one
 * begins with them. A gate that was broken into can have written anything there: it is read as
 * such. What it could say is which name an address stands for, and the policy is asked about names.
 *
 * Two tables of one set of entries, by name and family and by address; open addressing, as nothing
 * is ever removed. Their hash has a key of its own, drawn at the start: the names are a guest's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/gate.h"

#define SLOTS (NAMES_MAX * 2) /* a power of two */
#define NAME_LEN 254

struct binding {
	char *name;
	struct ip addr;
	bool v6;
};

static struct binding *bindings;
static uint32_t count, made4, made6;
static uint32_t *by_name, *by_addr; /* numbers from 1 on; 0: free */
static uint64_t key;

/* FNV with a secret start and a final mix. Enough for tables that are half empty at most. */
static uint32_t hash(const void *p, size_t n, uint64_t h)
{
	const uint8_t *b = p;

	h ^= key;
	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3;
	h ^= h >> 32;
	h *= key | 1;
	return (uint32_t)(h >> 24) % SLOTS;
}

static void tables_make(void)
{
	if (bindings)
		return;
	bindings = calloc(NAMES_MAX, sizeof(*bindings));
	by_name = calloc(SLOTS, sizeof(*by_name));
	by_addr = calloc(SLOTS, sizeof(*by_addr));
	if (!bindings || !by_name || !by_addr || getrandom(&key, sizeof(key), 0) != sizeof(key))
		log_die("no memory for names");
}

uint32_t names_hash(const char *name)
{
	tables_make();
	return hash(name, strlen(name), 3);
}

static uint32_t *name_slot(const char *name, bool v6)
{
	uint32_t at = hash(name, strlen(name), v6);

	while (by_name[at] &&
	       (bindings[by_name[at] - 1].v6 != v6 || strcmp(bindings[by_name[at] - 1].name, name)))
		at = (at + 1) % SLOTS;
	return &by_name[at];
}

static uint32_t *addr_slot(const struct ip *a)
{
	uint32_t at = hash(a->b, sizeof(a->b), 2);

	while (by_addr[at] && memcmp(&bindings[by_addr[at] - 1].addr, a, sizeof(*a)))
		at = (at + 1) % SLOTS;
	return &by_addr[at];
}

/* An address of nobody, that was not given out yet. */
static struct ip addr_make(bool v6)
{
	struct ip a = { { 0xfd, 0x7a, 0x76, 0x69, 0x76 } };
	uint32_t n = v6 ? ++made6 : ++made4;

	if (!v6) {
		static const uint8_t head[13] = { [10] = 0xff, [11] = 0xff, [12] = 198 };

		memcpy(a.b, head, sizeof(head));
		a.b[13] = (uint8_t)(18 + (n >> 16));
	} else {
		a.b[13] = (uint8_t)(n >> 16);
	}
	a.b[14] = (uint8_t)(n >> 8);
	a.b[15] = (uint8_t)n;
	return a;
}

/* Does the address mean something in the cell itself, or could it be made? */
static bool addr_is_ours(const struct ip *a)
{
	static const char *const texts[] = { "0.0.0.0/8",   "127.0.0.0/8", "198.18.0.0/15",
					     "224.0.0.0/3", "::/127",	   "fd7a:7669:7600::/48",
					     "fe80::/10",   "ff00::/8" };
	struct ip_range r;

	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		if (ip_range_parse(texts[i], &r) && ip_is_in(a, &r))
			return true;
	return false;
}

bool names_has(const char *name)
{
	tables_make();
	return *name_slot(name, false) || *name_slot(name, true);
}

static struct binding *binding_add(const char *name, size_t n, const struct ip *a, bool v6)
{
	struct binding *b = &bindings[count];

	b->addr = *a;
	b->v6 = v6;
	b->name = xstrndup(name, n);
	count++;
	*addr_slot(a) = *name_slot(b->name, v6) = count;
	return b;
}

/* ---- over the end of a gate ---- */

static bool keeping = true; /* false: there is no file, or it is full */

/* #syscalls: write */
static void binding_keep(const struct binding *b)
{
	char line[NAME_LEN + 64];
	int n = snprintf(line, sizeof(line), "%s %s\n", ip_text(&b->addr).str, b->name);

	/* A part of a line would be taken for a whole one. */
	keeping = keeping && write(GATE_FD_NAMES, line, (size_t)n) == n;
}

/* As dns.c reads them, so that what is looked up is what is shown. */
static bool name_is_plain(const char *name, size_t n)
{
	return n && n < NAME_LEN && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == n;
}

static void line_take(char *line)
{
	char *name = strchr(line, ' ');
	struct ip a;
	bool v6;

	if (!name)
		return;
	*name++ = '\0';
	if (!ip_parse(line, &a) || !name_is_plain(name, strlen(name)) || count == NAMES_MAX)
		return;
	v6 = !ip_is_v4(&a);
	if (!*addr_slot(&a) && !*name_slot(name, v6))
		(void)binding_add(name, strlen(name), &a, v6);
}

/* The cell reads names of --add-host in its /etc/hosts. Their addresses stand for them before any
 * other name gets to have one; those whose names no rule knows stay plain addresses. */
static void hosts_bind(void)
{
	for (unsigned i = 0; i < settings.nhosts; i++) {
		const struct ip *a = &settings.hosts[i].addr;
		const char *name = settings.hosts[i].name;

		if (policy_name(&settings.policy, name).verdict != VERDICT_DENY && !names_find(a))
			(void)names_bind(name, a, !ip_is_v4(a));
	}
}

void names_restore(void)
{
	char text[NAME_LEN + 64];
	size_t n = 0;
	ssize_t got;

	/* One line at a time; what is too long for one is none. */
	while ((got = read(GATE_FD_NAMES, text + n, sizeof(text) - 1 - n)) > 0) {
		char *line = text, *end;

		n += (size_t)got;
		text[n] = '\0';
		tables_make();
		while ((end = memchr(line, '\n', n - (size_t)(line - text)))) {
			*end = '\0';
			line_take(line);
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
		if (n == sizeof(text) - 1)
			break;
	}
	keeping = got == 0;
	/* Those that were given out by the gate before are taken, and passed over. */
	hosts_bind();
}

const struct ip *names_bind(const char *name, const struct ip *real, bool v6)
{
	uint32_t *slot;
	struct binding *b;
	struct ip a;

	tables_make();
	slot = name_slot(name, v6);
	if (*slot)
		return &bindings[*slot - 1].addr;
	if (count == NAMES_MAX)
		return NULL;
	a = !real || addr_is_ours(real) ? addr_make(v6) : *real;
	while (*addr_slot(&a))
		a = addr_make(v6);
	b = binding_add(name, strlen(name), &a, v6);
	binding_keep(b);
	return &b->addr;
}

const char *names_find(const struct ip *a)
{
	uint32_t *slot;

	tables_make();
	slot = addr_slot(a);
	return *slot ? bindings[*slot - 1].name : NULL;
}

bool names_is_resolver(const struct ip *a)
{
	static const struct ip four = { { [10] = 0xff, [11] = 0xff, 198, 19, 255, 1 } };
	static const struct ip six = { { 0xfd, 0x7a, 0x76, 0x69, 0x76, 0, 0, 1, [15] = 1 } };

	return !memcmp(a, &four, sizeof(four)) || !memcmp(a, &six, sizeof(six));
}
