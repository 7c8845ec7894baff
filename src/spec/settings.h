/* The table of a cell's settings (settings.tbl.h) as data. Whatever reads, writes, explains or
 * compares settings walks over it. */
#ifndef VIV_SPEC_SETTINGS_H
#define VIV_SPEC_SETTINGS_H

#include "base/base.h"

/* An option of a verb, as it is parsed, explained and completed. */
struct opt {
	char letter; /* 0: none */
	const char *name; /* without the dashes */
	const char *value; /* what its value is called; NULL: a switch */
	const char *help; /* NULL: not for people */
};

enum setting_type {
	SETTING_TEXT,
	SETTING_PATH,
	SETTING_FLAG,
	SETTING_CHOICE,
	SETTING_COUNT,
	SETTING_CPUS,
	SETTING_SIZE,
	SETTING_TIME,
	SETTING_WORDS,
	SETTING_MAP,
	SETTING_MOUNTS,
	SETTING_RESTART,
	SETTING_OWN,
};

#define S_LIVE 0x01 /* can change while the cell runs */
#define S_WARM 0x02 /* a cell that has booted without it can still become one that has it */
#define S_PLACE 0x04 /* belongs to the cell's files and limits, not to what runs in it */
#define S_VIVD 0x08 /* vivd carries it out: of detached cells only */
#define S_YAML 0x10 /* a key of vivarium.yaml */
#define S_VARS 0x20 /* and takes variables there */
#define S_WORD 0x40 /* and a number, as it is written */
#define S_ZERO 0x80 /* 0 is the same as nothing */
#define S_HOST 0x100 /* a name alone stands for the value that viv has in its environment */
#define S_REQUIRED 0x200 /* in its object of JSON */
#define S_EACH 0x400 /* each time that the option is given adds a word to the list */

/* Those that people write on the command line come first. */
enum setting_id {
#define SETTING(id, ...) SET_##id,
#include "spec/settings.tbl.h"
#undef SETTING
	SETTINGS_COUNT,
	RUN_NOPTS = SET_COMMAND,
};

struct setting {
	enum setting_type type;
	const char *json; /* "limits.memory"; NULL: none */
	double min, max; /* in the unit of JSON; max 0: none */
	unsigned flags; /* S_ */
	size_t offset; /* of the member */
};

extern const struct setting settings[SETTINGS_COUNT];
/* The same rows as options. Those without an option have no name. */
extern const struct opt run_opts[SETTINGS_COUNT];

/* The words that a CHOICE may be, NULL-terminated, in the order of their values. */
const char *const *setting_choices(enum setting_id id);

/* A field of JSON by its whole name; SETTINGS_COUNT: there is none. */
enum setting_id setting_by_json(const char *name);
/* Is there a field "NAME.something"? */
bool setting_is_object(const char *name);
/* Can what is at the top of a description under this name change while the cell runs? */
bool setting_is_live(const char *name);

/* The fields of a mount in JSON and YAML. */
struct mount_field {
	const char *name;
	enum setting_type type;
	bool required;
	unsigned flags; /* S_VARS */
	const char *help;
};
#define MOUNT_FIELDS 8
extern const struct mount_field mount_fields[MOUNT_FIELDS];

#endif
