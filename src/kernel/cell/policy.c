/* Rules about files and programs, decided where it is known what a call does (task/hooks.h).
 *
 * A rule is about paths, and a hook has the very object that is used afterwards, so no link, no
 * "..", no descriptor and no chroot leads around it. What remains is that an object can have
 * several paths. Two of them are looked at, and the worse answer counts:
 *
 *   where the operator put it: the place of its file system at boot and the names from there on,
 *   which a guest's mounts, moves and pivot_root do not change;
 *
 *   where it is in the tree of mounts that it was reached by.
 *
 * A guest could give an object another path. So
 *
 *   a link or rename must not let a file be used in ways that its old name does not allow;
 *
 *   a directory is moved only if the rules say the same about all that is below it before and
 *   after;
 *
 *   nothing is mounted at or above a place where a rule forbids changes, or allows programs while
 *   others are restricted.
 *
 * A file that has several names in the image is as free as the rules make its freest name. What has
 * no name (a pipe, a memfd) is no file for the rules; a program without a name is "/(unnamed)".
 *
 * What is open stays so: reads, writes and mappings of an open file are not asked about. */
#include "kernel/cell/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/host.h"
#include "kernel/cell/journal.h"
#include "kernel/cell/question.h"
#include "kernel/net/route.h"
#include "kernel/platform/cell.h"
#include "kernel/task/hooks.h"
#include "kernel/task/proc.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "policy/compiled.h"
#include "wire/memfd.h"

#define PLACES_MAX 64
#define UNNAMED "/(unnamed)"
/* A temporary file in a directory has a name that no other file there can have. */
#define TMPFILE_NAME "/#tmpfile"

/* Where the operator put a file system. */
struct place {
	struct fs *fs; /* counted */
	struct name *root; /* counted */
	char *text; /* "" for the root */
};

static struct place places[PLACES_MAX];
static unsigned nplaces;

static struct compiled rules;
static void *rules_map;
static size_t rules_size;

/* ---- paths as text ---- */

#define TEXTS 2

/* The paths of an object; at least one, unless it is unnamed. */
struct texts {
	unsigned n;
	bool lost; /* it is in the operator's file system, nobody knows where */
	const char *path[TEXTS];
	char room[TEXTS][PATH_MAX_LEN + 16];
};

static bool name_is_in(const struct name *n, const struct name *root)
{
	while (n && n != root)
		n = n->parent;
	return n != NULL;
}

/* The names from root to n, behind the text of the place. */
static const char *place_text(const struct place *p, const struct name *n, const char *suffix,
			      char *room, size_t size)
{
	size_t at = size - 1, len = strlen(suffix), head = strlen(p->text);

	if (len + 1 > at)
		return NULL;
	room[at] = '\0';
	at -= len;
	memcpy(room + at, suffix, len);
	for (; n != p->root; n = n->parent) {
		if (at < (size_t)n->len + 1 + head)
			return NULL;
		at -= n->len;
		memcpy(room + at, n->str, n->len);
		room[--at] = '/';
	}
	if (at < head + 1)
		return NULL;
	at -= head;
	memcpy(room + at, p->text, head);
	if (!room[at])
		room[--at] = '/';
	return room + at;
}

static void texts_add(struct texts *t, const char *text)
{
	if (text && !(t->n && !strcmp(t->path[0], text)))
		t->path[t->n++] = text;
	else if (!text)
		t->lost = true;
}

static void texts_of(const struct path *p, const char *suffix, struct texts *ret)
{
	char *text;
	size_t len, more = strlen(suffix);

	ret->n = 0;
	ret->lost = false;
	for (unsigned i = 0; i < nplaces; i++) {
		if (places[i].fs != p->mnt->fs)
			continue;
		ret->lost = !name_is_in(p->name, places[i].root);
		if (ret->lost)
			continue;
		texts_add(ret, place_text(&places[i], p->name, suffix, ret->room[0],
					  sizeof(ret->room[0])));
		break;
	}
	if (path_text(p, NULL, false, ret->room[1], sizeof(ret->room[1]) - more, &text, &len) < 0)
		return;
	memmove(ret->room[1], text, len);
	if (more && !ret->room[1][1])
		ret->room[1][0] = '\0';
	strcat(ret->room[1], suffix);
	texts_add(ret, ret->room[1]);
}

/* ---- deciding ---- */

/* What a call needs, and what the rules say to all of it. */
struct need {
	struct asking ask;
	enum verdict verdict;
};

/* Longer than what a call has on its stack; one call is handled at a time. */
static struct texts at_texts, to_texts;

static void need_verdict(struct need *n, enum verdict v, const char *rule)
{
	if (v == VERDICT_ALLOW || n->verdict == VERDICT_DENY ||
	    (v == VERDICT_ASK && n->verdict == VERDICT_ASK))
		return;
	n->verdict = v;
	n->ask.rule = rule ? rule : "";
}

static void need_path(struct need *n, enum scope scope, const char *path, unsigned access)
{
	const char *rule;
	enum verdict v = compiled_decide(&rules, scope, path, access, &rule);

	need_verdict(n, v, rule);
}

static void need_texts(struct need *n, enum scope scope, const struct texts *t, unsigned access)
{
	if (t->lost && rules.restricts)
		need_verdict(n, VERDICT_DENY, NULL);
	for (unsigned i = 0; i < t->n; i++)
		need_path(n, scope, t->path[i], access);
}

/* Only what restricts is looked at. */
static void need_init(struct need *n, struct task *t, enum scope scope, const char *action,
		      unsigned access)
{
	*n = (struct need){
		.verdict = VERDICT_ALLOW,
		.ask = { .task = t, .scope = scope, .access = access, .action = action, .rule = "" }
	};
}

static int need_answer(struct need *n, const struct texts *at, const struct texts *to)
{
	if (n->verdict == VERDICT_ALLOW)
		return 0;
	n->ask.path = at->n ? at->path[0] : UNNAMED;
	n->ask.to = to && to->n ? to->path[0] : "";
	if (n->verdict == VERDICT_ASK) {
		int ret = question_ask(&n->ask);

		if (ret == -EACCES)
			journal_denied(&n->ask);
		return ret;
	}
	question_refused(&n->ask);
	journal_denied(&n->ask);
	return -EACCES;
}

static int files_ask(struct task *t, const char *action, const struct path *p, const char *suffix,
		     unsigned access)
{
	struct need n;

	need_init(&n, t, SCOPE_FILES, action, access);
	texts_of(p, suffix, &at_texts);
	need_texts(&n, SCOPE_FILES, &at_texts, access);
	return need_answer(&n, &at_texts, NULL);
}

static unsigned access_of(uint32_t flags)
{
	static const unsigned modes[] = { FILES_READ, FILES_WRITE, FILES_READ | FILES_WRITE,
					  FILES_READ | FILES_WRITE };

	return modes[flags & O_ACCMODE] | (flags & O_TRUNC ? FILES_WRITE : 0);
}

static int on_open(struct task *t, const struct path *p, uint32_t flags)
{
	if (!p->name->inode)
		return 0; /* on_name() was asked about both */
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return files_ask(t, "create", p, TMPFILE_NAME, FILES_CREATE | access_of(flags));
	return files_ask(t, "open", p, "", access_of(flags));
}

static int on_exec(struct task *t, const struct path *p, bool linker)
{
	struct need n;

	/* It is part of the program. As a program of its own it is asked about. */
	if (linker)
		return 0;
	need_init(&n, t, SCOPE_EXEC, "execute", 0);
	texts_of(p, "", &at_texts);
	if (!at_texts.n)
		need_path(&n, SCOPE_EXEC, UNNAMED, 0);
	need_texts(&n, SCOPE_EXEC, &at_texts, 0);
	return need_answer(&n, &at_texts, NULL);
}

static bool texts_allow(enum scope scope, unsigned access)
{
	struct need n;

	need_init(&n, NULL, scope, "open", access);
	need_texts(&n, scope, &at_texts, access);
	return n.verdict == VERDICT_ALLOW;
}

bool policy_allows_again(const struct path *p, uint32_t flags, bool mapped)
{
	const struct inode *ino = p->name->inode;

	texts_of(p, "", &at_texts);
	return texts_allow(SCOPE_FILES, access_of(flags)) ||
	       (mapped && ino && (ino->mode & 0111) && texts_allow(SCOPE_EXEC, 0));
}

static int on_change(struct task *t, const struct path *p)
{
	return files_ask(t, "change", p, "", FILES_WRITE);
}

/* ---- names ---- */

/* A file gets another name, by which it must not be used in ways that the old one does not allow.
 */
static void need_file_move(struct need *n, const struct texts *at, const struct texts *to)
{
	static const struct {
		enum scope scope;
		unsigned access;
	} uses[] = { { SCOPE_FILES, FILES_READ }, { SCOPE_FILES, FILES_WRITE }, { SCOPE_EXEC, 0 } };

	for (unsigned i = 0; i < ARRAY_LEN(uses); i++)
		for (unsigned k = 0; k < at->n; k++) {
			const char *rule;
			const char *other = to->n ? to->path[MIN(k, to->n - 1)] : UNNAMED;
			enum verdict v = compiled_escape(&rules, uses[i].scope, at->path[k], other,
							 uses[i].access, &rule);

			need_verdict(n, v, rule);
		}
}

/* A directory does, and with it all that is below. That cannot be asked about: what is there later
 * is not known. */
static void need_dir_move(struct need *n, const struct texts *at, const struct texts *to)
{
	for (unsigned k = 0; k < at->n; k++) {
		const char *other = to->n ? to->path[MIN(k, to->n - 1)] : UNNAMED;

		if (!compiled_may_move(&rules, at->path[k], other))
			need_verdict(n, VERDICT_DENY, NULL);
	}
}

static void need_move(struct need *n, const struct path *what, const struct texts *at,
		      const struct texts *to)
{
	const struct inode *ino = what->name->inode;

	(ino && inode_is_dir(ino) ? need_dir_move : need_file_move)(n, at, to);
}

static int on_name(struct task *t, const struct name_change *c)
{
	static const char *const actions[] = { [NAME_CREATE] = "create",
					       [NAME_LINK] = "link",
					       [NAME_RENAME] = "rename",
					       [NAME_EXCHANGE] = "rename",
					       [NAME_REMOVE] = "delete" };
	unsigned access = FILES_DELETE;
	struct need n;

	if (c->op == NAME_CREATE)
		access = FILES_CREATE | (c->node && c->node->open ? access_of(c->node->open) : 0);
	if (c->op == NAME_CREATE || c->op == NAME_REMOVE)
		return files_ask(t, actions[c->op], &c->at, "", access);
	need_init(&n, t, SCOPE_FILES, actions[c->op], 0);
	texts_of(&c->at, "", &at_texts);
	texts_of(&c->to, "", &to_texts);
	if (c->op != NAME_LINK)
		need_texts(&n, SCOPE_FILES, &at_texts,
			   FILES_DELETE | (c->op == NAME_EXCHANGE ? FILES_CREATE : 0));
	/* What it replaces is gone, and its name leads to something else. */
	need_texts(&n, SCOPE_FILES, &to_texts,
		   FILES_CREATE | (c->to.name->inode ? FILES_DELETE | FILES_WRITE : 0));
	need_move(&n, &c->at, &at_texts, &to_texts);
	if (c->op == NAME_EXCHANGE)
		need_move(&n, &c->to, &to_texts, &at_texts);
	n.ask.access = FILES_CREATE | (c->op == NAME_LINK ? 0 : FILES_DELETE);
	return need_answer(&n, &at_texts, &to_texts);
}

/* Not asked about either: what is mounted hides what is below it. */
static int on_mount(struct task *t, const struct path *p)
{
	struct need n;

	need_init(&n, t, SCOPE_FILES, "mount", FILES_WRITE);
	texts_of(p, "", &at_texts);
	for (unsigned i = 0; i < at_texts.n; i++)
		if (!compiled_may_cover(&rules, at_texts.path[i]))
			need_verdict(&n, VERDICT_DENY, NULL);
	return need_answer(&n, &at_texts, NULL);
}

/* A socket in the file system is written to. Who binds one makes a name (on_name()). */
static int on_dest(struct task *t, const struct destination *d)
{
	if (!d->at || d->use == DEST_BIND)
		return 0;
	return files_ask(t, "connect", d->at, "", FILES_WRITE);
}

static const struct hooks policy_hooks = {
	.open = on_open,
	.exec = on_exec,
	.name = on_name,
	.change = on_change,
	.mount = on_mount,
	.dest = on_dest,
};

/* ---- rules ---- */

void policy_hooks_add(void)
{
	hooks_add(&policy_hooks);
}

int policy_change(int fd)
{
	struct compiled fresh = { 0 };
	void *map = NULL;
	size_t size = 0;
	int ret = 0;

	if (fd >= 0) {
		ret = memfd_map(fd, COMPILED_MAX_BYTES, &map, &size);
		host_close(fd);
		if (ret == 0)
			ret = compiled_check(map, size, &fresh);
		if (ret < 0) {
			if (map)
				memfd_unmap(map, size);
			return ret;
		}
	}
	if (fresh.restricts != rules.restricts)
		hooks_wanted(fresh.restricts);
	if (rules_map)
		memfd_unmap(rules_map, rules_size);
	rules = fresh;
	rules_map = map;
	rules_size = size;
	questions_changed();
	return 0;
}

static int place_note(struct mount *m)
{
	static char buf[PATH_MAX_LEN + 16];
	struct place *p = &places[nplaces];
	char *text;
	size_t len;
	int ret =
		path_text(&(struct path){ m, m->root }, NULL, false, buf, sizeof(buf), &text, &len);

	if (ret < 0)
		return ret;
	if (nplaces == PLACES_MAX)
		return -ENOSPC;
	if (len == 2) { /* "/" */
		text++;
		len = 1;
	}
	p->text = blob_new(len);
	if (!p->text)
		return -ENOMEM;
	memcpy(p->text, text, len);
	p->fs = fs_get(m->fs);
	p->root = name_get(m->root);
	nplaces++;
	return 0;
}

int policy_init(void)
{
	int ret = 0;

	for (struct mount *m = mount_next(NULL); m && ret == 0; m = mount_next(m))
		ret = place_note(m);
	if (ret == 0 && cell.spec.policy_fd >= 0)
		ret = policy_change(cell.spec.policy_fd);
	return ret;
}
