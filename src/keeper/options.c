/* The options of viv run and of viv-keeper. */
#include "keeper/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/client.h"
#include "keeper/optparts.h"
#include "keeper/place.h"
#include "wire/bootspec.h"

enum {
	OPT_IMAGE,
	OPT_NAME,
	OPT_RM,
	OPT_ENTRYPOINT,
	OPT_CPUS,
	OPT_MEMORY,
	OPT_PIDS,
	OPT_PIDS_LIMIT,
	OPT_DISK_SIZE,
	OPT_DISK_INODES,
	OPT_TIMEOUT,
	OPT_ENV,
	OPT_ENV_FILE,
	OPT_WORKDIR,
	OPT_USER,
	OPT_MOUNT,
	OPT_S3_ENDPOINT,
	OPT_VOLUME,
	OPT_TMPFS,
	OPT_HOSTNAME,
	OPT_NETWORK,
	OPT_INIT,
	OPT_WASM,
	OPT_INTERACTIVE,
	OPT_TTY,
	OPT_CHANGES,
	OPT_TRACE,
	OPT_FAST,
	OPT_QUIET,
	OPT_DETACH,
	OPT_LABEL,
	OPT_RESTART,
	OPT_STOP_TIMEOUT,
	OPT_IDLE_TIMEOUT,
	OPT_HEALTH_CMD,
	OPT_HEALTH_INTERVAL,
	OPT_HEALTH_TIMEOUT,
	OPT_HEALTH_START,
	OPT_HEALTH_RETRIES,
	OPT_JSON,
	OPT_HELP,
	OPT_IDLE, /* from here on: words between viv and its keepers (keeper/client.h) */
	OPT_ID,
	OPT_LEAVE,
	OPT_POOL,
	OPT_VISIT,
	OPT_MERGE,
};

const struct opt run_opts[] = {
	[OPT_IMAGE] = { 0, "image", "NAME",
			"the root file system: an image of the store, or 'host', which shows the "
			"host's "
			"/usr, /bin and /lib" },
	[OPT_NAME] = { 0, "name", "CELL",
		       "a cell that keeps its files; made when there is none of that name" },
	[OPT_RM] = { 0, "rm", NULL, "keep nothing (as it is without --name)" },
	[OPT_ENTRYPOINT] = { 0, "entrypoint", "FILE",
			     "run this instead of the image's entry point" },
	[OPT_CPUS] = { 0, "cpus", "N", "processors that the cell may use and sees (1, 0.5, 2)" },
	[OPT_MEMORY] = { 'm', "memory", "SIZE", "memory that the cell may use and sees (64M, 1G)" },
	[OPT_PIDS] = { 0, "pids", "N", "processes and threads at once" },
	[OPT_PIDS_LIMIT] = { 0, "pids-limit", "N", "the same as --pids" },
	[OPT_DISK_SIZE] = { 0, "disk-size", "SIZE",
			    "bytes that the cell may keep in its own files" },
	[OPT_DISK_INODES] = { 0, "disk-inodes", "N", "files that the cell may make" },
	[OPT_TIMEOUT] = { 0, "timeout", "TIME",
			  "end the cell after this time (500ms, 10s, 5m); status 124" },
	[OPT_ENV] = { 'e', "env", "K=V", "set a variable; a name alone passes the host's value" },
	[OPT_ENV_FILE] = { 0, "env-file", "FILE",
			   "set variables: each line is K=V or K; what --env says counts more" },
	[OPT_WORKDIR] = { 'w', "workdir", "DIR",
			  "directory that the command starts in (the image's, or /)" },
	[OPT_USER] = { 'u', "user", "USER",
		       "a user of the image (of 'host': root, agent, nobody), UID or UID:GID" },
	[OPT_MOUNT] = { 0, "mount", "SRC:DST[:ro|rw]",
			"show a host directory or file, or s3://BUCKET/PREFIX, at DST in the cell "
			"(rw); or "
			"as docker has it: type=bind,source=SRC,target=DST" },
	[OPT_S3_ENDPOINT] = { 0, "s3-endpoint", "URL",
			      "the server of s3:// mounts (AWS_ENDPOINT_URL, or Amazon's)" },
	[OPT_VOLUME] = { 'v', "volume", "NAME:DST[:ro|rw]",
			 "a volume at DST: files that stay, whichever cell uses them; a NAME with "
			 "a '/' is a host directory or file" },
	[OPT_TMPFS] = { 0, "tmpfs", "DST[:size=N]", "an empty file system in memory at DST" },
	[OPT_HOSTNAME] = { 0, "hostname", "NAME", "the cell's name (cell)" },
	[OPT_NETWORK] = { 0, "network", "none", "there is no other yet than the cell's own" },
	[OPT_INIT] = { 0, "init", NULL,
		       "an init that collects ended processes (there always is one)" },
	[OPT_WASM] = { 0, "binfmt-wasm", "COMMAND",
		       "program of the cell that runs WebAssembly modules (node's WASI)" },
	[OPT_INTERACTIVE] = { 'i', "interactive", NULL,
			      "the command reads viv's standard input (it always does; with "
			      "-d: its input stays open)" },
	[OPT_TTY] = { 't', "tty", NULL,
		      "insist on a terminal (viv's own, when it has one, is the cell's)" },
	[OPT_CHANGES] = { 0, "changes", NULL,
			  "at the end, list what was added, changed and deleted" },
	[OPT_TRACE] = { 0, "trace", NULL, "print every system call to standard error" },
	[OPT_FAST] = { 0, "fast", "MODE",
		       "on, off, check, eager or detach: calls without a switch to the kernel "
		       "(on)" },
	[OPT_QUIET] = { 'q', "quiet", NULL, "no warnings" },
	[OPT_DETACH] = { 'd', "detach", NULL,
			 "print the cell's id and leave it to itself; 'viv logs' has its "
			 "output" },
	[OPT_LABEL] = { 'l', "label", "K=V", "of a detached cell: a label, for 'viv ps --filter'" },
	[OPT_RESTART] = { 0, "restart", "POLICY",
			  "of a detached cell: no, on-failure, on-failure:N or always "
			  "(unless-stopped: the "
			  "same)" },
	[OPT_STOP_TIMEOUT] = { 0, "stop-timeout", "TIME",
			       "of a detached cell: what 'viv stop' gives it (10s)" },
	[OPT_IDLE_TIMEOUT] = { 0, "idle-timeout", "TIME",
			       "of a detached cell: stop it when nothing ran in it for so long" },
	[OPT_HEALTH_CMD] = { 0, "health-cmd", "COMMAND",
			     "of a detached cell: what sh runs in it to see whether it is well" },
	[OPT_HEALTH_INTERVAL] = { 0, "health-interval", "TIME",
				  "from one such look to the next (30s)" },
	[OPT_HEALTH_TIMEOUT] = { 0, "health-timeout", "TIME",
				 "one that takes longer has failed (30s)" },
	[OPT_HEALTH_START] = { 0, "health-start-period", "TIME",
			       "in which failures do not count, until one look was good (0)" },
	[OPT_HEALTH_RETRIES] = { 0, "health-retries", "N",
				 "failures in a row that make it unhealthy (3)" },
	[OPT_JSON] = { 0, "json", NULL, "print what viv itself says as JSON" },
	[OPT_HELP] = { 'h', "help", NULL, "this text" },
	[OPT_IDLE] = { 0, "idle", NULL, NULL },
	[OPT_ID] = { 0, "id", "ID", NULL },
	[OPT_LEAVE] = { 0, "leave", NULL, NULL },
	[OPT_POOL] = { 0, "pool", NULL, NULL },
	[OPT_VISIT] = { 0, "visit", NULL, NULL },
	[OPT_MERGE] = { 0, "merge", NULL, NULL },
};

_Static_assert(OPT_IDLE == RUN_NOPTS, "what others are shown of the table");

static const char *const fast_modes[] = { [FAST_ON] = "on",
					  [FAST_OFF] = "off",
					  [FAST_CHECK] = "check",
					  [FAST_EAGER] = "eager",
					  [FAST_DETACH] = "detach" };

const char *run_fast_name(uint32_t mode)
{
	return fast_modes[mode];
}

static const struct user {
	const char *name, *home;
	uint32_t uid, gid;
} users[] = {
	{ "root", "/root", 0, 0 },
	{ "agent", "/home/agent", 1000, 1000 },
	{ "nobody", "/nonexistent", 65534, 65534 },
};

char *run_text_keep(struct run_options *o, char *text)
{
	char **more = text ? realloc(o->kept, (o->nkept + 1) * sizeof(*more)) : NULL;

	if (!more) {
		free(text);
		fail("out of memory");
		return NULL;
	}
	o->kept = more;
	return more[o->nkept++] = text;
}

void run_options_fini(struct run_options *o)
{
	for (size_t i = 0; i < o->nkept; i++)
		free(o->kept[i]);
	free(o->kept);
	free(o->env);
	free(o->env_given);
	*o = (struct run_options){ 0 };
}

/* Takes text, K=V. */
static int env_put(struct run_options *o, char *text)
{
	size_t n = 0, name;
	char **list;

	text = run_text_keep(o, text);
	if (!text)
		return EXIT_OWN;
	name = strcspn(text, "=");
	for (; o->env && o->env[n]; n++)
		if (!strncmp(o->env[n], text, name) && o->env[n][name] == '=') {
			o->env[n] = text;
			return 0;
		}
	list = realloc(o->env, (n + 2) * sizeof(*list));
	if (!list)
		return fail("out of memory");
	o->env = list;
	list[n] = text;
	list[n + 1] = NULL;
	return 0;
}

int run_env_set(struct run_options *o, const char *text)
{
	return env_put(o, strdup(text));
}

static int env_set_pair(struct run_options *o, const char *name, const char *value)
{
	char *text;

	return env_put(o, asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text);
}

/* --env is applied after what the image says. */
static int env_option(struct run_options *o, const char *text)
{
	const char **more;

	if (!*text || *text == '=')
		return fail(
			"--env needs a name: --env NAME=VALUE, or --env NAME for the host's value");
	more = realloc(o->env_given, (o->nenv_given + 1) * sizeof(*more));
	if (!more)
		return fail("out of memory");
	o->env_given = more;
	more[o->nenv_given++] = text;
	return 0;
}

/* Of a file: before all that --env gave, wherever that stands. */
static int env_file_take(void *arg, const char *text)
{
	struct run_options *o = arg;
	const char *kept = run_text_keep(o, strdup(text));
	int status = kept ? env_option(o, kept) : EXIT_OWN;

	if (status)
		return status;
	for (unsigned i = o->nenv_given - 1; i > o->nenv_file; i--)
		o->env_given[i] = o->env_given[i - 1];
	o->env_given[o->nenv_file++] = kept;
	return 0;
}

static int env_apply(struct run_options *o, const char *text)
{
	const char *value;

	if (strchr(text, '='))
		return run_env_set(o, text);
	value = getenv(text);
	return value ? env_set_pair(o, text, value) : 0;
}

static int user_option(struct run_options *o, const char *text)
{
	char uid[32];
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);

	for (unsigned i = 0; i < ARRAY_LEN(users); i++) {
		uint32_t number;

		if (n >= sizeof(uid))
			break;
		snprintf(uid, sizeof(uid), "%.*s", (int)n, text);
		if (strcmp(uid, users[i].name) &&
		    !(value_u32(uid, &number) && number == users[i].uid))
			continue;
		o->uid = users[i].uid;
		o->gid = users[i].gid;
		o->user_name = users[i].name;
		o->home = users[i].home;
		break;
	}
	if (!o->user_name) {
		if (n >= sizeof(uid) || !value_u32(uid, &o->uid) || o->uid == UINT32_MAX)
			return fail("--user '%s': a cell has root, agent and nobody; others by "
				    "number (UID or UID:GID)",
				    text);
		o->gid = o->uid;
		o->user_name = run_text_keep(o, strdup(uid));
		if (!o->user_name)
			return EXIT_OWN;
		o->home = "/";
	}
	if (colon && (!value_u32(colon + 1, &o->gid) || o->gid == UINT32_MAX))
		return fail("--user '%s': the group after ':' must be a number", text);
	return 0;
}

/* One that vivd is told; *ret is what was given. */
static int time_option(unsigned opt, const char *value, const char **ret)
{
	int64_t ns;

	if (!value_duration(value, &ns) && strcmp(value, "0"))
		return fail("--%s '%s': a time such as 500ms, 10s or 5m", run_opts[opt].name,
			    value);
	*ret = value;
	return 0;
}

static int option_apply(struct run_options *o, unsigned opt, const char *value)
{
	uint64_t milli;
	uint32_t times;

	switch (opt) {
	case OPT_IMAGE:
		o->image = value;
		return 0;
	case OPT_NAME:
		o->name = value;
		return 0;
	case OPT_RM:
		o->rm = true;
		return 0;
	case OPT_ENTRYPOINT:
		o->entrypoint = value;
		return 0;
	case OPT_CPUS:
		if (!value_milli(value, &milli) || milli < 10 || milli > 4096000)
			return fail("--cpus '%s': a number of processors such as 2 or 0.5, at "
				    "least 0.01",
				    value);
		o->cpu_milli = (uint32_t)milli;
		return 0;
	case OPT_MEMORY:
		if (!value_size(value, &o->memory) || o->memory < (4 << 20))
			return fail("--memory '%s': a size such as 64M or 1G, at least 4M", value);
		return 0;
	case OPT_PIDS:
	case OPT_PIDS_LIMIT:
		if (!value_u32(value, &o->pids) || !o->pids || o->pids > 4000000)
			return fail("--%s '%s': a number of processes, at least 1",
				    run_opts[opt].name, value);
		return 0;
	case OPT_DISK_SIZE:
		if (!value_size(value, &o->disk_bytes) || o->disk_bytes < (1 << 20))
			return fail("--disk-size '%s': a size such as 100M or 10G, at least 1M",
				    value);
		return 0;
	case OPT_DISK_INODES:
		if (!value_size(value, &o->disk_inodes) || o->disk_inodes < 16)
			return fail("--disk-inodes '%s': a number of files, at least 16", value);
		return 0;
	case OPT_TIMEOUT:
		if (!value_duration(value, &o->timeout_ns))
			return fail("--timeout '%s': a time such as 500ms, 10s or 5m", value);
		return 0;
	case OPT_ENV:
		return env_option(o, value);
	case OPT_ENV_FILE:
		return env_file_read(value, env_file_take, o);
	case OPT_WORKDIR:
		if (value[0] != '/')
			return fail("--workdir: must be an absolute path, not '%s'", value);
		o->workdir = value;
		return 0;
	case OPT_USER:
		if (!*value)
			return fail("--user needs a name or a number");
		o->user_text = value;
		return 0;
	case OPT_MOUNT:
		return mount_option(o, value);
	case OPT_S3_ENDPOINT:
		if (strncmp(value, "http://", 7) && strncmp(value, "https://", 8))
			return fail(
				"--s3-endpoint: an address that begins with http:// or https://");
		o->s3_endpoint = value;
		return 0;
	case OPT_VOLUME:
		return volume_option(o, value);
	case OPT_TMPFS:
		return tmpfs_option(o, value);
	case OPT_HOSTNAME:
		if (!*value || strlen(value) > 64)
			return fail("--hostname: a name of 1 to 64 characters");
		o->hostname = value;
		return 0;
	case OPT_NETWORK:
		if (strcmp(value, "none"))
			return fail("--network '%s': a cell has no network but its own yet; leave "
				    "--network out",
				    value);
		return 0;
	case OPT_INIT:
		return 0;
	case OPT_WASM:
		if (value[0] != '/' || strlen(value) > 400)
			return fail(
				"--binfmt-wasm: must start with an absolute path in the cell, not "
				"'%s'",
				value);
		o->wasm = value;
		return 0;
	case OPT_INTERACTIVE:
		o->interactive = true;
		return 0;
	case OPT_TTY:
		o->tty = true;
		return 0;
	case OPT_CHANGES:
		o->changes = true;
		return 0;
	case OPT_TRACE:
		o->trace = true;
		return 0;
	case OPT_FAST:
		for (o->fast = FAST_ON; strcmp(value, fast_modes[o->fast]); o->fast++)
			if (o->fast == FAST_LAST)
				return fail("--fast '%s': on, off, check, eager or detach", value);
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case OPT_DETACH:
		o->detach = true;
		return 0;
	case OPT_IDLE:
		o->idle = true;
		return 0;
	case OPT_ID:
		if (!keep_id_is_valid(value))
			return fail("--id '%s': lower case letters and digits", value);
		o->id = value;
		return 0;
	case OPT_LEAVE:
		o->leave = true;
		return 0;
	case OPT_POOL:
		o->pool = o->idle = true;
		return 0;
	case OPT_VISIT:
		o->visit = true;
		return 0;
	case OPT_MERGE:
		o->merge = o->idle = true;
		return 0;
	case OPT_LABEL:
		if (!*value || *value == '=')
			return fail("--label needs a name: --label NAME=VALUE");
		if (o->nlabels == ARRAY_LEN(o->labels))
			return fail("at most %zu labels", ARRAY_LEN(o->labels));
		o->labels[o->nlabels++] = value;
		return 0;
	case OPT_RESTART:
		if (strcmp(value, "no") && strcmp(value, "always") &&
		    strcmp(value, "unless-stopped") &&
		    (strncmp(value, "on-failure", 10) || (value[10] && value[10] != ':') ||
		     (value[10] && !value_u32(value + 11, &times))))
			return fail("--restart '%s': no, on-failure, on-failure:N, always or "
				    "unless-stopped",
				    value);
		o->restart = value;
		return 0;
	case OPT_STOP_TIMEOUT:
		return time_option(opt, value, &o->stop_timeout);
	case OPT_IDLE_TIMEOUT:
		return time_option(opt, value, &o->idle_timeout);
	case OPT_HEALTH_CMD:
		if (!*value)
			return fail("--health-cmd needs a command");
		o->health.command = value;
		return 0;
	case OPT_HEALTH_INTERVAL:
		return time_option(opt, value, &o->health.interval);
	case OPT_HEALTH_TIMEOUT:
		return time_option(opt, value, &o->health.timeout);
	case OPT_HEALTH_START:
		return time_option(opt, value, &o->health.start_period);
	case OPT_HEALTH_RETRIES:
		if (!value_u32(value, &o->health.retries) || !o->health.retries)
			return fail("--health-retries '%s': a number, at least 1", value);
		return 0;
	case OPT_JSON:
		o->json = true;
		say_json(true);
		return 0;
	default:
		return -1;
	}
}

static int option_unknown(const char *text)
{
	char name[64];
	const char *similar;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(strcspn(text, "="), sizeof(name) - 1), text);
	similar = value_similar(name + strspn(name, "-"), &run_opts[0].name, OPT_IDLE,
				sizeof(run_opts[0]));
	if (similar)
		return fail("unknown option '%s'; did you mean '--%s'?", name, similar);
	return fail("unknown option '%s'; 'viv run --help' lists the options", name);
}

/* -e K=V, -eK=V, or switches, alone or together: -dit, as docker has them. */
static int letters_parse(struct run_options *o, char **argv, int *i)
{
	const char *text = argv[(*i)++];
	int err = 0;

	for (const char *c = text + 1; *c && !err; c++) {
		unsigned opt = 0;

		while (opt < OPT_IDLE && run_opts[opt].letter != *c)
			opt++;
		if (opt == OPT_IDLE)
			return option_unknown(text);
		if (!run_opts[opt].value) {
			err = option_apply(o, opt, NULL);
			continue;
		}
		if (!c[1] && !argv[*i])
			return fail("-%c needs a value: -%c %s", *c, *c, run_opts[opt].value);
		return option_apply(o, opt, c[1] ? c + 1 : argv[(*i)++]);
	}
	return err;
}

/* One option at argv[*i]; moves *i behind it and its value. */
static int option_parse(struct run_options *o, char **argv, int *i)
{
	const char *text = argv[*i], *equals = strchr(text, '='), *value = NULL;
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	unsigned opt;

	if (text[1] != '-')
		return letters_parse(o, argv, i);
	for (opt = 0; opt < ARRAY_LEN(run_opts); opt++)
		if (strlen(run_opts[opt].name) == n - 2 &&
		    !strncmp(text + 2, run_opts[opt].name, n - 2))
			break;
	if (opt == ARRAY_LEN(run_opts) || (!run_opts[opt].help && !o->keeper))
		return option_unknown(text);
	++*i;
	if (!run_opts[opt].value) {
		if (equals)
			return fail("--%s takes no value", run_opts[opt].name);
	} else if (equals) {
		value = equals + 1;
	} else {
		value = argv[*i];
		if (!value)
			return fail("--%s needs a value: --%s %s", run_opts[opt].name,
				    run_opts[opt].name, run_opts[opt].value);
		++*i;
	}
	return option_apply(o, opt, value);
}

const char *run_vivds_option(const struct run_options *o)
{
	unsigned opt = o->health.command	? OPT_HEALTH_CMD
		       : o->health.interval	? OPT_HEALTH_INTERVAL
		       : o->health.timeout	? OPT_HEALTH_TIMEOUT
		       : o->health.start_period ? OPT_HEALTH_START
		       : o->health.retries	? OPT_HEALTH_RETRIES
		       : o->restart		? OPT_RESTART
		       : o->stop_timeout	? OPT_STOP_TIMEOUT
		       : o->idle_timeout	? OPT_IDLE_TIMEOUT
		       : o->nlabels		? OPT_LABEL
						: OPT_IDLE;

	return opt == OPT_IDLE ? NULL : run_opts[opt].name;
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
	int i = 1, err = 0;

	o->hostname = "cell";
	while (!err && i < argc && argv[i][0] == '-' && argv[i][1]) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		err = option_parse(o, argv, &i);
	}
	if (err)
		return err;
	if (o->rm && o->name)
		return fail(
			"--rm and --name: a named cell keeps its files; leave one of them out, or "
			"use 'viv rm %s' afterwards",
			o->name);
	if (o->detach && (o->trace || o->changes))
		return fail("--detach: %s prints to the terminal; leave one of them out",
			    o->trace ? "--trace" : "--changes");
	if (!o->detach && run_vivds_option(o))
		return fail("--%s is for cells that vivd keeps; add --detach", run_vivds_option(o));
	if (!o->health.command && run_vivds_option(o) &&
	    !strncmp(run_vivds_option(o), "health-", 7))
		return fail("--%s needs --health-cmd", run_vivds_option(o));
	if (o->tty && !o->detach && !isatty(0) && !isatty(1) && !isatty(2))
		return fail("-t: there is no terminal to give to the cell; leave -t out, or make "
			    "one inside: "
			    "viv run -- script -qec COMMAND /dev/null");
	o->argv = i < argc ? argv + i : NULL;
	/* Before what the image says. A name without a value is filled in when the user is known. */
	err = run_env_set(o, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	if (!err)
		err = run_env_set(o, "HOME=");
	if (!err)
		err = run_env_set(o, "USER=");
	if (!err)
		err = run_env_set(o, "LOGNAME=");
	if (!err)
		err = run_env_set(o, "LANG=C.UTF-8");
	return err;
}

/* The users of the host image are ours to name; those of others are looked up inside. */
static int user_finish(struct run_options *o, bool stored)
{
	int err;

	if (stored) {
		if (!o->user_text)
			o->user_text = "0";
		return 0;
	}
	err = user_option(o, o->user_text ? o->user_text : "root");
	o->user_text = NULL;
	for (char **e = o->env; *e && !err; e++) {
		if (!strcmp(*e, "HOME="))
			err = env_set_pair(o, "HOME", o->home);
		else if (!strcmp(*e, "USER="))
			err = env_set_pair(o, "USER", o->user_name);
		else if (!strcmp(*e, "LOGNAME="))
			err = env_set_pair(o, "LOGNAME", o->user_name);
	}
	return err;
}

int run_options_finish(struct run_options *o, bool stored)
{
	int err = stored ? 0 : run_env_set(o, "SHELL=/bin/bash");

	if (o->detach && o->tty && !err)
		err = run_env_set(o, "TERM=xterm");
	for (unsigned i = 0; i < o->nenv_given && !err; i++)
		err = env_apply(o, o->env_given[i]);
	if (!err)
		err = user_finish(o, stored);
	if (err)
		return err;
	if (!o->workdir)
		o->workdir = "/";
	if (!o->idle && (!o->argv || !o->argv[0]))
		return fail(stored ? "no command given, and the image has none of its own"
				   : "no command given; for a shell: viv run -- /bin/bash");
	return 0;
}
