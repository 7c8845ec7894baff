/* Which address stands for which name. A binding is made once and stays for the gate's life: what a
 * program was told stays true, and no name can be moved to an address that means another.
 *
 * Two tables of one set of entries, by name and family and by address; open addressing, as nothing
 * is ever removed. Their hash has a key of its own, drawn at the start: the names are a guest's. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "gate/gate.h"

#define SLOTS (NAMES_MAX * 2) /* a power of two */

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
	static const char *const texts[] = { "0.0.0.0/8", "127.0.0.0/8", "198.18.0.0/15",
					     "224.0.0.0/3", "::/127", "fd7a:7669:7600::/48",
					     "fe80::/10", "ff00::/8" };
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

const struct ip *names_bind(const char *name, const struct ip *real, bool v6)
{
	uint32_t *slot;
	struct binding *b;

	tables_make();
	slot = name_slot(name, v6);
	if (*slot)
		return &bindings[*slot - 1].addr;
	if (count == NAMES_MAX)
		return NULL;
	b = &bindings[count];
	b->addr = *real;
	if (addr_is_ours(real))
		b->addr = addr_make(v6);
	while (*addr_slot(&b->addr))
		b->addr = addr_make(v6);
	b->name = xstrndup(name, strlen(name));
	b->v6 = v6;
	*addr_slot(&b->addr) = *slot = ++count;
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
