/* Values of options: sizes, durations, numbers, and what a mistyped word was meant to be. */
#include "keeper/run.h"

#include <string.h>

#include "keeper/client.h"

/* The decimal number at *s as thousandths; moves *s behind it. */
static bool milli_parse(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t n = 0, place = 100;
	bool any = false;

	for (; *p >= '0' && *p <= '9'; p++, any = true) {
		if (n > UINT64_MAX / 100000)
			return false;
		n = n * 10 + (uint64_t)(*p - '0');
	}
	n *= 1000;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, place /= 10, any = true)
			n += place * (uint64_t)(*p - '0');
	*s = p;
	*ret = n;
	return any;
}

bool value_milli(const char *s, uint64_t *ret)
{
	return milli_parse(&s, ret) && !*s;
}

bool value_u32(const char *s, uint32_t *ret)
{
	uint64_t n;

	if (strchr(s, '.') || !value_milli(s, &n) || n / 1000 > UINT32_MAX)
		return false;
	*ret = (uint32_t)(n / 1000);
	return true;
}

bool value_size(const char *s, uint64_t *ret)
{
	static const char units[] = "kmgt";
	uint64_t n;
	unsigned shift = 0;

	if (!milli_parse(&s, &n) || !n)
		return false;
	if (*s) {
		const char *u = strchr(units, *s | 0x20);

		if (u && *u) {
			shift = 10 * (unsigned)(u - units + 1);
			s++;
		}
		if (shift && s[0] == 'i')
			s++;
		if (*s == 'B' || *s == 'b')
			s++;
		if (*s)
			return false;
	}
	if (n > UINT64_MAX >> shift)
		return false;
	*ret = (n << shift) / 1000;
	return *ret > 0;
}

bool value_duration(const char *s, int64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", NSEC_PER_SEC },
		      { "s", NSEC_PER_SEC },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "m", 60 * NSEC_PER_SEC },
		      { "min", 60 * NSEC_PER_SEC },
		      { "h", 3600 * NSEC_PER_SEC },
		      { "d", 24 * 3600 * NSEC_PER_SEC } };
	uint64_t n;

	if (!milli_parse(&s, &n) || !n)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].name, s))
			continue;
		if (n > (uint64_t)INT64_MAX / units[i].ns)
			return false;
		*ret = (int64_t)(n * units[i].ns / 1000);
		return *ret > 0;
	}
	return false;
}

/* How many letters have to be changed, added or removed, for short words. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[33], la = (unsigned)strlen(a), lb = (unsigned)strlen(b);

	if (la > 32 || lb > 32)
		return 99;
	for (unsigned j = 0; j <= lb; j++)
		row[j] = j;
	for (unsigned i = 1; i <= la; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			unsigned up = row[j];
			unsigned best =
				MIN(MIN(up, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));

			row[j] = best;
			diagonal = up;
		}
	}
	return row[lb];
}

const char *value_similar(const char *s, const void *words, unsigned n, size_t stride)
{
	const char *best = NULL;
	unsigned least = 3, len = (unsigned)strlen(s);

	for (unsigned i = 0; i < n; i++) {
		const char *word = *(const char *const *)((const char *)words + i * stride);
		unsigned d = distance(s, word);

		/* The start of a word is a good hint as well. */
		if (d >= least && len >= 3 && !strncmp(s, word, len))
			d = least - 1;
		if (d < least && 2 * d <= strlen(word)) {
			least = d;
			best = word;
		}
	}
	return best;
}

bool keep_id_is_valid(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz");

	return n && n <= KEEP_ID_LEN && !id[n];
}
