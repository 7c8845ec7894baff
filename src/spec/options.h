/* What a cell is to be: the settings of settings.tbl.h, each as a member, and what only the command
 * line and keepers have. Filled from the words of a command line or from JSON; written as JSON. */
#ifndef VIV_SPEC_OPTIONS_H
#define VIV_SPEC_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "spec/settings.h"
#include "spec/values.h"
#include "wire/bootspec.h"

struct texts {
	const char **v;
	unsigned n;
};

enum restart_policy { RESTART_NO, RESTART_ON_FAILURE, RESTART_ALWAYS };

struct restart {
	enum restart_policy policy;
	uint32_t max; /* in a row; 0: no limit */
};

const char *restart_name(enum restart_policy p);
bool restart_parse(const char *name, enum restart_policy *ret);

/* One mount: of the host or of S3, of a volume, or neither: a tmpfs. */
struct run_mount {
	const char *src; /* of the host; or s3://BUCKET/PREFIX */
	/* of a directory of the host: a path below it, which is mounted instead. It is opened
	 * without following links; NULL: src itself */
	const char *subpath;
	const char *volume;
	char *dst;
	bool readonly;
	bool nofollow; /* no part of dst is a symbolic link in the cell */
	uint64_t size;
};

/* A directory of the host that is copied into a cell before its first start. */
#define RUN_COPIES_MAX 8
struct run_copy {
	const char *src;
	char *dst;
};

struct run_options {
	bool given[SETTINGS_COUNT];
#define MEMBER_TEXT(m) const char *m;
#define MEMBER_PATH(m) const char *m;
#define MEMBER_FLAG(m) bool m;
#define MEMBER_CHOICE(m) uint32_t m;
#define MEMBER_COUNT(m) uint64_t m;
#define MEMBER_CPUS(m) uint32_t m;
#define MEMBER_SIZE(m) uint64_t m;
#define MEMBER_TIME(m) int64_t m;
#define MEMBER_WORDS(m) char **m;
#define MEMBER_MAP(m) struct texts m;
#define MEMBER_MOUNTS(m) struct run_mount m[SPEC_MAX_MOUNTS];
#define MEMBER_RESTART(m) struct restart m;
#define MEMBER_OWN(m)
#define SETTING(id, kind, member, ...) MEMBER_##kind(member)
#include "spec/settings.tbl.h"
#undef SETTING
	unsigned nmounts;
	struct run_copy copies[RUN_COPIES_MAX];
	unsigned ncopies;
	unsigned nenv_file; /* the first so many of env_given are of files */
	bool keeper; /* we are a viv-keeper, which has options of its own */
	bool pool; /* of viv-keeper: it waits for somebody who takes it */
	/* of viv-keeper: no cell; only the room is given back that the disk need not take */
	bool merge;
	const char *id; /* of viv-keeper; NULL: it chooses */
	const char *parent; /* of viv-keeper: the cell ends with this one; NULL: with none */
	bool workdir_make; /* it is the image's: as docker has it, it need not be there */
	uint32_t uid, gid; /* of one of the host image's users */
	const char *user_name, *home;
	int stop_signal; /* the image's, for the first process; 0: SIGTERM */
	char **env; /* K=V, all that the command gets; NULL-terminated */
	void **kept; /* memory that was taken for these options and stays as long as they */
	size_t nkept;
	struct run_tell { /* instead of running a command: what is in a disk */
		uint32_t mode; /* enum spec_mode */
		uint32_t from_layers;
		bool whole, objects;
		int out;
		int log; /* of MODE_MERGE: for the log of layer number */
		uint32_t number;
		int64_t most_ns; /* how long it may take; 0: as long as it takes */
	} tell;
};

static inline bool run_is_given(const struct run_options *o, enum setting_id id)
{
	return o->given[id];
}

/* The journal (journal.c). A cell whose settings name no level has the default one, and runs
 * without a journal if it cannot have one; a level that is given is a demand. */
uint32_t journal_default(void); /* enum journal_level */
/* -1 with an error: VIV_JOURNAL is wrong. */
int must_check journal_default_check(struct err *e);
/* Its level, and what it does when its journal cannot be written (enum journal_full). */
uint32_t run_journal(const struct run_options *o);
uint32_t run_journal_full(const struct run_options *o);

/* Memory that o keeps; takes p, which may be NULL. NULL: there is none. */
void *run_keep(struct run_options *o, void *p);
/* A copy of text that o keeps. */
char *run_keep_text(struct run_options *o, const char *text);
/* Frees what o holds. */
void run_options_fini(struct run_options *o);

/* From the words of a command line, of which argv[0] is the verb. 0; -1 with an error; 1: help was
 * asked for. */
int must_check run_options_parse(struct run_options *o, int argc, char **argv, struct err *e);
/* From an object of JSON, whose fields are checked and added to what o has. 0, or -1 with an error
 * whose code is unknown_field, wrong_type, missing_field or invalid. */
int must_check run_options_read(struct run_options *o, const char *json, size_t len, struct err *e);
/* As members of an object of JSON that has begun in b. what: settings with these flags (S_) only;
 * 0: all. */
void run_options_write(const struct run_options *o, unsigned what, struct buf *b);

/* The policy as a whole: an error is in terms of its rules' numbers. */
int must_check run_policy_check(const struct run_options *o, struct err *e);

/* A sub-cell gets no more than its parent has (attenuate.c): what child asks for becomes what it
 * gets, or -1 with an error that names the setting. parent is what that cell has, with its policy
 * in force. Mounts of the child name paths of its parent (source), or its volumes. What the child
 * does not ask for and its parent has to share is filled in. Not done here: the policy
 * (policy_within()), what rules about cells say to the image (policy_cells()), and how limits of a
 * family add up. */
int must_check spec_attenuate(const struct run_options *parent, struct run_options *child,
			      struct err *e);

/* Can a cell that has booted with nothing but its image become this one? */
bool run_fits_warm(const struct run_options *o);
/* The name of an option that was given and that vivd carries out, or NULL. */
const char *run_vivds_option(const struct run_options *o);

/* ---- parts ---- */

/* A file of variables, as --env-file has it (envfile.c): each, K=V or K, goes to take. */
int must_check env_file_read(const char *path,
			     int (*take)(void *arg, const char *text, struct err *e), void *arg,
			     struct err *e);
/* Mounts (mounts.c). option is for messages. */
int must_check mount_add(struct run_options *o, const char *option, struct run_mount m,
			 struct err *e);
int must_check mount_option(struct run_options *o, const char *text, struct err *e);
int must_check volume_option(struct run_options *o, const char *text, struct err *e);
int must_check tmpfs_option(struct run_options *o, const char *text, struct err *e);
/* A path below a mount: relative, without "." and "..". */
bool subpath_is_valid(const char *text);
int must_check copy_option(struct run_options *o, const char *text, struct err *e);
/* A limit of --ulimit (ulimits.c): name as docker has it, value SOFT[:HARD]. 0, or -1 with an error
 * that names them, and where they were written. */
int must_check ulimit_parse(const char *where, const char *name, const char *value,
			    struct ulimit *ret, struct err *e);
/* Those of o, each resource once; the last one given counts. */
unsigned run_ulimits(const struct run_options *o, struct ulimit ret[SPEC_ULIMITS]);
/* A name for a group or its number? */
bool group_is_valid(const char *text);
/* What is wrong with a word of a list of them (hosts.c): "is not ..."; NULL: nothing. */
const char *setting_word_wrong(enum setting_id id, const char *text);

#define HOST_NAME_SIZE 254
struct host_value {
	char name[HOST_NAME_SIZE]; /* in lower case */
	char addr[64];
};
/* NAME:ADDRESS, also with '=' or with brackets around the address. */
bool host_parse(const char *text, struct host_value *ret);
/* A number within the bounds of a setting? Else -1 with an error that names it as name. */
int must_check setting_bounds(enum setting_id id, double v, const char *name, struct err *e);
/* A name for a cell or a volume: letters, digits, '.', '_', '-'. */
bool cell_name_is_valid(const char *name);
bool cell_id_is_valid(const char *id);
/* A name for a tool: lower-case letters, digits, '_', '-'. It is a command in cells. */
#define TOOL_NAME_MAX 31
bool tool_name_is_valid(const char *name);

#endif
