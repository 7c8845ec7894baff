/* viv prune: removes what nobody needs any more. It says what that is, and asks at a terminal; elsewhere --force is the answer. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/cells.h"
#include "cli/list.h"
#include "cli/vivd.h"
#include "keeper/client.h"

#define MAX_ITEMS 4096

struct items {
	char *name[MAX_ITEMS];
	unsigned n;
};

struct plan {
	struct items cells, images, files;
};

static void item_add(struct items *l, const char *name)
{
	if (l->n < MAX_ITEMS)
		l->name[l->n++] = xstrndup(name, strlen(name));
}

static void items_free(struct items *l)
{
	while (l->n)
		free(l->name[--l->n]);
}

/* ---- finding ---- */

static int cells_find(struct viv_client *c, struct plan *p, struct json_doc *d)
{
	const struct json *list;
	int status = vivd_ask(c, "GET", "/v1/cells", NULL, d);

	list = status ? NULL : json_get(d->root, "cells", JSON_LIST);
	for (const struct json *x = list ? list->first : NULL; x; x = x->next) {
		const char *state = json_show(x, "state");

		if (!*json_show(x, "name") && !*json_show(x, "restart_at") &&
		    (!strcmp(state, "stopped") || !strcmp(state, "failed") ||
		     !strcmp(state, "created")))
			item_add(&p->cells, json_show(x, "id"));
	}
	return status;
}

static bool is_known(const struct json *list, const char *id, size_t len)
{
	for (const struct json *x = list ? list->first : NULL; x; x = x->next)
		if (strlen(json_show(x, "id")) == len && !strncmp(json_show(x, "id"), id, len))
			return true;
	return false;
}

static bool live_step(void *arg, const char *id)
{
	item_add(arg, id);
	return true;
}

/* Files in RUN/cells of cells that neither vivd nor a keeper knows. keep_each removes sockets that nobody listens on. */
static void files_find(struct plan *p, const struct json *cells)
{
	struct items live = { .n = 0 };
	struct err e;
	int fd = keep_cells_dir(&e);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (keep_each(live_step, &live, &e) == 0) {
		while ((de = readdir(dir))) {
			size_t len = strcspn(de->d_name, ".");
			bool used = !len || is_known(cells, de->d_name, len);

			for (unsigned i = 0; i < live.n && !used; i++)
				used = strlen(live.name[i]) == len &&
				       !strncmp(live.name[i], de->d_name, len);
			if (!used &&
			    (strstr(de->d_name + len, ".log") || !strcmp(de->d_name + len, ".end")))
				item_add(&p->files, de->d_name);
		}
	}
	items_free(&live);
	closedir(dir);
}

static bool is_tagged(const struct tag *tags, size_t n, const char *hash)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(tags[i].hash, hash))
			return true;
	return false;
}

/* Those that cells use are among them, and stay. */
static int images_find(struct plan *p, struct err *e)
{
	char(*hashes)[HASH_TEXT] = NULL;
	struct tag *tags = NULL;
	size_t n = 0, ntags = 0;
	struct named *cells = NULL;
	unsigned ncells = 0;
	struct store s;
	int r;

	if (store_open(&s, e) < 0)
		return -1;
	r = image_list(&s, &hashes, &n, e) < 0 || tag_list(&s, &tags, &ntags, e) < 0 ? -1 : 0;
	if (r == 0 && named_list(s.fd, NAMED_CELL, &cells, &ncells))
		ncells = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		bool used = is_tagged(tags, ntags, hashes[i]);

		for (unsigned k = 0; k < ncells && !used; k++)
			used = !strcmp(cells[k].image, hashes[i]);
		if (!used)
			item_add(&p->images, hashes[i]);
	}
	free(cells);
	free(hashes);
	free(tags);
	store_close(&s);
	return r;
}

/* ---- asking ---- */

static void items_print(const char *what, const struct items *l, unsigned cut)
{
	if (l->n)
		printf("%u %s:\n", l->n, what);
	for (unsigned i = 0; i < l->n; i++)
		printf("  %.*s\n", (int)cut, l->name[i]);
}

static void items_json(const char *what, const struct items *l, bool last)
{
	printf("\"%s\":[", what);
	for (unsigned i = 0; i < l->n; i++) {
		printf("%s", i ? "," : "");
		json_quoted(stdout, l->name[i]);
	}
	printf("]%s", last ? "" : ",");
}

static bool is_agreed(void)
{
	char line[16];

	fprintf(stderr, "Remove this? [y/N] ");
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* ---- removing ---- */

static int store_clear(void)
{
	static const char *const words[] = { "image", "gc", "--untagged", "-q", NULL };
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		_exit(program_run("viv-store", (char **)(uintptr_t)words));
	}
	if (pid < 0)
		return fail(ERR_FAILED, "cannot fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ERR_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ERR_FAILED;
}

static int plan_do(struct viv_client *c, const struct plan *p)
{
	struct err e;
	int status = 0, r, dir;

	for (unsigned i = 0; i < p->cells.n; i++) {
		r = vivd_ask(c, "DELETE", cell_path(p->cells.name[i], "").str, NULL, NULL);
		/* Its minute may have been over. */
		status = r && r != ERR_NOT_FOUND ? r : status;
	}
	dir = p->files.n ? keep_cells_dir(&e) : -1;
	for (unsigned i = 0; dir >= 0 && i < p->files.n; i++)
		if (unlinkat(dir, p->files.name[i], 0) < 0 && errno != ENOENT)
			status = fail(ERR_FAILED, "cannot remove %s: %s", p->files.name[i],
				      strerror(errno));
	if (dir >= 0)
		close(dir);
	r = p->images.n ? store_clear() : 0;
	return r ? r : status;
}

static int plan_carry(const struct args *a, struct viv_client *c, const struct plan *p)
{
	bool force = arg_is_on(a, "force");
	int status;

	if (!p->cells.n && !p->images.n && !p->files.n) {
		printf(a->json ? "{\"cells\":[],\"images\":[],\"files\":[],\"removed\":true}\n"
			       : "There is nothing to remove.\n");
		return 0;
	}
	if (!a->json) {
		items_print("ended cells without a name", &p->cells, 32);
		items_print("images without a tag", &p->images, 12);
		items_print("files of cells that are gone", &p->files, 255);
	}
	fflush(stdout);
	if (!force && (a->json || !isatty(0)))
		return fail(ERR_USAGE, "nobody can be asked" REMEDY "--force removes this");
	if (!force && !is_agreed())
		return 0;
	status = plan_do(c, p);
	if (a->json) {
		printf("{");
		items_json("cells", &p->cells, false);
		items_json("images", &p->images, false);
		items_json("files", &p->files, true);
		printf(",\"removed\":%s}\n", status ? "false" : "true");
	}
	return status;
}

int prune_main(int argc, char **argv)
{
	static struct plan p;
	struct args a;
	int status = args_take(&a, argc, argv);
	struct viv_client *c;
	struct json_doc d = { 0 };
	struct err e;

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	status = cells_find(c, &p, &d);
	if (!status) {
		files_find(&p, json_get(d.root, "cells", JSON_LIST));
		status = images_find(&p, &e) < 0 ? report(&e) : plan_carry(&a, c, &p);
	}
	json_free(&d);
	viv_close(c);
	items_free(&p.cells);
	items_free(&p.images);
	items_free(&p.files);
	return status;
}
