/* What a sub-cell gets of what its parent has (options.h).
 *
 * Every setting has a row in the table below that says how it is shared; one without a row cannot
 * be asked for, so that a new setting gives nobody more until somebody has thought about it.
 *
 * A mount of the child names a path as its parent sees it. What is there must come from outside: a
 * directory or file of the host, a volume, S3. Files of the parent's own image and disk do not. The
 * child's mount is the source of the parent's and a path below it, two texts that stay apart until
 * the path is opened beneath the source, without following links (host/hostmount.c). What the
 * parent has mounted below the path comes with it, so that a directory that is read-only there, or
 * hidden, is so for the child; if the parent could move the directory that such a mount is in,
 * nothing of it can be shared. Mounts are made in the order of their length, so that none hides
 * another, and never through links. As rules about files are about paths, a mount may have another
 * path in the child only if the parent's rules say the same about both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "spec/options.h"

enum share {
	SHARE_NOT, /* the child cannot have it */
	SHARE_FREE, /* whatever the child says */
	SHARE_LESS, /* a number that is at most the parent's; filled in */
	SHARE_LIMIT, /* the same, not filled in: families share these */
	SHARE_SOME, /* words that the parent has */
	SHARE_ALL, /* the same; filled in with all of them */
	SHARE_SAME, /* what the parent has, if it is anything */
	SHARE_CODE, /* below */
};

static const enum share shares[SETTINGS_COUNT] = {
	/* Which images, is said by rules about cells. */
	[SET_IMAGE] = SHARE_FREE,
	[SET_NAME] = SHARE_FREE,
	[SET_RM] = SHARE_FREE,
	[SET_ENTRYPOINT] = SHARE_FREE,
	[SET_CPUS] = SHARE_LIMIT,
	[SET_MEMORY] = SHARE_LIMIT,
	[SET_PIDS] = SHARE_LIMIT,
	[SET_DISK] = SHARE_LIMIT,
	[SET_INODES] = SHARE_LIMIT,
	[SET_MAX_CONNECTIONS] = SHARE_LIMIT,
	[SET_MAX_NET_IN] = SHARE_LESS,
	[SET_MAX_NET_OUT] = SHARE_LESS,
	[SET_MAX_NET_RATE] = SHARE_LIMIT,
	[SET_TIMEOUT] = SHARE_FREE,
	[SET_ENV] = SHARE_CODE,
	[SET_WORKDIR] = SHARE_FREE,
	[SET_USER] = SHARE_FREE,
	[SET_GROUP_ADD] = SHARE_FREE,
	[SET_ULIMIT] = SHARE_CODE,
	[SET_READ_ONLY] = SHARE_FREE,
	[SET_MOUNT] = SHARE_CODE,
	[SET_S3_ENDPOINT] = SHARE_SAME,
	[SET_HOSTNAME] = SHARE_FREE,
	/* A server or an address of its own would be one for names that rules allow. */
	[SET_ADD_HOST] = SHARE_ALL,
	[SET_DNS] = SHARE_ALL,
	[SET_DNS_SEARCH] = SHARE_ALL,
	[SET_SECRET] = SHARE_SOME,
	[SET_TOOL] = SHARE_SOME,
	[SET_WASM] = SHARE_FREE,
	[SET_INTERACTIVE] = SHARE_FREE,
	[SET_TTY] = SHARE_FREE,
	[SET_JOURNAL] = SHARE_CODE,
	[SET_JOURNAL_FULL] = SHARE_CODE,
	[SET_JOURNAL_MAX] = SHARE_LESS,
	[SET_LABEL] = SHARE_FREE,
	[SET_RESTART] = SHARE_FREE,
	[SET_STOP_TIMEOUT] = SHARE_FREE,
	[SET_STOP_SIGNAL] = SHARE_FREE,
	[SET_IDLE_TIMEOUT] = SHARE_FREE,
	[SET_HEALTH_CMD] = SHARE_FREE,
	[SET_HEALTH_INTERVAL] = SHARE_CODE,
	[SET_HEALTH_TIMEOUT] = SHARE_FREE,
	[SET_HEALTH_START] = SHARE_FREE,
	[SET_HEALTH_RETRIES] = SHARE_FREE,
	[SET_COMMAND] = SHARE_FREE,
	[SET_POLICY] = SHARE_FREE, /* it is narrowed by policy_within() */
	[SET_HIDDEN_ENV] = SHARE_FREE,
};

static void *member(const struct run_options *o, enum setting_id id)
{
	return (char *)(uintptr_t)o + settings[id].offset;
}

static uint64_t number_get(const struct run_options *o, enum setting_id id)
{
	return settings[id].type == SETTING_CPUS ? *(uint32_t *)member(o, id)
						 : *(uint64_t *)member(o, id);
}

static void number_set(struct run_options *o, enum setting_id id, uint64_t v)
{
	if (settings[id].type == SETTING_CPUS)
		*(uint32_t *)member(o, id) = (uint32_t)v;
	else
		*(uint64_t *)member(o, id) = v;
	o->given[id] = true;
}

static int share_refuse(enum setting_id id, struct err *e)
{
	return err_set(e, ERR_FORBIDDEN,
		       "a sub-cell cannot have '%s'" REMEDY
		       "leave it out, or let the operator make the cell",
		       settings[id].json ? settings[id].json : "this option");
}

static int number_share(const struct run_options *parent, struct run_options *child,
			enum setting_id id, struct err *e)
{
	uint64_t most = number_get(parent, id), asked = number_get(child, id);

	if (!most || (asked && asked <= most))
		return 0;
	if (asked)
		return err_set(e, ERR_FORBIDDEN, "'%s' is more than its parent has",
			       settings[id].json);
	if (shares[id] == SHARE_LESS)
		number_set(child, id, most);
	return 0;
}

static unsigned words_count(char *const *words)
{
	unsigned n = 0;

	while (words && words[n])
		n++;
	return n;
}

static bool words_have(char *const *words, const char *text)
{
	for (; words && *words; words++)
		if (!strcmp(*words, text))
			return true;
	return false;
}

static int words_share(const struct run_options *parent, struct run_options *child,
		       enum setting_id id, struct err *e)
{
	char **has = *(char ***)member(parent, id), ***asked = member(child, id);
	unsigned n = words_count(has);

	for (char **w = *asked; w && *w; w++)
		if (!words_have(has, *w))
			return err_set(e, ERR_NOT_FOUND, "the parent has no '%.200s' in '%s'", *w,
				       settings[id].json);
	if (shares[id] != SHARE_ALL || !n)
		return 0;
	*asked = run_keep(child, xalloc((n + 1) * sizeof(**asked)));
	for (unsigned i = 0; i < n; i++)
		(*asked)[i] = run_keep_text(child, has[i]);
	(*asked)[n] = NULL;
	child->given[id] = true;
	return 0;
}

static int text_share(const struct run_options *parent, struct run_options *child,
		      enum setting_id id, struct err *e)
{
	const char *has = *(const char **)member(parent, id), **asked = member(child, id);

	if (*asked && (!has || strcmp(has, *asked)))
		return share_refuse(id, e);
	if (has) {
		*asked = run_keep_text(child, has);
		child->given[id] = true;
	}
	return 0;
}

/* ---- journals ---- */

static int journal_share(const struct run_options *parent, struct run_options *child, struct err *e)
{
	uint32_t least = run_journal(parent);
	bool smaller = child->journal_max &&
		       (!parent->journal_max || child->journal_max < parent->journal_max);

	if (run_is_given(child, SET_JOURNAL) && child->journal < least)
		return err_set(e, ERR_FORBIDDEN, "'journal' records less than its parent's");
	/* What is a demand of the parent's is one of the child's. */
	if (!run_is_given(child, SET_JOURNAL) && run_is_given(parent, SET_JOURNAL)) {
		child->journal = least;
		child->given[SET_JOURNAL] = true;
	}
	if (least == JOURNAL_OFF)
		return 0;
	if (run_is_given(child, SET_JOURNAL_FULL) &&
	    run_journal_full(parent) == JOURNAL_FULL_WAIT &&
	    child->journal_full == JOURNAL_FULL_CONTINUE)
		return err_set(e, ERR_FORBIDDEN,
			       "'journal_full' is wait for its parent, which must not have holes");
	/* A journal that it makes small must not be a way to do things that are not recorded. */
	if (smaller && run_is_given(child, SET_JOURNAL_FULL) &&
	    child->journal_full == JOURNAL_FULL_CONTINUE)
		return err_set(e, ERR_FORBIDDEN,
			       "'journal_max' is less than its parent's, and 'journal_full' is not "
			       "wait");
	if (!run_is_given(child, SET_JOURNAL_FULL) &&
	    (smaller || run_is_given(parent, SET_JOURNAL_FULL))) {
		child->journal_full = smaller ? (uint32_t)JOURNAL_FULL_WAIT : parent->journal_full;
		child->given[SET_JOURNAL_FULL] = true;
	}
	return 0;
}

/* ---- variables, limits of processes ---- */

static int env_share(const struct run_options *child, struct err *e)
{
	for (unsigned i = 0; i < child->env_given.n; i++)
		if (!strchr(child->env_given.v[i], '='))
			return err_set(e, ERR_INVALID,
				       "the variable '%.100s' has no value" REMEDY
				       "write NAME=VALUE: a sub-cell gets none of the host's",
				       child->env_given.v[i]);
	return 0;
}

static int ulimits_share(const struct run_options *parent, struct run_options *child, struct err *e)
{
	struct ulimit has[SPEC_ULIMITS], asked[SPEC_ULIMITS];
	unsigned n = run_ulimits(parent, has), m = run_ulimits(child, asked);
	const char **all =
		run_keep(child, xalloc((parent->ulimits.n + child->ulimits.n + 1) * sizeof(*all)));

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < m; k++)
			if (has[i].resource == asked[k].resource && asked[k].hard > has[i].hard)
				return err_set(e, ERR_FORBIDDEN,
					       "a limit in 'ulimits' is higher than its parent's");
	/* The last one counts. */
	for (unsigned i = 0; i < parent->ulimits.n; i++)
		all[i] = run_keep_text(child, parent->ulimits.v[i]);
	for (unsigned i = 0; i < child->ulimits.n; i++)
		all[parent->ulimits.n + i] = run_keep_text(child, child->ulimits.v[i]);
	if (!n)
		return 0;
	free(child->ulimits.v);
	child->ulimits.n += parent->ulimits.n;
	child->ulimits.v = xalloc(child->ulimits.n * sizeof(*all));
	memcpy(child->ulimits.v, all, child->ulimits.n * sizeof(*all));
	child->given[SET_ULIMIT] = true;
	return 0;
}

/* Each check is work of vivd's, and each change that it finds an event of all cells' history. */
static int health_share(const struct run_options *child, struct err *e)
{
	if (run_is_given(child, SET_HEALTH_INTERVAL) &&
	    child->health_interval_ns < (int64_t)NSEC_PER_SEC)
		return err_set(e, ERR_FORBIDDEN,
			       "'health.interval' of a sub-cell is at least a second");
	return 0;
}

/* ---- mounts ---- */

/* What is behind dir in path: "", "/x"; NULL: path is not there or below. */
static const char *path_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* The mount of o that a path is in; NULL: none. Later ones hide those before. */
static const struct run_mount *mount_of(const struct run_options *o, const char *path)
{
	for (unsigned i = o->nmounts; i-- > 0;)
		if (path_below(path, o->mounts[i].dst))
			return &o->mounts[i];
	return NULL;
}

/* Has it a mount below this one, in a directory that the cell could move? Then what is behind that
 * mount could be reached by another path. */
static bool mount_is_loose(const struct run_options *o, const struct run_mount *m)
{
	for (unsigned i = 0; i < o->nmounts; i++) {
		const char *rest = path_below(o->mounts[i].dst, m->dst);

		if (rest && *rest && strchr(rest + 1, '/') && !m->readonly &&
		    mount_of(o, o->mounts[i].dst) == &o->mounts[i])
			return true;
	}
	return false;
}

static bool is_s3(const struct run_mount *m)
{
	return m->src && !strncmp(m->src, "s3://", 5);
}

static char *text_join(struct run_options *o, const char *a, const char *sep, const char *b)
{
	char *text = xalloc(strlen(a) + strlen(sep) + strlen(b) + 1);

	sprintf(text, "%s%s%s", a, sep, b);
	return run_keep(o, text);
}

/* The mount of the parent, of which rest ("" or "/x") is wanted, as one of the child at dst. */
static int mount_take(struct run_options *child, const struct run_mount *from, const char *rest,
		      struct run_mount *to, struct err *e)
{
	rest += *rest == '/';
	to->volume = from->volume ? run_keep_text(child, from->volume) : NULL;
	to->src = from->src ? run_keep_text(child, from->src) : NULL;
	to->subpath = from->subpath ? run_keep_text(child, from->subpath) : NULL;
	to->size = from->size;
	to->readonly |= from->readonly;
	if (!*rest)
		return 0;
	if (!from->src)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%.200s' of the parent is within a volume" REMEDY
			       "mount the volume as a whole",
			       rest);
	if (is_s3(from)) /* keys have no links in them, and ".." is none of rest's names */
		to->src = text_join(child, from->src,
				    from->src[strlen(from->src) - 1] == '/' ? "" : "/", rest);
	else
		to->subpath = from->subpath ? text_join(child, from->subpath, "/", rest)
					    : run_keep_text(child, rest);
	return 0;
}

/* May what the parent has at one path be at another one of the child? */
static int place_check(const struct compiled *rules, const char *at, const char *to, struct err *e)
{
	const char *rule;
	bool good = compiled_may_move(rules, at, to) &&
		    compiled_escape(rules, SCOPE_EXEC, at, to, 0, &rule) == VERDICT_ALLOW;

	for (unsigned bit = 1; bit <= FILES_DELETE; bit <<= 1)
		good = good &&
		       compiled_escape(rules, SCOPE_FILES, at, to, bit, &rule) == VERDICT_ALLOW;
	return good || !strcmp(at, to)
		       ? 0
		       : err_set(e, ERR_FORBIDDEN,
				 "rules about files of the parent mean '%.200s', which would be at "
				 "'%.200s'" REMEDY "mount it where it is: at '%.200s'",
				 at, to, at);
}

/* What the parent has mounted below a path comes with it, unless the child has something there. */
static int mounts_below(const struct run_options *parent, struct run_options *child,
			const char *path, const char *dst, bool readonly, struct err *e)
{
	for (unsigned i = 0; i < parent->nmounts; i++) {
		const struct run_mount *from = &parent->mounts[i];
		const char *rest = path_below(from->dst, path);
		struct run_mount to = { .readonly = readonly, .nofollow = true };
		bool there = false;

		if (!rest || !*rest || mount_of(parent, from->dst) != from)
			continue;
		to.dst = text_join(child, dst, "", rest);
		for (unsigned k = 0; k < child->nmounts; k++)
			there |= !strcmp(child->mounts[k].dst, to.dst);
		if (!from->src && !from->volume)
			to.readonly = false;
		if (!there && (mount_take(child, from, "", &to, e) < 0 ||
			       mount_add(child, "a mount", to, e) < 0))
			return -1;
	}
	return 0;
}

/* A path of the parent in its plain form: no "//", no '/' at the end. NULL: it cannot be used. */
static char *path_clean(struct run_options *o, const char *path)
{
	char *text = run_keep_text(o, path);
	size_t n = strlen(text);

	while (n > 1 && text[n - 1] == '/')
		text[--n] = '\0';
	return text[0] == '/' && subpath_is_valid(text + 1) ? text : NULL;
}

/* Mount i of the child is one of its parent's. */
static int mount_share(const struct run_options *parent, struct run_options *child, unsigned i,
		       const struct compiled *rules, struct err *e)
{
	struct run_mount asked = child->mounts[i];
	const struct run_mount *from = NULL;
	const char *path;

	/* Rules compare texts, and the cell's kernel goes where the path leads. */
	if (asked.dst[0] != '/' || !subpath_is_valid(asked.dst + 1))
		return err_set(e, ERR_INVALID,
			       "the target '%.200s' of a mount is not a plain path" REMEDY
			       "give an absolute path without '.', '..' and '//'",
			       asked.dst);
	child->mounts[i].nofollow = true;
	if (!asked.src && !asked.volume) {
		for (unsigned k = 0; k < parent->nmounts; k++)
			if (!parent->mounts[k].src && !parent->mounts[k].volume &&
			    !strcmp(parent->mounts[k].dst, asked.dst))
				return 0;
		return compiled_may_cover(rules, asked.dst)
			       ? 0
			       : err_set(e, ERR_FORBIDDEN,
					 "rules of the parent keep what is at '%.200s', so nothing "
					 "can be mounted there",
					 asked.dst);
	}
	if (asked.subpath)
		return err_set(e, ERR_INVALID,
			       "the mount at '%.200s' has a 'subpath'" REMEDY
			       "write it as part of 'source'",
			       asked.dst);
	for (unsigned k = 0; asked.volume && k < parent->nmounts; k++)
		if (parent->mounts[k].volume && !strcmp(parent->mounts[k].volume, asked.volume) &&
		    mount_of(parent, parent->mounts[k].dst) == &parent->mounts[k])
			from = &parent->mounts[k];
	if (asked.volume && !from)
		return err_set(e, ERR_NOT_FOUND, "the parent has no volume '%.200s'", asked.volume);
	path = from ? from->dst : path_clean(child, asked.src);
	if (!path)
		return err_set(e, ERR_INVALID,
			       "'%.200s' is not a path of the parent" REMEDY
			       "give an absolute path without '.' and '..'",
			       asked.src);
	from = from ? from : mount_of(parent, path);
	if (!from || (!from->src && !from->volume))
		return err_set(
			e, ERR_FORBIDDEN,
			"'%.200s' of the parent is among its own files" REMEDY
			"only what it has mounted from outside can be mounted in a sub-cell; "
			"copy it with 'viv cp'",
			path);
	if (mount_is_loose(parent, from))
		return err_set(
			e, ERR_FORBIDDEN,
			"'%.200s' of the parent has other mounts deeper in it, so it cannot be "
			"mounted in a sub-cell" REMEDY
			"the operator can mount them directly below it, or elsewhere",
			from->dst);
	asked = (struct run_mount){ .dst = asked.dst,
				    .readonly = asked.readonly,
				    .nofollow = true };
	if (place_check(rules, path, asked.dst, e) < 0 ||
	    mount_take(child, from, path_below(path, from->dst), &asked, e) < 0)
		return -1;
	child->mounts[i] = asked;
	return mounts_below(parent, child, path, asked.dst, asked.readonly, e);
}

static int mount_compare(const void *a, const void *b)
{
	const struct run_mount *x = a, *y = b;
	size_t n = strlen(x->dst), m = strlen(y->dst);

	return n != m ? (n > m) - (n < m) : strcmp(x->dst, y->dst);
}

static int mounts_share(const struct run_options *parent, struct run_options *child, struct err *e)
{
	unsigned n = child->nmounts; /* more are added behind them */
	struct buf bytes = { 0 };
	struct compiled rules;
	struct policy p;
	int ret;

	policy_init(&p);
	ret = policy_words(&p, parent->policy, "policy of the parent", NULL, e);
	policy_compile(&p, &bytes);
	policy_fini(&p);
	if (ret == 0 && compiled_check(bytes.p, bytes.len, &rules) < 0)
		ret = err_set(e, ERR_FAILED, "the policy of the parent cannot be used");
	for (unsigned i = 0; ret == 0 && i < n; i++)
		ret = mount_share(parent, child, i, &rules, e);
	qsort(child->mounts, child->nmounts, sizeof(child->mounts[0]), mount_compare);
	buf_free(&bytes);
	return ret;
}

/* ---- all of it ---- */

static int setting_share(const struct run_options *parent, struct run_options *child,
			 enum setting_id id, struct err *e)
{
	switch (shares[id]) {
	case SHARE_NOT:
		return settings[id].json && run_is_given(child, id) ? share_refuse(id, e) : 0;
	case SHARE_LESS:
	case SHARE_LIMIT:
		return number_share(parent, child, id, e);
	case SHARE_SOME:
	case SHARE_ALL:
		return words_share(parent, child, id, e);
	case SHARE_SAME:
		return text_share(parent, child, id, e);
	case SHARE_FREE:
	case SHARE_CODE:
		break;
	}
	return 0;
}

int spec_attenuate(const struct run_options *parent, struct run_options *child, struct err *e)
{
	if (child->ncopies)
		return err_set(e, ERR_FORBIDDEN,
			       "a sub-cell cannot have copies of the host's directories" REMEDY
			       "mount them, or copy files with 'viv cp'");
	if (mounts_share(parent, child, e) < 0)
		return -1;
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if (setting_share(parent, child, (enum setting_id)i, e) < 0)
			return -1;
	if (env_share(child, e) < 0 || ulimits_share(parent, child, e) < 0 ||
	    journal_share(parent, child, e) < 0 || health_share(child, e) < 0)
		return -1;
	if (!child->image && parent->image) {
		child->image = run_keep_text(child, parent->image);
		child->given[SET_IMAGE] = true;
	}
	return 0;
}
