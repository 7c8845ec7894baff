/* What a merge would do, for people and for programs; see copies.h. Names and contents are the
 * cell's: no byte of them can steer a terminal, or look like a line of our own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/copies/copies.h"
#include "base/safetext.h"
#include "keeper/disk/patch.h"

#define PATCH_MAX (1u << 20) /* of a file that is shown as a patch */
#define PATCHES_MAX (8u << 20) /* of all of them */

void name_show(const char *path)
{
	safe_bytes(stdout, path, strlen(path), "");
}

/* ---- patches ---- */

static bool side_host(const struct plan *p, const struct delta *d, struct change_side *s)
{
	const char *name;
	int dir, fd;
	ssize_t n;

	*s = (struct change_side){ 0 };
	if (d->was.type != 'f' && d->was.type != 'l')
		return true;
	if (d->was.st.st_size > PATCH_MAX)
		return false;
	s->type = d->was.type;
	s->mode = d->was.st.st_mode & 0777;
	s->content = '+';
	s->data = xalloc((size_t)d->was.st.st_size + 2);
	dir = host_parent(p->root, d->path, &name);
	if (dir < 0)
		return false;
	if (s->type == 'l') {
		n = readlinkat(dir, name, s->data, (size_t)d->was.st.st_size + 1);
	} else {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, s->data, (size_t)d->was.st.st_size);
		if (fd >= 0)
			close(fd);
	}
	close(dir);
	s->size = (uint64_t)MAX(n, 0);
	return n >= 0;
}

static bool side_cell(const struct plan *p, const struct delta *d, struct change_side *s,
		      const struct change_side *old)
{
	*s = (struct change_side){ 0 };
	if (d->kind == 'D')
		return true;
	s->type = d->type;
	s->mode = old->type == 'f' ? old->mode : 0644;
	if (d->type == 'f')
		s->mode = d->mode & 0100 ? s->mode | 0111 : s->mode & ~0111u;
	s->content = '+';
	s->size = d->size;
	s->data = d->content ? delta_content(p, d, PATCH_MAX) : NULL;
	if (!d->content && old->type == 'f') {
		s->size = old->size;
		s->data = xalloc((size_t)old->size + 1);
		memcpy(s->data, old->data, (size_t)old->size);
	}
	return s->data != NULL;
}

/* patch_print() prints to standard output: here that is memory for a moment. */
static void patch_show(const char *path, const struct change_side *old,
		       const struct change_side *new)
{
	int saved, fd = memfd_create("patch", MFD_CLOEXEC);
	off_t size;
	char *text;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	if (fd < 0 || saved < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return;
	(void)!patch_print(path, old, new);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	size = lseek(fd, 0, SEEK_END);
	text = xalloc((size_t)MAX(size, 0) + 1);
	if (size > 0 && pread(fd, text, (size_t)size, 0) == size)
		safe_bytes(stdout, text, (size_t)size, "\n\t");
	free(text);
	close(fd);
}

static void delta_patch(const struct plan *p, const struct delta *d, uint64_t *shown)
{
	struct change_side old, new = { 0 };
	char *path = xalloc(strlen(d->path) + 2);

	sprintf(path, "/%s", d->path);
	if (side_host(p, d, &old) && (old.type || d->type == 'f' || d->type == 'l') &&
	    side_cell(p, d, &new, &old) && *shown + old.size + new.size <= PATCHES_MAX) {
		*shown += old.size + new.size;
		patch_show(path, &old, &new);
	} else if (d->type == 'f') {
		printf("# too large to be shown: ");
		name_show(d->path);
		putchar('\n');
	}
	free(path);
	free(old.data);
	free(new.data);
}

/* ---- the list ---- */

static void delta_show(const struct delta *d)
{
	printf("%c ", d->kind);
	name_show(d->path);
	if (d->target) {
		printf(" -> ");
		name_show(d->target);
	}
	if (d->type == 'd')
		putchar('/');
	if (d->exec)
		printf("  (executable)");
	if (!d->content && d->kind == 'C')
		printf("  (mode only)");
	putchar('\n');
}

static void noted(const struct plan *p, const char *title, const char *(*why)(const struct delta *))
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		const char *text = why(&p->v[i]);

		if (!text)
			continue;
		if (!any)
			printf("\n%s\n", title);
		any = true;
		printf("  ");
		name_show(p->v[i].path);
		printf(": %s\n", text);
	}
}

static const char *refused_of(const struct delta *d)
{
	return d->refused;
}

static const char *conflict_of(const struct delta *d)
{
	return d->refused ? NULL : d->conflict;
}

static const char *runs_of(const struct delta *d)
{
	return d->refused || d->done	   ? NULL
	       : d->runs		   ? d->runs
	       : d->exec && d->type == 'f' ? "becomes executable"
					   : NULL;
}

void plan_show(const struct plan *p, bool patch)
{
	uint64_t shown = 0;

	for (size_t i = 0; patch && i < p->n; i++)
		if (!p->v[i].refused && !p->v[i].done && !p->v[i].conflict)
			delta_patch(p, &p->v[i], &shown);
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].refused && !p->v[i].done && !p->v[i].conflict)
			delta_show(&p->v[i]);
	noted(p, "Tools may run these by themselves:", runs_of);
	noted(p, "Conflicts:", conflict_of);
	noted(p, "Left out:", refused_of);
}

/* ---- for programs ---- */

static void text_member(const char *name, const char *text)
{
	size_t n = strlen(text);
	char *coded;

	if (text_is_utf8(text, n)) {
		printf(",\"%s\":", name);
		json_bytes(stdout, text, n);
		return;
	}
	coded = xalloc(BASE64_SIZE(n) + 1);
	base64_encode(coded, text, n);
	printf(",\"%s_base64\":\"%s\"", name, coded);
	free(coded);
}

void plan_json(const struct plan *p, const char *cell)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct delta *d = &p->v[i];

		printf("{\"cell\":");
		json_quoted(stdout, cell);
		text_member("dir", p->copied->dir);
		printf(",\"kind\":\"%c\"", d->kind);
		text_member("path", d->path);
		if (d->type)
			printf(",\"type\":\"%s\"", d->type == 'f'   ? "file"
						   : d->type == 'd' ? "directory"
						   : d->type == 'l' ? "symlink"
								    : "other");
		if (d->target)
			text_member("target", d->target);
		if (d->type == 'f')
			printf(",\"size\":%llu", (unsigned long long)d->size);
		if (d->exec)
			printf(",\"executable\":true");
		if (d->runs)
			text_member("run_by", d->runs);
		printf(",\"status\":\"%s\"", d->refused	    ? "left_out"
					     : d->written   ? d->conflict ? "beside" : "written"
					     : d->failed[0] ? "failed"
					     : d->conflict  ? "conflict"
					     : d->done	    ? "same"
							    : "planned");
		if (d->refused || d->conflict || d->failed[0])
			text_member("reason", d->refused     ? d->refused
					      : d->failed[0] ? d->failed
							     : d->conflict);
		printf("}\n");
	}
}
