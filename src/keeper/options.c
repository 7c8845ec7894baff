/* What the command line and the image left open: the environment and the user of the first
 * process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keeper/run.h"
#include "keeper/secrets.h"

static const struct user {
	const char *name, *home;
	uint32_t uid, gid;
} users[] = {
	{ "root", "/root", 0, 0 },
	{ "agent", "/home/agent", 1000, 1000 },
	{ "nobody", "/nonexistent", 65534, 65534 },
};

/* Takes text, K=V. */
static void env_put(struct run_options *o, char *text)
{
	size_t n = 0, name = strcspn(text, "=");
	char **list;

	for (; o->env && o->env[n]; n++)
		if (!strncmp(o->env[n], text, name) && o->env[n][name] == '=') {
			o->env[n] = run_keep(o, text);
			return;
		}
	list = xalloc((n + 2) * sizeof(*list));
	if (n)
		memcpy(list, o->env, n * sizeof(*list));
	free(o->env);
	o->env = list;
	list[n] = run_keep(o, text);
	list[n + 1] = NULL;
}

static void env_begin(struct run_options *o)
{
	/* Before what the image says. A name without a value is filled in when the user is
	 * known. */
	static const char *const begin[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=",
		"USER=",
		"LOGNAME=",
		"LANG=C.UTF-8",
	};

	for (unsigned i = 0; i < ARRAY_LEN(begin) && (i || !o->env); i++)
		env_put(o, xstrndup(begin[i], strlen(begin[i])));
}

void run_env_set(struct run_options *o, const char *text)
{
	env_begin(o);
	env_put(o, xstrndup(text, strlen(text)));
}

static void env_set_pair(struct run_options *o, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) < 0)
		abort();
	run_env_set(o, run_keep(o, text));
}

static void env_apply(struct run_options *o, const char *text)
{
	const char *value = strchr(text, '=') ? NULL : getenv(text);

	if (strchr(text, '='))
		run_env_set(o, text);
	else if (value)
		env_set_pair(o, text, value);
}

static int user_option(struct run_options *o, const char *text, struct err *e)
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
			return err_set(e, ERR_USAGE,
				       "--user '%s': a cell has root, agent and nobody" REMEDY
				       "others by "
				       "number (UID or UID:GID)",
				       text);
		o->gid = o->uid;
		o->user_name = run_keep_text(o, uid);
		o->home = "/";
	}
	if (colon && (!value_u32(colon + 1, &o->gid) || o->gid == UINT32_MAX))
		return err_set(e, ERR_USAGE, "--user '%s': the group after ':' must be a number",
			       text);
	return 0;
}

/* The users of the host image are ours to name; those of others are looked up inside. */
static int user_finish(struct run_options *o, bool stored, struct err *e)
{
	int err;

	if (stored) {
		if (!o->user_text)
			o->user_text = "0";
		return 0;
	}
	err = user_option(o, o->user_text ? o->user_text : "root", e);
	o->user_text = NULL;
	for (char **v = o->env; *v && !err; v++) {
		if (!strcmp(*v, "HOME="))
			env_set_pair(o, "HOME", o->home);
		else if (!strcmp(*v, "USER="))
			env_set_pair(o, "USER", o->user_name);
		else if (!strcmp(*v, "LOGNAME="))
			env_set_pair(o, "LOGNAME", o->user_name);
	}
	return err;
}

/* The commands of tools are behind those of the image. */
static void tools_env(struct run_options *o)
{
	static const char dir[] = ":/run/viv/bin";
	char *text;

	if (!door_is_wanted(o))
		return;
	run_env_set(o, "VIV_SOCK=/run/viv/sock");
	for (char **v = o->env; *v; v++) {
		if (strncmp(*v, "PATH=", 5))
			continue;
		if (asprintf(&text, "%s%s", *v, dir) < 0)
			abort();
		env_put(o, text);
		return;
	}
}

int run_options_finish(struct run_options *o, bool stored, struct err *e)
{
	int err;

	if (journal_default_check(e) < 0)
		return -1;
	env_begin(o);
	if (!stored)
		run_env_set(o, "SHELL=/bin/bash");
	if (o->detach && o->tty)
		run_env_set(o, "TERM=xterm");
	if (secrets_read(o, e) < 0)
		return -1;
	for (unsigned i = 0; i < o->env_given.n; i++)
		env_apply(o, o->env_given.v[i]);
	tools_env(o);
	if (rules_env(o, e) < 0)
		return -1;
	err = user_finish(o, stored, e);
	if (err)
		return err;
	if (o->stop_signal_text)
		o->stop_signal = value_signal(o->stop_signal_text);
	if (!o->workdir)
		o->workdir = "/";
	if (!o->idle && (!o->argv || !o->argv[0]))
		return err_set(e, ERR_USAGE,
			       stored ? "no command given, and the image has none of its own"
				      : "no command given" REMEDY
					"for a shell: viv run -- /bin/bash");
	return 0;
}

void run_execspec(const struct run_options *o, bool stored, struct execspec *ret,
		  struct run_user *user)
{
	*ret = (struct execspec){
		.argv = o->argv, .envp = o->env, .cwd = o->workdir, .user = o->user_text
	};
	/* The host image's root is who the cell runs as anyway. */
	if (!stored && (o->uid || o->gid)) {
		snprintf(user->text, sizeof(user->text), "%u:%u", o->uid, o->gid);
		ret->user = user->text;
	}
}
