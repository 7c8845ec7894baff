/* See settings.h. */
#include "spec/settings.h"

#include <string.h>

#include "spec/options.h"

#define OFFSET_OF(member) offsetof(struct run_options, member)
#define none image /* OWN uses no member */

const struct setting settings[SETTINGS_COUNT] = {
#define SETTING(id, kind, member, field, option, letter, value, low, high, bits, text) \
	[SET_##id] = { .type = SETTING_##kind,                                         \
		       .json = field,                                                  \
		       .min = low,                                                     \
		       .max = high,                                                    \
		       .flags = bits,                                                  \
		       .offset = OFFSET_OF(member) },
#include "spec/settings.tbl.h"
#undef SETTING
};
#undef none

const struct opt run_opts[SETTINGS_COUNT] = {
#define SETTING(id, kind, member, field, option, key, what, low, high, bits, text) \
	[SET_##id] = { .letter = key, .name = option, .value = what, .help = text },
#include "spec/settings.tbl.h"
#undef SETTING
};

static const char *const fast_modes[] = {
	[FAST_ON] = "on",	[FAST_OFF] = "off",	  [FAST_CHECK] = "check",
	[FAST_EAGER] = "eager", [FAST_DETACH] = "detach", [FAST_LAST + 1] = NULL
};

static const char *const journal_levels[] = {
	[JOURNAL_OFF] = "off", [JOURNAL_CHANGES] = "changes", [JOURNAL_ALL] = "all", NULL
};

static const char *const journal_fulls[] = {
	[JOURNAL_FULL_WAIT] = "wait", [JOURNAL_FULL_CONTINUE] = "continue", NULL
};

const char *const *setting_choices(enum setting_id id)
{
	static const char *const nothing[] = { NULL };

	switch (id) {
	case SET_FAST:
		return fast_modes;
	case SET_JOURNAL:
		return journal_levels;
	case SET_JOURNAL_FULL:
		return journal_fulls;
	default:
		return nothing;
	}
}

const struct mount_field mount_fields[MOUNT_FIELDS] = {
	{ "source", SETTING_TEXT, false, S_VARS,
	  "directory or regular file of the host, by its absolute path, or s3://BUCKET/PREFIX" },
	{ "subpath", SETTING_TEXT, false, S_VARS,
	  "of a directory of the host: a path below it that is mounted instead; links are not "
	  "followed" },
	{ "volume", SETTING_TEXT, false, 0, "name of a volume" },
	{ "tmpfs", SETTING_FLAG, false, 0, "an empty file system in memory" },
	{ "target", SETTING_TEXT, true, 0, "absolute path in the cell" },
	{ "readonly", SETTING_FLAG, false, 0, "the cell cannot write to it" },
	{ "nofollow", SETTING_FLAG, false, 0,
	  "fail if a part of target is a symbolic link in the cell" },
	{ "size", SETTING_SIZE, false, S_VARS, "of a tmpfs: the bytes that it can hold" },
};

enum setting_id setting_by_json(const char *name)
{
	unsigned i = 0;

	while (i < SETTINGS_COUNT && (!settings[i].json || strcmp(settings[i].json, name)))
		i++;
	return (enum setting_id)i;
}

static bool is_below(const char *json, const char *name)
{
	size_t n = strlen(name);

	return json && !strncmp(json, name, n) && json[n] == '.';
}

bool setting_is_object(const char *name)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if (is_below(settings[i].json, name))
			return true;
	return false;
}

bool setting_is_live(const char *name)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if (settings[i].json &&
		    (!strcmp(settings[i].json, name) || is_below(settings[i].json, name)))
			return settings[i].flags & S_LIVE;
	return false;
}
