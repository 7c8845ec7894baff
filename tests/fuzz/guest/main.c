/* guest-fuzz: rounds of random calls until the time is over. Prints TAP; on standard error the seed
 * of each round before it begins, so that the last one is known when the kernel does not survive
 * it.
 *
 *   guest-fuzz [--seconds N] [--seed N] [--rounds N] [--steps N] [--dir DIR] [--tables NAMES]
 *   [--only STEPS] [--leaks] [--verbose]
 *
 * --leaks counts the kernel's objects after each round, for which nobody else may be in the cell.
 * --only 3,7-9 makes these steps of the round alone; with --verbose every call is printed before it
 * is made, and its result. tests/fuzz/campaign.py runs it in cells of all kinds and minimises what
 * it finds. */
#include "guest.h"

#include <getopt.h>

static uint8_t *steps_parse(const char *list)
{
	static uint8_t only[STEPS_MAX];

	for (char *next; *list; list = *next ? next + 1 : next) {
		unsigned long a = strtoul(list, &next, 10), b = a;

		if (*next == '-')
			b = strtoul(next + 1, &next, 10);
		for (; a <= b && a < STEPS_MAX; a++)
			only[a] = 1;
	}
	return only;
}

/* ---- what the kernel has when nobody uses anything ---- */

#define TYPES_MAX 128
static struct type {
	char name[48];
	unsigned long before, now;
} types[TYPES_MAX];
static unsigned ntypes;

static void objects_count(bool first)
{
	char line[256], name[48];
	unsigned long n;
	FILE *f = fopen("/proc/slabinfo", "r");

	while (f && fgets(line, sizeof(line), f)) {
		unsigned i = 0;

		if (sscanf(line, "%47s %lu", name, &n) != 2)
			continue;
		while (i < ntypes && strcmp(types[i].name, name))
			i++;
		if (i == TYPES_MAX)
			continue;
		if (i == ntypes)
			strcpy(types[ntypes++].name, name);
		types[i].now = n;
		if (first)
			types[i].before = n;
	}
	if (f)
		fclose(f);
}

/* Caches, and what ends some time later, are no leaks. */
static bool may_stay(const char *name)
{
	static const char *const list[] = { "name", "textbuf", "pinode", "lnode", "hnode", "xnode", "hdnode", "file", "stream", "fsctx", "post", "fastmm", "layer",
					    "listing", "hdlisting", "time_wait", "anon_inode", "pseudo_fs", "mount", "blob-bytes", "flight", "sync_request",
					    "content_work", "orphan", "mqueue", "outgoing", "travel", "hang_up", "launch", "bridge" };

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

/* Whether a round left objects behind: says which. */
static bool is_tidy(void)
{
	struct type *left = NULL;

	for (int tries = 0; tries < 40; tries++) {
		objects_count(false);
		left = NULL;
		for (unsigned i = 0; i < ntypes; i++)
			if (!strcmp(types[i].name, "unix_sock") && types[i].now > types[i].before)
				return true; /* that only reach each other: they and all that they carry stay until there are more */
			else if (types[i].now > types[i].before && !may_stay(types[i].name))
				left = &types[i];
		if (!left)
			return true;
		naptime(50);
	}
	check(0, "no %s is left behind (%lu)", left->name, left->now);
	left->before = left->now;
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seconds", 1, 0, 's' }, { "seed", 1, 0, 'S' },    { "rounds", 1, 0, 'r' }, { "steps", 1, 0, 'n' },
						 { "dir", 1, 0, 'd' },	   { "tables", 1, 0, 't' }, { "only", 1, 0, 'o' },	  { "verbose", 0, 0, 'v' },
						 { "rest", 0, 0, 'R' },	   { "leaks", 0, 0, 'L' }, { 0 } };
	struct plan p = { .seed = 1, .steps = 600 };
	double lasts = 5, end;
	unsigned long rounds = ~0UL, done_ = 0, first;
	int o, well = 1, leaks = 0;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (o) {
		case 's':
			lasts = atof(optarg);
			break;
		case 'S':
			p.seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			rounds = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			p.steps = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'd':
			base_dir = optarg;
			break;
		case 't':
			p.tables = optarg;
			break;
		case 'o':
			p.only = steps_parse(optarg);
			break;
		case 'v':
			verbose = 1;
			break;
		case 'L':
			leaks = 1;
			break;
		case 'R':
			naptime(5);
			return 0;
		default:
			return 2;
		}
	if (p.steps > STEPS_MAX)
		p.steps = STEPS_MAX;
	first = p.seed;
	if (leaks)
		objects_count(true);
	for (end = seconds() + lasts; well && done_ < rounds && (done_ == 0 || seconds() < end); p.seed++, done_++) {
		fprintf(stderr, "# round %lu\n", (unsigned long)p.seed);
		round_run(&p);
		if (done_ % 8 == 0)
			well = cell_is_well();
		if (leaks && !is_tidy())
			break;
	}
	check(well && cell_is_well(), "%lu rounds of %u steps from seed %lu", done_, p.steps, first);
	return done();
}
