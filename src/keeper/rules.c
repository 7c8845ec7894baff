/* The rules of a cell: which part of it decides by which of them. net is viv-gate's, which reads
 * the rules as text; files and exec are the kernel's, which gets them compiled (policy/compiled.h);
 * env is decided here, for each process that is started from outside. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/keeper.h"
#include "policy/policy.h"
#include "wire/execspec.h"
#include "wire/memfd.h"

static int rules_read(char *const *lines, struct policy *p, struct err *e)
{
	policy_init(p);
	for (; lines && *lines; lines++)
		if (policy_parse(p, *lines, strlen(*lines), "policy", 0, 0, e) < 0)
			return -1;
	return 0;
}

int rules_compile(char *const *lines, int *ret_fd, struct err *e)
{
	struct buf bytes = { 0 };
	struct policy p;
	int ret = rules_read(lines, &p, e);

	*ret_fd = -1;
	if (ret == 0 && policy_compile(&p, &bytes)) {
		*ret_fd = memfd_sealed("viv-policy", bytes.p, bytes.len);
		if (*ret_fd < 0)
			ret = err_set(e, ERR_FAILED, "cannot hand the policy over: %s",
				      strerror(-*ret_fd));
	}
	buf_free(&bytes);
	policy_fini(&p);
	return ret;
}

bool rules_have_net(char *const *lines)
{
	struct policy p;
	struct err e;
	bool found = rules_read(lines, &p, &e) < 0; /* the gate says what is wrong with them */

	found = found || policy_has_net(&p);
	policy_fini(&p);
	return found;
}

/* ---- variables ---- */

static bool env_is_denied(const struct policy *p, const char *variable)
{
	char name[256];
	size_t n = strcspn(variable, "=");

	/* What cannot be compared is not given. */
	if (n >= sizeof(name))
		return true;
	memcpy(name, variable, n);
	name[n] = '\0';
	return policy_env(p, name).verdict != VERDICT_ALLOW;
}

static bool rules_have_env(const struct policy *p)
{
	for (unsigned i = 0; i < policy_count(p); i++)
		if (policy_rule(p, i)->scope == SCOPE_ENV)
			return true;
	return false;
}

/* Takes denied ones out of a list. */
static unsigned env_keep(const struct policy *p, char **env, struct buf *denied)
{
	unsigned n = 0, removed = 0;

	for (unsigned i = 0; env[i]; i++) {
		if (!env_is_denied(p, env[i])) {
			env[n++] = env[i];
			continue;
		}
		buf_add_text(denied, removed++ ? ", " : "");
		buf_add(denied, env[i], strcspn(env[i], "="));
	}
	env[n] = NULL;
	buf_add_text(denied, "");
	return removed;
}

int rules_env(const struct run_options *o, struct err *e)
{
	struct buf denied = { 0 };
	struct policy p;
	int ret = rules_read(o->policy, &p, e);

	if (ret == 0 && rules_have_env(&p) && env_keep(&p, o->env, &denied) && !o->quiet)
		warn("variables that the policy keeps from the cell: %s", (const char *)denied.p);
	buf_free(&denied);
	policy_fini(&p);
	return ret;
}

/* The same spec with fewer variables; -errno. */
static int spec_without(const struct policy *p, const struct execspec_view *v)
{
	char **words = xalloc(((size_t)v->argc + v->envc + 2) * sizeof(*words));
	struct execspec s = { .flags = v->flags,
			      .argv = words,
			      .envp = words + v->argc + 1,
			      .cwd = v->cwd,
			      .user = v->user };
	const char *at = v->words;
	struct buf denied = { 0 };
	int fd;

	for (uint32_t i = 0; i < v->argc + v->envc; i++, at += strlen(at) + 1)
		words[i + (i >= v->argc)] = (char *)(uintptr_t)at;
	words[v->argc] = words[v->argc + 1 + v->envc] = NULL;
	if (env_keep(p, s.envp, &denied)) {
		struct buf line = { 0 };

		buf_add_text(&line, "denied: variables of a process: ");
		buf_add_text(&line, (const char *)denied.p);
		event_add(KEEP_EV_DENIED, NULL, 0, 0, (const char *)line.p);
		buf_free(&line);
	}
	fd = execspec_write(&s);
	buf_free(&denied);
	free(words);
	return fd;
}

int rules_exec(char *const *lines, int spec)
{
	struct execspec_view v;
	struct policy p;
	struct err e;
	size_t size;
	void *map;
	int fd = spec;

	if (!lines || !*lines)
		return spec;
	if (rules_read(lines, &p, &e) < 0) {
		fd = -1;
	} else if (rules_have_env(&p)) {
		fd = -1;
		if (execspec_map(spec, &v, &map, &size) == 0) {
			fd = spec_without(&p, &v);
			execspec_unmap(map, size);
		}
	}
	policy_fini(&p);
	if (fd != spec)
		close(spec);
	return fd < 0 ? -1 : fd;
}

bool rules_may_have_cells(char *const *lines)
{
	struct policy p;
	struct err unused;
	bool may = rules_read(lines, &p, &unused) == 0 && policy_may_have_cells(&p);

	policy_fini(&p);
	return may;
}

bool door_is_wanted(const struct run_options *o)
{
	bool any = o->tools && o->tools[0];
	struct policy p;
	struct err unused;

	any |= rules_read(o->policy, &p, &unused) == 0 &&
	       (policy_has_tools(&p) || policy_may_have_cells(&p));
	policy_fini(&p);
	return any;
}
