/* viv cp: files between a cell and the host, by way of vivd, as docker cp does it:
 *
 *   a file      into a directory that is there, under its own name; else as that path, whose
 *               directory must be there
 *   a directory becomes that path when nothing is there; into a directory that is there under
 *   its own name, or, with "/." behind it, what is in it
 *   -           a tar archive from standard input or to standard output
 *
 * Between the two goes a tar archive (files/tar.h). What comes from a cell is a stranger's: all of
 * it goes to the one name that was asked for, whatever names and links it has (with "/." behind it:
 * into the directory), and gives nobody rights here, unless -a asks for all that there is. A link
 * is copied itself, unless -L says otherwise; where it is the destination, it is followed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/buf.h"
#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/cp.h"
#include "cli/vivd.h"
#include "files/tar.h"

#define LINKS 40

/* What is at a path, here or in the cell. */
struct there {
	bool exists, is_dir;
};

struct copy {
	struct viv_client *client;
	char *cell, *path; /* path begins with a slash */
	const char *local;
	bool archive, follow;
	const char *bar; /* shown while it is sent; NULL: nothing is */
	int64_t began;
	struct tar_count count; /* of what is not an archive already */
	uint64_t archive_bytes; /* of one that is */
	char about[TAR_ABOUT];
	struct viv_error error;
	bool cut; /* error tells why the transfer broke */
	struct err *e; /* the verb's */
};

/* ---- words ---- */

/* CELL:PATH in two, the caller's to free; false: it is a local path. */
static bool place_split(const char *word, char **cell, char **path)
{
	const char *colon = strchr(word, ':');

	if (!colon || colon == word || word[0] == '/' || word[0] == '.')
		return false;
	*cell = xstrndup(word, (size_t)(colon - word));
	*path = xalloc(strlen(colon) + 2);
	sprintf(*path, "%s%s", colon[1] == '/' ? "" : "/", colon + 1);
	return true;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Without slashes at its end. */
static void slashes_drop(char *path)
{
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
}

/* The directory of a path and its last name, the caller's to free. */
static void path_split(const char *path, char **dir, char **name)
{
	const char *slash = strrchr(path, '/');

	*name = xstrndup(slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
	*dir = !slash	       ? xstrndup(".", 1)
	       : slash == path ? xstrndup("/", 1)
			       : xstrndup(path, (size_t)(slash - path));
}

static void escaped_add(struct buf *b, const char *s)
{
	char code[4];

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || strchr("/-_.~", c);

		if (plain) {
			buf_add(b, s, 1);
		} else {
			snprintf(code, sizeof(code), "%%%02X", c);
			buf_add(b, code, 3);
		}
	}
}

/* The path of a request, the caller's to free. */
static char *request_path(const struct copy *c, const char *what, const char *path,
			  const char *more)
{
	struct buf b = { 0 };

	buf_add(&b, "/v1/cells/", 10);
	for (const char *s = c->cell; *s; s++) {
		char one[2] = { *s, 0 };

		if (*s == '/')
			buf_add(&b, "%2F", 3);
		else
			escaped_add(&b, one);
	}
	buf_add(&b, "/files/", 7);
	buf_add(&b, what, strlen(what));
	buf_add(&b, "?path=", 6);
	escaped_add(&b, path);
	buf_add(&b, more, strlen(more) + 1);
	return (char *)b.p;
}

/* ---- looking ---- */

/* What is at a path of the cell. The target of a link is the caller's to free, NULL: it is none. */
static int cell_stat(struct copy *c, const char *path, bool follow, struct there *t, char **target)
{
	char *request = request_path(c, "stat", path, follow ? "&follow=1" : "");
	struct json_doc d = { 0 };
	const char *type, *to;
	int r = vivd_ask("GET", request, NULL, &d, c->e);

	free(request);
	*t = (struct there){ 0 };
	*target = NULL;
	/* No such file has a cause; no such cell has none. */
	if (r < 0)
		return c->e->kind == ERR_NOT_FOUND && c->e->cause[0] ? 0 : -1;
	type = json_get_text(d.root, "type");
	to = json_get_text(d.root, "target");
	t->exists = true;
	t->is_dir = type && !strcmp(type, "directory");
	if (to)
		*target = xstrndup(to, strlen(to));
	json_free(&d);
	return 0;
}

/* The destination in the cell, c->path, with links at its end followed. */
static int cell_find(struct copy *c, struct there *t)
{
	char *target, *dir, *name, *next;

	for (int i = 0; i < LINKS; i++) {
		if (cell_stat(c, c->path, false, t, &target) < 0)
			return -1;
		if (!target)
			return 0;
		path_split(c->path, &dir, &name);
		next = xalloc(strlen(dir) + strlen(target) + 2);
		if (target[0] == '/')
			strcpy(next, target);
		else
			sprintf(next, "%s/%s", dir, target);
		free(dir);
		free(name);
		free(target);
		free(c->path);
		c->path = next;
	}
	return err_set(c->e, ERR_FAILED, "the links at the destination lead nowhere");
}

/* Where a copy goes: into a directory, under a name (NULL: its own). The caller's to free. */
struct goal {
	char *dir, *name;
};

/* docker's rules. from_dir: a directory is copied. */
static int goal_find(const char *to, const struct there *t, bool from_dir, struct goal *g,
		     struct err *e)
{
	char *path = xstrndup(to, strlen(to));

	*g = (struct goal){ 0 };
	if (t->exists && t->is_dir) {
		g->dir = path;
		return 0;
	}
	if (t->exists && from_dir) {
		free(path);
		return err_set(e, ERR_CONFLICT,
			       "cannot copy a directory onto '%s', which is a file", to);
	}
	if (!from_dir && ends_with(to, "/")) {
		free(path);
		return err_set(e, ERR_NOT_FOUND,
			       "there is no directory '%s' to copy into" REMEDY "make it first",
			       to);
	}
	slashes_drop(path);
	path_split(path, &g->dir, &g->name);
	free(path);
	return 0;
}

static void goal_free(struct goal *g)
{
	free(g->dir);
	free(g->name);
}

/* ---- out of the cell ---- */

static ssize_t answer_read(void *arg, void *buf, size_t n)
{
	struct copy *c = arg;
	long got = viv_get_data(c->client, buf, n, &c->error);

	if (got >= 0)
		return got;
	c->cut = true;
	return -EIO;
}

static int answer_print(struct copy *c)
{
	char buf[65536];
	ssize_t n;

	while ((n = answer_read(c, buf, sizeof(buf))) > 0)
		for (ssize_t done = 0; done < n;) {
			ssize_t some = write(1, buf + done, (size_t)(n - done));

			if (some < 0 && errno == EINTR)
				continue;
			if (some < 0)
				return err_set(c->e, ERR_FAILED, "cannot write the archive: %s",
					       strerror(errno));
			done += some;
		}
	return n < 0 ? viv_error_get(&c->error, c->e) : 0;
}

static int unpack(struct copy *c, const struct goal *g)
{
	const struct tar_in in = { .read = answer_read, .arg = c, .count = &c->count };
	const struct tar_rules rules = { .owners = c->archive && geteuid() == 0,
					 .uid = -1,
					 .gid = -1,
					 .rename = g->name,
					 .plain = !c->archive };
	int dir = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;
	mode_t mask;

	if (dir < 0)
		return err_set(c->e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot copy to '%s': %s", g->dir, strerror(errno));
	mask = umask(0);
	ret = tar_unpack(&in, dir, &rules, c->about);
	umask(mask);
	close(dir);
	if (ret == 0)
		return 0;
	if (c->cut)
		return viv_error_get(&c->error, c->e);
	if (ret == -EXDEV)
		return err_set(c->e, ERR_FAILED, "'%s' is not copied: it leads out of '%s'",
			       c->about, g->dir);
	return err_set(c->e, ERR_FAILED, "cannot copy '%s': %s", c->about,
		       ret == -EILSEQ ? "the archive is damaged" : strerror(-ret));
}

/* Into a directory: under the name that was asked for, and not under those that the archive has. */
static void goal_pin(const struct copy *c, struct goal *g)
{
	char *path = xstrndup(c->path, strlen(c->path)), *dir;

	slashes_drop(path);
	path_split(path, &dir, &g->name);
	if (!g->name[0] || !strcmp(g->name, ".")) { /* what is in it */
		free(g->name);
		g->name = NULL;
	}
	free(dir);
	free(path);
}

static int copy_out(struct copy *c)
{
	struct there from, to = { 0 };
	struct viv_reply reply;
	struct goal g = { 0 };
	struct stat st;
	char *target, *request, *real = NULL;
	int r;

	if (cell_stat(c, c->path, c->follow || ends_with(c->path, "/"), &from, &target) < 0)
		return -1;
	free(target);
	if (!from.exists)
		return err_set(c->e, ERR_NOT_FOUND, "there is no '%s' in cell '%s'", c->path,
			       c->cell);
	if (strcmp(c->local, "-")) {
		to.exists = stat(c->local, &st) == 0;
		to.is_dir = to.exists && S_ISDIR(st.st_mode);
		real = to.exists ? realpath(c->local, NULL) : NULL;
		r = goal_find(real && !ends_with(c->local, "/") ? real : c->local, &to, from.is_dir,
			      &g, c->e);
		free(real);
		if (r < 0)
			return -1;
	} else if (isatty(1)) {
		return err_set(c->e, ERR_USAGE,
			       "the archive is not for a terminal" REMEDY
			       "send it to a file or to tar");
	}
	if (g.dir && !g.name)
		goal_pin(c, &g);
	request = request_path(c, "tar", c->path, c->follow ? "&follow=1" : "");
	if (viv_get_begin(c->client, request, &reply, &c->error) < 0) {
		r = viv_error_get(&c->error, c->e);
	} else if (reply.status != 200) {
		r = vivd_refusal(&reply, c->e);
		viv_reply_free(&reply);
	} else {
		r = g.dir ? unpack(c, &g) : answer_print(c);
	}
	free(request);
	goal_free(&g);
	return r;
}

/* ---- into the cell ---- */

static int body_write(void *arg, const void *data, size_t n)
{
	struct copy *c = arg;

	if (c->bar)
		bar_print(c->bar, c->count.entries, c->count.bytes, 0, 0, c->began);
	if (viv_put_data(c->client, data, n, &c->error) == 0)
		return 0;
	c->cut = true;
	return -EIO;
}

static int input_send(struct copy *c)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(0, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || body_write(c, buf, (size_t)n) < 0)
			return n < 0 ? -errno : -EIO;
		c->archive_bytes += (uint64_t)n;
	}
	return 0;
}

/* Packs c->local under the name shown. */
static int tree_send(struct copy *c, const char *shown)
{
	const struct tar_out out = { .write = body_write, .arg = c, .count = &c->count };
	char *path = xstrndup(c->local, strlen(c->local)), *dir, *name, *real = NULL;
	int at, ret;

	slashes_drop(path);
	if (c->follow)
		real = realpath(path, NULL);
	path_split(real && strcmp(shown, ".") ? real : path, &dir, &name);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = at < 0 ? -errno : tar_pack(&out, at, *name ? name : ".", shown, c->about);
	if (at >= 0)
		close(at);
	free(real);
	free(path);
	free(dir);
	free(name);
	return ret;
}

/* The name under which it is packed. */
static char *shown_find(const struct copy *c, const struct goal *g, bool content)
{
	char *path, *dir, *name;

	if (g->name)
		return xstrndup(g->name, strlen(g->name));
	if (content)
		return xstrndup(".", 1);
	path = xstrndup(c->local, strlen(c->local));
	slashes_drop(path);
	path_split(path, &dir, &name);
	if (!strcmp(name, "..") || !strcmp(name, ".") || !*name) {
		free(name);
		name = xstrndup(".", 1);
	}
	free(dir);
	free(path);
	return name;
}

/* more: of the request's query. */
static int send_all(struct copy *c, const struct goal *g, const char *shown, const char *more)
{
	char *request = request_path(c, "tar", g->dir, more);
	struct viv_reply reply;
	int r = viv_put_begin(c->client, request, &c->error);

	free(request);
	if (r < 0)
		return viv_error_get(&c->error, c->e);
	r = shown ? tree_send(c, shown) : input_send(c);
	/* The half of it that vivd has is not an archive: the connection just ends. */
	if (r < 0 && !c->cut)
		return err_set(c->e, ERR_FAILED, "cannot copy '%s': %s",
			       shown && c->about[0] ? c->about : c->local, strerror(-r));
	if (viv_put_end(c->client, &reply, &c->error) < 0)
		return viv_error_get(&c->error, c->e);
	r = reply.status >= 300 ? vivd_refusal(&reply, c->e) : 0;
	viv_reply_free(&reply);
	return r;
}

static int copy_in(struct copy *c)
{
	bool stream = !strcmp(c->local, "-"),
	     content = ends_with(c->local, "/.") || !strcmp(c->local, "."), dir;
	struct goal g = { 0 };
	struct there to;
	struct stat st;
	char *shown = NULL;
	int r;

	if (!stream && (c->follow || ends_with(c->local, "/") ? stat(c->local, &st)
							      : lstat(c->local, &st)) < 0)
		return err_set(c->e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot copy '%s': %s", c->local, strerror(errno));
	dir = !stream && S_ISDIR(st.st_mode);
	if (cell_find(c, &to) < 0)
		return -1;
	if (stream && !to.is_dir)
		return err_set(c->e, ERR_NOT_FOUND, "there is no directory '%s' in cell '%s'",
			       c->path, c->cell);
	if (goal_find(c->path, &to, dir || stream, &g, c->e) < 0)
		return -1;
	if (!stream)
		shown = shown_find(c, &g, content);
	r = send_all(c, &g, shown, c->archive || !shown ? "" : "&uid=0&gid=0");
	free(shown);
	goal_free(&g);
	return r;
}

int tree_copy_in(const char *cell, const char *dir, const char *path, struct tree_owner owner,
		 bool quiet, struct err *e)
{
	struct copy *c = xalloc(sizeof(*c));
	char more[64], *local = xalloc(strlen(dir) + 3);
	int r;

	sprintf(local, "%s/.", dir);
	snprintf(more, sizeof(more), "&uid=%u&gid=%u", owner.uid, owner.gid);
	c->e = e;
	c->cell = xstrndup(cell, strlen(cell));
	c->local = local;
	c->bar = !quiet && isatty(STDERR_FILENO) ? "copy" : NULL;
	c->began = bar_now();
	r = vivd_connect(&c->client, e);
	if (!r)
		r = send_all(c, &(struct goal){ .dir = (char *)path }, ".", more);
	/* What was half sent is no request any more. */
	if (r < 0)
		vivd_disconnect();
	if (c->bar)
		bar_clear();
	free(c->cell);
	free(local);
	free(c);
	return r;
}

/* One object. What goes to standard output itself is the archive, and nothing else. */
static void copy_print(const struct copy *c, bool out)
{
	bool stream = !strcmp(c->local, "-");

	if (out && stream)
		return;
	printf("{\"cell\":");
	json_quoted(stdout, c->cell);
	printf(",\"%s\":", out ? "from" : "to");
	json_quoted(stdout, c->path);
	printf(",\"%s\":", out ? "to" : "from");
	json_quoted(stdout, c->local);
	if (stream)
		printf(",\"archive_bytes\":%llu}\n", (unsigned long long)c->archive_bytes);
	else
		printf(",\"entries\":%llu,\"bytes\":%llu}\n", (unsigned long long)c->count.entries,
		       (unsigned long long)c->count.bytes);
}

int cp_main(struct args *a, struct err *e)
{
	struct copy *c = xalloc(sizeof(*c));
	char *other_cell = NULL, *other_path = NULL;
	bool out = place_split(a->words[0], &c->cell, &c->path);
	int r;

	if (place_split(a->words[1], out ? &other_cell : &c->cell, out ? &other_path : &c->path) ==
	    out)
		return err_set(e, ERR_USAGE,
			       out ? "one of the two places is the host: copy to a local path first"
				   : "one of the two places is in a cell, written CELL:PATH");
	c->e = e;
	c->local = a->words[out ? 1 : 0];
	c->archive = arg_is_on(a, "archive");
	c->follow = arg_is_on(a, "follow-link");
	r = vivd_connect(&c->client, e);
	if (!r)
		r = out ? copy_out(c) : copy_in(c);
	if (!r && a->json)
		copy_print(c, out);
	free(c->cell);
	free(c->path);
	free(c);
	return r;
}
