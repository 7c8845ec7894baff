/* Records of copies; see copies.h. One file for each cell, in the state directory: lines of words,
 * with the bytes of names that are not plain as %XX. The last line is "end". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "cli/copies/copies.h"
#include "client/paths.h"

#define MAGIC "vivarium-copies 1"

static int record_path(char *path, size_t size, const char *cell_id, struct err *e)
{
	char state[3000];

	if (path_state(state, sizeof(state), e) < 0)
		return -1;
	snprintf(path, size, "%s/copies", state);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make '%s': %s", path, strerror(errno));
	snprintf(path, size, "%s/copies/%.63s", state, cell_id);
	return 0;
}

/* ---- words ---- */

static void word_put(FILE *f, const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f || *s == '%')
			fprintf(f, "%%%02X", (unsigned char)*s);
		else
			fputc(*s, f);
}

static char *word_get(const char *s, size_t n)
{
	char *text = xalloc(n + 1), *to = text;

	for (size_t i = 0; i < n; i++)
		if (s[i] == '%' && i + 2 < n && hex_digit(s[i + 1]) >= 0 &&
		    hex_digit(s[i + 2]) >= 0) {
			*to++ = (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2]));
			i += 2;
		} else {
			*to++ = s[i];
		}
	*to = '\0';
	return text;
}

static bool hash_get(const char *s, uint8_t hash[SHA1_SIZE])
{
	for (unsigned i = 0; i < SHA1_SIZE; i++) {
		if (hex_digit(s[2 * i]) < 0 || hex_digit(s[2 * i + 1]) < 0)
			return false;
		hash[i] = (uint8_t)(hex_digit(s[2 * i]) << 4 | hex_digit(s[2 * i + 1]));
	}
	return true;
}

/* ---- writing ---- */

static void copied_put(FILE *f, const struct copied *c)
{
	fprintf(f, "copy %llu %llu ", (unsigned long long)c->dev, (unsigned long long)c->ino);
	word_put(f, c->dir);
	fputc(' ', f);
	word_put(f, c->dst);
	fputc('\n', f);
	for (size_t i = 0; i < c->n; i++) {
		const struct base *b = &c->base[i];

		fprintf(f, "%c %o %llu %llu %lld %lld ", b->type, b->mode,
			(unsigned long long)b->size, (unsigned long long)b->ino,
			(long long)b->mtime, (long long)b->ctime);
		for (unsigned k = 0; k < SHA1_SIZE; k++)
			fprintf(f, "%02x", b->hash[k]);
		fputc(' ', f);
		word_put(f, b->path);
		fputc('\n', f);
	}
}

int copies_write(const struct copies *c, struct err *e)
{
	char path[4096], new[4096 + 8];
	FILE *f;
	int fd;

	if (record_path(path, sizeof(path), c->cell, e) < 0)
		return -1;
	snprintf(new, sizeof(new), "%s.new", path);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return err_set(e, ERR_FAILED, "cannot write '%s': %s", new, strerror(errno));
	fprintf(f, MAGIC "\n");
	for (unsigned i = 0; i < c->n; i++)
		copied_put(f, &c->v[i]);
	fprintf(f, "end\n");
	if (fflush(f) || ferror(f) || fsync(fd) < 0 || fclose(f) || rename(new, path) < 0) {
		unlink(new);
		return err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
	}
	return 0;
}

void copies_remove(const char *cell_id)
{
	char path[4096];
	struct err unused;

	if (record_path(path, sizeof(path), cell_id, &unused) == 0)
		unlink(path);
}

void copies_prune(bool (*is_gone)(const char *cell_id))
{
	char path[4096];
	struct err unused;
	struct dirent *d;
	DIR *dir;

	if (record_path(path, sizeof(path), ".", &unused) < 0 || !(dir = opendir(path)))
		return;
	while ((d = readdir(dir)))
		if (cell_id_is_valid(d->d_name) && is_gone(d->d_name))
			unlinkat(dirfd(dir), d->d_name, 0);
	closedir(dir);
}

/* ---- reading ---- */

static bool copied_get(struct copies *c, const char *line)
{
	unsigned long long dev, ino;
	const char *dst;
	int at = 0;
	struct copied *v;

	if (c->n == RUN_COPIES_MAX || sscanf(line, "copy %llu %llu %n", &dev, &ino, &at) != 2 ||
	    !at)
		return false;
	dst = strchr(line + at, ' ');
	if (!dst)
		return false;
	v = &c->v[c->n++];
	v->dev = dev;
	v->ino = ino;
	v->dir = word_get(line + at, (size_t)(dst - line) - (size_t)at);
	v->dst = word_get(dst + 1, strlen(dst + 1));
	return true;
}

static bool base_get(struct buf *list, const char *line)
{
	struct base b = { .type = line[0] };
	unsigned long long size, ino;
	long long mtime, ctime;
	int at = 0;

	if (sscanf(line + 1, " %o %llu %llu %lld %lld %n", &b.mode, &size, &ino, &mtime, &ctime,
		   &at) != 5 ||
	    !at || strlen(line + 1 + at) < 2 * SHA1_SIZE + 2 || !hash_get(line + 1 + at, b.hash))
		return false;
	b.size = size;
	b.ino = ino;
	b.mtime = mtime;
	b.ctime = ctime;
	line += 1 + at + 2 * SHA1_SIZE + 1;
	b.path = word_get(line, strlen(line));
	buf_add(list, &b, sizeof(b));
	return true;
}

static bool lines_get(struct copies *c, FILE *f)
{
	struct buf list = { 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	bool good = getline(&line, &size, f) > 0 && !strcmp(line, MAGIC "\n"), end = false;

	while (good && !end && (n = getline(&line, &size, f)) > 0) {
		line[n - 1] = '\0';
		end = !strcmp(line, "end");
		if (c->n && (end || line[0] == 'c')) {
			c->v[c->n - 1].base = (struct base *)(void *)list.p;
			c->v[c->n - 1].n = BUF_COUNT(&list, struct base);
			list = (struct buf){ 0 };
		}
		if (!end)
			good = line[0] == 'c' ? copied_get(c, line) : c->n && base_get(&list, line);
	}
	free(line);
	return good && end;
}

int copies_read(struct copies *c, const char *cell_id, struct err *e)
{
	char path[4096];
	bool good;
	FILE *f;

	*c = (struct copies){ 0 };
	snprintf(c->cell, sizeof(c->cell), "%s", cell_id);
	if (record_path(path, sizeof(path), cell_id, e) < 0)
		return -1;
	f = fopen(path, "re");
	if (!f)
		return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "the cell has no copy of a host directory" REMEDY
			       "'viv create --name CELL --copy DIR:DST' makes one");
	good = lines_get(c, f);
	fclose(f);
	for (unsigned i = 0; good && i < c->n; i++)
		base_sort(&c->v[i]);
	return good ? 0 : err_set(e, ERR_FAILED, "the record '%s' is damaged", path);
}

void copies_fini(struct copies *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->v[i].n; k++)
			free(c->v[i].base[k].path);
		free(c->v[i].base);
		free(c->v[i].dir);
		free(c->v[i].dst);
	}
	*c = (struct copies){ 0 };
}

static int base_compare(const void *a, const void *b)
{
	return strcmp(((const struct base *)a)->path, ((const struct base *)b)->path);
}

void base_sort(struct copied *c)
{
	if (c->n)
		qsort(c->base, c->n, sizeof(*c->base), base_compare);
}

struct base *base_find(const struct copied *c, const char *path)
{
	struct base key = { .path = (char *)path };

	return c->n ? bsearch(&key, c->base, c->n, sizeof(key), base_compare) : NULL;
}
