/* See scan.h. The files are the operator's own, but what is in them comes from cells: names are
 * bounded and cleaned, and everything is opened as the readers of journals do. */
#include "daemon/journal/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "daemon/state/fields.h"
#include "journal/files.h"
#include "store/files.h"
#include "store/store.h"

#define META_MAX 65536

bool journal_id_is_valid(const char *id)
{
	size_t n = 0;

	while (islower((unsigned char)id[n]) || isdigit((unsigned char)id[n]))
		n++;
	return n && n <= CELL_ID_LEN && !id[n];
}

int journal_path(char *path, size_t size, const char *id, struct err *e)
{
	char store[4096];

	if (store_path(store, sizeof(store), e) < 0)
		return -1;
	snprintf(path, size, "%s/journals%s%s", store, id ? "/" : "", id ? id : "");
	return 0;
}

/* ---- one ---- */

static void text_take(char *to, size_t size, const json_t *o, const char *name)
{
	snprintf(to, size, "%s", json_text(o, name) ? json_text(o, name) : "");
	text_hide_controls(to);
}

static void meta_read(int dir, struct journal_info *j)
{
	char *text = NULL;
	json_t *o = NULL;

	if (file_read_all(dir, "meta.json", META_MAX, &text, NULL) == 0)
		o = json_loads(text, 0, NULL);
	text_take(j->name, sizeof(j->name), o, "name");
	text_take(j->image, sizeof(j->image), o, "image");
	json_decref(o);
	free(text);
}

static void sizes_read(int dir, struct journal_info *j)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!list && fd >= 0)
		close(fd);
	if (fstat(dir, &st) == 0)
		j->space += (uint64_t)st.st_blocks * 512;
	while (list && (e = readdir(list))) {
		int64_t at;

		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		j->space += (uint64_t)st.st_blocks * 512;
		/* Rings are sparse; what is allocated is what counts. */
		j->bytes += strncmp(e->d_name, "ring.", 5) ? (uint64_t)st.st_size
							   : (uint64_t)st.st_blocks * 512;
		if (!strncmp(e->d_name, "raw.", 4))
			j->unsealed += (uint64_t)st.st_size;
		at = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
		j->written = MAX(j->written, at);
	}
	if (list)
		closedir(list);
}

/* The first block has the earliest time, the last one the latest. */
static void times_read(int dir, struct journal_info *j)
{
	struct journal_names names;
	struct journal_block b;
	size_t n;
	struct err e;

	if (journal_names_read(&names, dir, &e) < 0)
		return;
	n = BUF_COUNT(&names.segments, uint64_t);
	for (size_t i = 0; i < n; i = i || n == 1 ? n : n - 1) {
		int fd = journal_numbered_open(dir, SEGMENT_NAME,
					       *BUF_ITEM(&names.segments, uint64_t, i), O_RDONLY,
					       &e);
		off_t at = 0;

		while (fd >= 0 && block_head_at(fd, at, &b) == BLOCK_HERE) {
			if (!j->first)
				j->first = b.head.earliest;
			j->last = MAX(j->last, b.head.latest);
			at += BLOCK_SIZE(&b.head);
			if (i == 0 && n > 1)
				break;
		}
		if (fd >= 0)
			close(fd);
	}
	journal_names_free(&names);
}

bool journal_look(const char *id, struct journal_info *ret)
{
	char path[4200];
	int dir;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	if (journal_path(path, sizeof(path), id, &ret->e) < 0)
		return false;
	dir = journal_dir_open(path, &ret->e);
	if (dir < 0)
		return ret->e.kind != ERR_NOT_FOUND;
	meta_read(dir, ret);
	sizes_read(dir, ret);
	if (journal_tip_read(dir, &ret->tip, &ret->e) == 0)
		ret->records = ret->tip.records;
	times_read(dir, ret);
	close(dir);
	return true;
}

int journal_remove(const char *id, struct err *e)
{
	char path[4200], gone[80];
	int dir, all = -1, ret = -1;

	if (journal_path(path, sizeof(path), id, e) < 0 || (dir = journal_dir_open(path, e)) < 0)
		return -1;
	/* Whoever appends has it locked. */
	if (flock(dir, LOCK_EX | LOCK_NB) < 0) {
		err_set(e, ERR_CONFLICT,
			"the journal of cell %s is being written" REMEDY "stop the cell first", id);
		goto out;
	}
	if (journal_path(path, sizeof(path), NULL, e) < 0 || (all = journal_dir_open(path, e)) < 0)
		goto out;
	/* At once for everybody; what a crash leaves is removed with the next one. */
	snprintf(gone, sizeof(gone), ".removed.%s", id);
	(void)!tree_remove(all, gone);
	if (renameat(all, id, all, gone) < 0 || tree_remove(all, gone) < 0) {
		err_set(e, ERR_FAILED, "cannot remove the journal of cell %s: %s", id,
			strerror(errno));
		goto out;
	}
	ret = 0;
out:
	if (all >= 0)
		close(all);
	close(dir);
	return ret;
}

/* ---- all ---- */

struct scan {
	uv_work_t work;
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
	struct buf list; /* struct journal_info */
	struct err e;
	scanned_fn fn;
	void *arg;
};

static void scan_add(struct scan *x, const char *id)
{
	struct journal_info j;

	if (journal_look(id, &j))
		buf_add(&x->list, &j, sizeof(j));
}

static int info_compare(const void *a, const void *b)
{
	const struct journal_info *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static void scan_work(uv_work_t *w)
{
	struct scan *x = w->data;
	char path[4200];
	struct dirent *e;
	DIR *dir;
	int fd;

	if (x->id[0]) {
		scan_add(x, x->id);
		return;
	}
	if (journal_path(path, sizeof(path), NULL, &x->e) < 0)
		return;
	fd = journal_dir_open(path, &x->e);
	if (fd < 0 && x->e.kind == ERR_NOT_FOUND)
		x->e.kind = ERR_NONE;
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir)))
		if (journal_id_is_valid(e->d_name))
			scan_add(x, e->d_name);
	if (dir)
		closedir(dir);
	if (x->list.len)
		qsort(x->list.p, BUF_COUNT(&x->list, struct journal_info),
		      sizeof(struct journal_info), info_compare);
}

static void scan_done(uv_work_t *w, int status)
{
	struct scan *x = w->data;

	(void)status;
	for (size_t i = 0; i < BUF_COUNT(&x->list, struct journal_info); i++) {
		struct journal_info *j = BUF_ITEM(&x->list, struct journal_info, i);
		const struct cell *c = cell_by_id(x->d, j->id);

		j->running = c && (c->keeper || cell_state_is_live(c->state));
		if (c && c->name[0])
			strcpy(j->name, c->name);
	}
	x->fn(x->arg, (struct journal_info *)(void *)x->list.p,
	      BUF_COUNT(&x->list, struct journal_info), x->e.kind ? &x->e : NULL);
	buf_free(&x->list);
	free(x);
}

void journals_scan(struct daemon *d, const char *id, scanned_fn fn, void *arg)
{
	struct scan *x = xalloc(sizeof(*x));

	snprintf(x->id, sizeof(x->id), "%s", id ? id : "");
	x->d = d;
	x->fn = fn;
	x->arg = arg;
	x->work.data = x;
	uv_queue_work(&d->loop, &x->work, scan_work, scan_done);
}
