/* See changes.h. */
#include "keeper/disk/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES_MAX ((64 << 10) + 8)
#define NAME_BYTES_MAX 255

int change_path_compare(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

bool change_path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (path[n] == '/' || !strcmp(dir, "/"));
}

/* Whoever applies a patch is not led anywhere else by it. */
static bool path_is_valid(const char *path)
{
	if (path[0] != '/')
		return false;
	if (!path[1])
		return true;
	while (*path) {
		size_t n = strcspn(++path, "/");

		if (!n || n > NAME_BYTES_MAX || (path[0] == '.' && n == 1) ||
		    (path[0] == '.' && path[1] == '.' && n == 2))
			return false;
		path += n;
	}
	return true;
}

/* Up to a NUL. Its length; 0: there is none, -1: it is too long, or empty. */
static ssize_t text_get(FILE *f, char *buf, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) > 0) {
		if (n == size - 1)
			return -1;
		buf[n++] = (char)c;
	}
	buf[n] = 0;
	return c == EOF ? n ? -1 : 0 : n ? (ssize_t)n : -1;
}

static bool number_is_valid(const char *s)
{
	return !strcmp(s, "-") || (*s && !s[strspn(s, "0123456789")]);
}

/* The chain's places mean nothing to another chain: the content gets the name of its file. That of
 * its layer would be another one after layers were made one (store/merge.h). */
static bool id_make(struct change_side *s, int layer, const char *number, const struct rootfs *p)
{
	const struct disk_link *l;
	unsigned long long n = strtoull(number, NULL, 10);
	char path[64];
	struct stat st;
	int r;

	if (layer < 0)
		return snprintf(s->id, sizeof(s->id), "-/%s", number) < (int)sizeof(s->id);
	if ((unsigned)layer >= p->chain.n)
		return false;
	l = &p->chain.links[layer];
	if (l->fd >= 0)
		snprintf(path, sizeof(path), "c/%02llx/%llx", n & 0xff, n);
	else
		snprintf(path, sizeof(path), "data/%u/c/%02llx/%llx", l->ref.n, n & 0xff, n);
	r = fstatat(l->fd >= 0 ? l->fd : p->disk.dir, path, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		st = (struct stat){ 0 };
	return snprintf(s->id, sizeof(s->id), "%lx/%lx/%s", (unsigned long)st.st_dev,
			(unsigned long)st.st_ino, number) < (int)sizeof(s->id);
}

static bool side_get(struct change_stream *t, bool contents, struct change_side *s)
{
	char text[256], number[24];
	unsigned long long size;
	int layer, at = -1;

	if (text_get(t->f, text, sizeof(text)) < 0)
		return false;
	if (!strcmp(text, "-"))
		return true;
	if (sscanf(text, "%c %o %u %u %llu %d %23s %39s %c%n", &s->type, &s->mode, &s->uid, &s->gid,
		   &size, &layer, number, s->when, &s->content, &at) != 9 ||
	    at < 0 || text[at] || !strchr("fdlcbps", s->type) || s->mode > 07777 ||
	    !number_is_valid(number) || !strchr(contents ? "-+=!" : "-", s->content) ||
	    (s->content != '-' && s->type != 'f' && s->type != 'l') ||
	    (contents && s->type == 'f' && s->content == '-') ||
	    (contents && s->type == 'l' && s->content != '+') ||
	    (s->content == '+' && size > TELL_CONTENT_MAX) ||
	    !id_make(s, layer, number, &t->view->rootfs))
		return false;
	s->size = size;
	if (s->content != '+')
		return true;
	s->data = malloc(size + 1);
	return s->data && fread(s->data, 1, size, t->f) == size;
}

int changes_open(struct change_stream *s, struct view *v, uint32_t from_layers, bool contents,
		 struct err *e)
{
	const struct run_tell what = { .mode = contents ? MODE_CONTENTS : MODE_LIST,
				       .from_layers = from_layers };

	*s = (struct change_stream){ .view = v, .contents = contents };
	if (disk_kernel_start(&v->rootfs, &what, &s->disk_kernel, e) < 0)
		return -1;
	s->f = fdopen(s->disk_kernel.fd, "r");
	if (!s->f) {
		disk_kernel_end(&s->disk_kernel, NULL);
		return err_set(e, ERR_FAILED, "out of memory");
	}
	s->disk_kernel.fd = -1;
	return 0;
}

int changes_next(struct change_stream *s, struct change *ret, struct err *e)
{
	static char path[PATH_BYTES_MAX];
	ssize_t n = text_get(s->f, path, sizeof(path));
	int status;

	*ret = (struct change){ 0 };
	if (n == 0) {
		err_set(e, ERR_FAILED, "the kernel's answer breaks off");
		status = disk_kernel_end(&s->disk_kernel, e);
		s->disk_kernel.pid = 0;
		if (!ferror(s->f) && status == 0)
			return 0;
		return err_wrap(e, "the disk of cell '%s' cannot be read",
				s->view->rootfs.cell.name);
	}
	if (n > 0 && path_is_valid(path) && (!s->last || change_path_compare(s->last, path) < 0) &&
	    side_get(s, s->contents, &ret->base) && side_get(s, s->contents, &ret->tree) &&
	    (ret->base.type || ret->tree.type) &&
	    (ret->base.content == '=') == (ret->tree.content == '=')) {
		ret->path = strdup(path);
		free(s->last);
		s->last = strdup(path);
		if (ret->path && s->last)
			return 1;
	}
	change_fini(ret);
	return err_set(e, ERR_FAILED, "what the disk's kernel says makes no sense");
}

void changes_close(struct change_stream *s)
{
	if (s->f)
		fclose(s->f);
	if (s->disk_kernel.pid)
		disk_kernel_stop(&s->disk_kernel);
	free(s->last);
	*s = (struct change_stream){ 0 };
}

void change_fini(struct change *t)
{
	free(t->path);
	free(t->base.data);
	free(t->tree.data);
	*t = (struct change){ 0 };
}
