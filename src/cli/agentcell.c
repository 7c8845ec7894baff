/* See agentcell.h. */
#include "cli/agentcell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/report.h"
#include "base/utf8.h"
#include "cli/agent.h"
#include "cli/copies/copies.h"
#include "cli/list.h"
#include "cli/sessionevent.h"
#include "cli/vivd.h"

/* ---- directories of the host ---- */

int mount_read(const char *option, const char *text, struct mount_text *ret, struct err *e)
{
	size_t n = strlen(text);
	char *path, *real, *dst = NULL;
	struct stat st;
	int r = -1;

	*ret = (struct mount_text){ .readonly = n > 3 && !strcmp(text + n - 3, ":ro") };
	if (ret->readonly || (n > 3 && !strcmp(text + n - 3, ":rw")))
		n -= 3;
	path = xstrndup(text, n);
	for (char *at = path; (at = strstr(at + 1, ":/"));)
		dst = at;
	if (dst)
		*dst++ = '\0';
	for (n = dst ? strlen(dst) : 0; n > 1 && dst[n - 1] == '/'; n--)
		dst[n - 1] = '\0';
	real = realpath(path, NULL);
	if (!real || stat(real, &st) < 0)
		err_set(e, ERR_USAGE, "%s: cannot find '%s': %s", option, path, strerror(errno));
	else if (!S_ISDIR(st.st_mode) && !dst)
		err_set(e, ERR_USAGE, "%s '%s' is not a directory", option, path);
	else if (strlen(real) >= sizeof(ret->source) || !text_is_utf8(real, strlen(real)))
		err_set(e, ERR_USAGE, "%s '%s' is not valid UTF-8, which vivd requires", option,
			path);
	else if (dst && (strlen(dst) >= sizeof(ret->dst) || !text_is_utf8(dst, strlen(dst))))
		err_set(e, ERR_USAGE, "%s: '%s' is not a path of a cell", option, dst);
	else
		r = 0;
	if (!r) {
		strcpy(ret->source, real);
		strcpy(ret->dst, dst ? dst : "");
	}
	free(path);
	free(real);
	return r;
}

int agent_cell_places(struct agent_cell *c, const struct args *a, struct err *e)
{
	const char *text;
	unsigned at = 0;

	while ((text = arg_next(a, "mount", &at))) {
		if (c->nmounts == ARRAY_LEN(c->mounts))
			return err_set(e, ERR_USAGE,
				       "at most %u mounts" REMEDY
				       "mount a directory above them instead",
				       SPEC_MAX_MOUNTS);
		c->mounts[c->nmounts++] = text;
	}
	if (!arg_is_on(a, "on-copy"))
		return 0;
	if (c->copy || c->nmounts > 1)
		return args_wrong(a, e, "--on-copy takes one --mount, and no --copy");
	c->copy = c->nmounts ? c->mounts[0] : ".";
	c->nmounts = 0;
	return 0;
}

static void main_set(struct agent_cell *c, const char *source, const char *target, bool copied)
{
	if (*c->source)
		return;
	snprintf(c->source, sizeof(c->source), "%s", source);
	snprintf(c->target, sizeof(c->target), "%s", target);
	c->copied = copied;
}

/* Where the agent works. */
static const char *place_of(const struct agent_cell *c, const struct json *agent)
{
	const char *dir = member_text(agent, "workdir");

	return c->mount_at ? c->mount_at : *dir ? dir : "/work";
}

/* Or is it that directory? */
static bool path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 1 || (!strncmp(path, dir, n) && (!path[n] || path[n] == '/'));
}

static int mounts_write(struct buf *b, struct agent_cell *c, const struct json *agent,
			struct err *e)
{
	const char *place = place_of(c, agent);
	struct mount_text m;

	if (!c->nmounts)
		return 0;
	json_member_add(b, "mounts", "[");
	for (unsigned i = 0; i < c->nmounts; i++) {
		const char *dst;

		if (mount_read("--mount", c->mounts[i], &m, e) < 0)
			return -1;
		dst = *m.dst ? m.dst : place;
		if (c->copy && path_is_below(c->target, dst))
			return err_set(e, ERR_USAGE,
				       "'%s' would hide the copy at '%s'" REMEDY
				       "give another place: --mount SRC:DST",
				       c->mounts[i], c->target);
		if (!strcmp(dst, place))
			main_set(c, m.source, dst, false);
		json_member_add(b, NULL, "{");
		json_member_text(b, "source", m.source);
		json_member_text(b, "target", dst);
		json_member_add(b, "readonly", m.readonly ? "true" : "false");
		buf_add_text(b, "}");
	}
	buf_add_text(b, "]");
	return 0;
}

static int copy_read(struct agent_cell *c, const struct json *agent, struct err *e)
{
	struct mount_text m;

	if (!c->copy)
		return 0;
	if (mount_read("--copy", c->copy, &m, e) < 0)
		return -1;
	if (m.readonly)
		return err_set(e, ERR_USAGE,
			       "a copy cannot be read-only" REMEDY
			       "leave ':ro' out, or mount the directory");
	main_set(c, m.source, *m.dst ? m.dst : place_of(c, agent), true);
	return 0;
}

/* As --copy of create does it. */
static int copy_put(const struct agent_cell *c, struct err *e)
{
	static struct run_options o;
	char *text;
	int r;

	o.name = c->shown;
	o.quiet = c->quiet;
	if (asprintf(&text, "%s:%s", c->source, c->target) < 0)
		return err_set(e, ERR_FAILED, "no memory");
	r = copy_option(&o, text, e);
	free(text);
	return r ? r : copies_put(&o, c->id, e);
}

/* ---- the cell ---- */

static bool secret_is_there(const struct json *list, const char *name)
{
	for (const struct json *s = list ? list->first : NULL; s; s = s->next)
		if (!strcmp(member_text(s, "name"), name))
			return true;
	return false;
}

/* A list of texts, with commas between them. */
static char *texts_join(const struct json *list)
{
	struct buf b = { 0 };

	for (const struct json *t = list ? list->first : NULL; t; t = t->next) {
		buf_add_text(&b, b.len ? ", " : "");
		buf_add_text(&b, t->text ? t->text : "");
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

/* In a cell, what the agent would miss is known before: vivd compares it with what this cell has.
 */
static int lacks_check(const struct agent_cell *c, const struct json *agent, struct err *e)
{
	const struct json *lacks = json_get(agent, "lacks", JSON_OBJECT);
	const struct json *secrets = json_get(lacks, "secrets", JSON_LIST),
			  *hosts = json_get(lacks, "hosts", JSON_LIST);
	char *text;

	if (c->copy && viv_inside())
		return err_set(e, ERR_UNSUPPORTED,
			       "--copy and --on-copy do not work in a cell" REMEDY
			       "use --mount, or copy files with 'viv cp'");
	if (secrets && !c->no_secrets) {
		text = texts_join(secrets);
		err_set(e, ERR_NOT_FOUND,
			"the agent '%s' needs a key, and this cell has no secret %s" REMEDY
			"the operator gives the cell one; --no-secrets starts the agent without",
			c->agent, text);
		free(text);
		return -1;
	}
	if (hosts) {
		text = texts_join(hosts);
		warn("the rules of this cell do not allow what the agent '%s' needs: %s" REMEDY
		     "the operator can allow it: allow net HOST",
		     c->agent, text);
		free(text);
	}
	return 0;
}

/* Those of its secrets that somebody has set; one suffices. */
static int secrets_write(struct buf *b, const struct json *agent, bool no_secrets, struct err *e)
{
	const struct json *wanted = json_get(agent, "secrets", JSON_LIST);
	struct json_doc d = { 0 };
	struct buf names = { 0 };
	int r = 0;

	if (no_secrets || !wanted || !wanted->first)
		return 0;
	/* A cell is told of those only that it has. */
	if (!viv_inside() && vivd_ask("GET", "/v1/secrets", NULL, &d, e) < 0)
		return -1;
	for (const struct json *s = wanted->first; s; s = s->next) {
		const char *name = member_text(s, "name");

		if (!viv_inside() && !secret_is_there(json_get(d.root, "secrets", JSON_LIST), name))
			continue;
		buf_add_text(&names, names.len ? "," : "[");
		json_text_add(&names, name);
	}
	json_free(&d);
	if (names.len) {
		buf_add(&names, "]", 2);
		json_member_add(b, "secrets", (char *)names.p);
	} else {
		r = err_set(e, ERR_NOT_FOUND,
			    "the agent '%s' needs a key, and there is no secret '%s'" REMEDY
			    "'viv secret set %s' asks for it; --no-secrets starts the agent "
			    "without one",
			    member_text(agent, "name"), member_text(wanted->first, "name"),
			    member_text(wanted->first, "name"));
	}
	buf_free(&names);
	return r;
}

static void value_write(struct buf *b, const char *name, const struct json *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = v ? open_memstream(&text, &n) : NULL;

	if (!mem)
		return;
	json_value_print(mem, v, false);
	fclose(mem);
	json_member_add(b, name, text);
	free(text);
}

static int spec_write(struct buf *b, struct agent_cell *c, const struct json *agent, struct err *e)
{
	char name[80];
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_set(e, ERR_FAILED, "cannot read random bytes");
	snprintf(name, sizeof(name), "%.40s-%06x", c->agent, random & 0xffffff);
	buf_add_text(b, "{");
	json_member_text(b, "name", c->name ? c->name : c->unnamed ? NULL : name);
	json_member_text(b, "image", member_text(agent, "image"));
	value_write(b, "policy", json_get(agent, "network", JSON_LIST));
	value_write(b, "env", json_get(agent, "env", JSON_OBJECT));
	if (c->idle)
		json_member_add(b, "idle_timeout", c->idle);
	/* The files of a copy come before the first start. */
	if (c->start && !c->copy)
		json_member_add(b, "start", "true");
	if (secrets_write(b, agent, c->no_secrets, e) < 0 || copy_read(c, agent, e) < 0 ||
	    mounts_write(b, c, agent, e) < 0)
		return -1;
	if (*c->target)
		json_member_text(b, "workdir", c->target);
	buf_add(b, "}", 2);
	return 0;
}

static void cell_note(struct agent_cell *c, const struct json *cell)
{
	snprintf(c->id, sizeof(c->id), "%s", member_text(cell, "id"));
	snprintf(c->shown, sizeof(c->shown), "%s", cell_shown(cell));
}

static int cell_make(struct agent_cell *c, const struct json *agent, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	if (strcmp(member_text(agent, "image"), "host") && !*member_text(agent, "image_id"))
		return err_set(e, ERR_NOT_FOUND,
			       "the agent '%s' has no image" REMEDY "'viv agent add %s' makes it",
			       c->agent, c->agent);
	if (lacks_check(c, agent, e) < 0)
		return -1;
	r = spec_write(&b, c, agent, e);
	if (!r)
		r = vivd_ask("POST", "/v1/cells", (char *)b.p, &d, e);
	buf_free(&b);
	if (r < 0)
		return -1;
	cell_note(c, d.root);
	json_free(&d);
	c->made = true;
	if (!c->copy)
		return 0;
	r = copy_put(c, e);
	if (!r && c->start)
		r = vivd_ask("POST", cell_path(c->id, "/start").str, NULL, NULL, e);
	/* A cell without its files is of no use. */
	if (r < 0)
		agent_cell_drop(c);
	return r;
}

/* ---- a cell that is there ---- */

/* The mount of a directory of the host; NULL: it has none. */
static const struct json *mount_of(const struct json *cell, const char *source)
{
	const struct json *mounts =
		json_get(json_get(cell, "spec", JSON_OBJECT), "mounts", JSON_LIST);

	for (const struct json *m = mounts ? mounts->first : NULL; m; m = m->next)
		if (!strcmp(member_text(m, "source"), source))
			return m;
	return NULL;
}

static int mounts_find(struct agent_cell *c, const struct json *cell, struct err *e)
{
	const char *place = member_text(json_get(cell, "spec", JSON_OBJECT), "workdir");

	for (unsigned i = 0; i < c->nmounts; i++) {
		const struct json *found;
		struct mount_text m;

		if (mount_read("--mount", c->mounts[i], &m, e) < 0)
			return -1;
		found = mount_of(cell, m.source);
		if (!found || (*m.dst && strcmp(m.dst, member_text(found, "target"))))
			return err_set(e, ERR_CONFLICT,
				       "cell '%s' exists, without a mount of '%s'" REMEDY
				       "leave --mount out, or choose another cell",
				       c->shown, c->mounts[i]);
		if (!*m.dst || !strcmp(m.dst, place))
			main_set(c, m.source, member_text(found, "target"), false);
	}
	return 0;
}

/* The copy that it has: that of --copy, or the first one if nothing else is asked for. */
static int copy_find(struct agent_cell *c, struct err *e)
{
	struct mount_text m = { 0 };
	struct copies all;
	struct err unused;

	if (c->copy && mount_read("--copy", c->copy, &m, e) < 0)
		return -1;
	if (!*c->source && copies_read(&all, c->id, &unused) == 0) {
		for (unsigned i = 0; i < all.n; i++)
			if (!c->copy || !strcmp(all.v[i].dir, m.source))
				main_set(c, all.v[i].dir, all.v[i].dst, true);
		copies_fini(&all);
	}
	return c->copy && !c->copied ? err_set(e, ERR_CONFLICT,
					       "cell '%s' exists, without a copy of '%s'" REMEDY
					       "choose another cell",
					       c->shown, m.source)
				     : 0;
}

static int cell_use(struct agent_cell *c, const struct json *cell, struct err *e)
{
	cell_note(c, cell);
	if (mounts_find(c, cell, e) < 0 || copy_find(c, e) < 0)
		return -1;
	return c->start && strcmp(member_text(cell, "state"), "running")
		       ? vivd_ask("POST", cell_path(c->id, "/start").str, NULL, NULL, e)
		       : 0;
}

int agent_cell_get(struct agent_cell *c, struct err *e)
{
	struct json_doc d = { 0 };
	int r;

	if (c->name && vivd_ask("GET", cell_path(c->name, "").str, NULL, &d, e) == 0) {
		r = cell_use(c, d.root, e);
		json_free(&d);
		return r;
	}
	if (c->name && (e->kind != ERR_NOT_FOUND || !c->agent))
		return -1;
	if (c->def)
		return cell_make(c, c->def, e);
	if (agent_ask(c->agent, &d, e) < 0)
		return -1;
	r = cell_make(c, d.root, e);
	json_free(&d);
	return r;
}

void agent_cell_drop(const struct agent_cell *c)
{
	struct err e;

	/* What ran in it may have run for hours. */
	vivd_disconnect();
	if (vivd_ask("DELETE", cell_path(c->id, "?force=1").str, NULL, NULL, &e) < 0 &&
	    e.kind != ERR_NOT_FOUND)
		report(&e);
}
