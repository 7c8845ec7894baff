/* viv image export: an image as a tar archive, or as an OCI layout (ocilayout.c). Names sorted, the
 * one time of the image, owners by number: the same image gives the same bytes, and importing them
 * gives the same tree again. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "import/export.h"
#include "import/progress.h"
#include "import/verbs.h"

#define READ_SIZE (256u << 10)

struct exporter {
	const struct image *i;
	struct archive *a;
	struct archive_entry *ae;
	uint8_t *block;
	struct buf path; /* of the entry at hand, with a NUL */
	uint64_t done, total; /* bytes of contents */
	uint64_t *first; /* of a file with several names: where its first is in paths, + 1 */
	struct buf paths;
};

static int archive_failed(struct exporter *x, struct err *e)
{
	const char *why = archive_error_string(x->a);

	if (interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	return err_set(e, ERR_FAILED, "cannot write the archive: %s", why ? why : strerror(errno));
}

static int content_write(struct exporter *x, const struct index_node *node, struct err *e)
{
	char path[INDEX_OBJECT_PATH];
	uint64_t left = node->size;
	int fd;

	if (!node->a)
		return 0;
	index_object_path(node->a - 1, path);
	fd = openat(x->i->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	while (fd >= 0 && left) {
		ssize_t n = read(fd, x->block, MIN(left, READ_SIZE));

		if (n <= 0)
			break;
		if (interrupted() || archive_write_data(x->a, x->block, (size_t)n) != n) {
			close(fd);
			return archive_failed(x, e);
		}
		left -= (uint64_t)n;
		x->done += (uint64_t)n;
		progress_source(x->done, x->total);
		progress_add((uint64_t)n, 0);
	}
	if (fd >= 0)
		close(fd);
	return left ? err_set(e, ERR_FAILED,
			      "the image is damaged at %s" REMEDY "'viv image verify' shows more",
			      path)
		    : 0;
}

static int xattrs_add(struct exporter *x, uint32_t n, struct err *e)
{
	struct index_xattr a = { 0 };
	int r;

	while (!(r = index_xattr(&x->i->ix, n, &a))) {
		char name[INDEX_XATTR_NAME_MAX + 1];

		memcpy(name, a.name, a.name_len);
		name[a.name_len] = '\0';
		archive_entry_xattr_add_entry(x->ae, name, a.value, a.value_len);
	}
	return r == -ENOENT ? 0 : err_set(e, ERR_FAILED, "the image's index is damaged");
}

static int special_add(struct exporter *x, uint32_t n, const struct index_node *node)
{
	char target[INDEX_LINK_MAX + 1];
	const char *text;
	uint32_t len, rdev = (uint32_t)node->a;

	if (S_ISLNK(node->mode)) {
		if (index_link_text(&x->i->ix, n, &text, &len))
			return -1;
		memcpy(target, text, len);
		target[len] = '\0';
		archive_entry_set_symlink(x->ae, target);
	} else if (S_ISCHR(node->mode) || S_ISBLK(node->mode)) {
		archive_entry_set_rdevmajor(x->ae, rdev >> 8 & 0xfff);
		archive_entry_set_rdevminor(x->ae, (rdev & 0xff) | (rdev >> 12 & 0xfff00));
	}
	return 0;
}

static int node_write(struct exporter *x, uint32_t n, const struct index_node *node, struct err *e)
{
	bool again = false;

	archive_entry_clear(x->ae);
	archive_entry_copy_pathname(x->ae, (const char *)x->path.p);
	archive_entry_set_mode(x->ae, (mode_t)node->mode);
	archive_entry_set_uid(x->ae, node->uid);
	archive_entry_set_gid(x->ae, node->gid);
	archive_entry_set_mtime(x->ae, x->i->ix.h.time, 0);
	if (!S_ISDIR(node->mode) && node->nlink > 1) {
		again = x->first[n] != 0;
		if (again)
			archive_entry_copy_hardlink(x->ae,
						    (const char *)x->paths.p + x->first[n] - 1);
		else
			x->first[n] = 1 + buf_add(&x->paths, x->path.p, x->path.len + 1);
	}
	if (!again) {
		archive_entry_set_size(x->ae, S_ISREG(node->mode) ? (int64_t)node->size : 0);
		if (special_add(x, n, node) < 0)
			return err_set(e, ERR_FAILED, "the image's index is damaged");
		if (xattrs_add(x, n, e) < 0)
			return -1;
	} else {
		archive_entry_unset_size(x->ae);
	}
	/* A warning: the name is not in UTF-8 and was written as it is. */
	if (archive_write_header(x->a, x->ae) < ARCHIVE_WARN)
		return archive_failed(x, e);
	progress_add(0, 1);
	return !again && S_ISREG(node->mode) ? content_write(x, node, e) : 0;
}

static void path_set(struct exporter *x, size_t dir_len, const char *name, size_t len, bool is_dir)
{
	x->path.len = dir_len;
	buf_add(&x->path, name, len);
	if (is_dir)
		buf_add(&x->path, "/", 1);
	buf_add_text(&x->path, "");
}

/* The walk that numbered the nodes, again. */
static int tree_write(struct exporter *x, struct err *e)
{
	struct level {
		uint32_t dir, next;
		size_t len; /* of its path */
	} * top;
	struct buf stack = { 0 };
	struct index_node node;
	int result = 0;

	path_set(x, 0, "./", 2, false);
	if (index_node(&x->i->ix, 0, &node) || node_write(x, 0, &node, e) < 0)
		return -1;
	buf_more(&stack, sizeof(*top));
	while (!result && stack.len) {
		struct index_entry entry;
		int r;

		top = BUF_ITEM(&stack, struct level, BUF_COUNT(&stack, struct level) - 1);
		r = index_entry(&x->i->ix, top->dir, top->next++, &entry);
		if (r == -ENOENT) {
			stack.len -= sizeof(*top);
			continue;
		}
		if (r || index_node(&x->i->ix, entry.node, &node)) {
			result = err_set(e, ERR_FAILED, "the image's index is damaged");
			break;
		}
		path_set(x, top->len, entry.name, entry.len, S_ISDIR(node.mode));
		result = node_write(x, entry.node, &node, e);
		if (S_ISDIR(node.mode)) {
			size_t len = x->path.len;

			top = buf_more(&stack, sizeof(*top));
			top->dir = entry.node;
			top->len = len;
		}
	}
	buf_free(&stack);
	return result;
}

int image_export_tar(const struct image *i, struct archive *a, struct err *e)
{
	struct exporter x = { .i = i, .a = a, .ae = archive_entry_new() };
	int result;

	x.block = xalloc(READ_SIZE);
	x.first = xalloc(i->ix.h.nodes.count * sizeof(uint64_t));
	for (uint32_t n = 0; n < i->ix.h.nodes.count; n++) {
		struct index_node node;

		if (!index_node(&i->ix, n, &node) && S_ISREG(node.mode))
			x.total += node.size;
	}
	result = tree_write(&x, e);
	archive_entry_free(x.ae);
	free(x.block);
	free(x.first);
	buf_free(&x.path);
	buf_free(&x.paths);
	return result;
}

/* ---- the verb ---- */

static bool name_ends(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* libarchive's own keeps the reason to itself. */
static ssize_t fd_write(struct archive *a, void *data, const void *block, size_t n)
{
	const int *fd = data;
	ssize_t done;

	do
		done = write(*fd, block, n);
	while (done < 0 && errno == EINTR && !interrupted());
	if (done < 0)
		archive_set_error(a, errno, "%s", strerror(errno));
	return done;
}

/* What an archive is of: the files of the image, or an OCI layout. */
struct wanted {
	const struct image *image;
	bool oci;
	const char *ref; /* the image's name in a layout; NULL: none */
};

static int export_to(const struct wanted *w, int fd, const char *name, struct err *e)
{
	struct archive *a = archive_write_new();
	int result;

	if (name_ends(name, ".gz") || name_ends(name, ".tgz")) {
		archive_write_add_filter_gzip(a);
		archive_write_set_filter_option(a, "gzip", "timestamp", NULL);
	} else if (name_ends(name, ".xz")) {
		archive_write_add_filter_xz(a);
	} else if (name_ends(name, ".zst")) {
		archive_write_add_filter_zstd(a);
	}
	archive_write_set_format_pax_restricted(a);
	archive_write_set_bytes_in_last_block(a, 1);
	if (archive_write_open(a, &fd, NULL, fd_write, NULL) != ARCHIVE_OK) {
		result = err_set(e, ERR_FAILED, "cannot write the archive: %s",
				 archive_error_string(a));
	} else {
		result = w->oci ? image_export_oci_archive(w->image, a, w->ref, e)
				: image_export_tar(w->image, a, e);
		if (!result && archive_write_close(a) != ARCHIVE_OK)
			result = err_set(e, ERR_FAILED, "cannot write the archive: %s",
					 archive_error_string(a));
	}
	archive_write_free(a);
	return result;
}

/* The file that is written: one beside the one that was asked for, which takes its place when it is
 * whole. */
struct output {
	/* partial NULL: path itself, a device or a pipe, or in a directory that nothing can be made
	 * in */
	char *path, *partial;
	int fd;
};

static int output_failed(struct output *o, const char *name, struct err *e)
{
	int err = errno;

	if (o->fd >= 0)
		close(o->fd);
	if (o->partial)
		unlink(o->partial);
	free(o->partial);
	free(o->path);
	return err_set(e, ERR_FAILED, "cannot write '%s': %s", name, strerror(err));
}

static int output_open(struct output *o, const char *name, struct err *e)
{
	struct stat st;
	bool there = stat(name, &st) == 0;
	mode_t mode = there ? st.st_mode & 0777 : 0666 & ~caller_umask();

	*o = (struct output){ .path = there ? realpath(name, NULL) : strdup(name), .fd = -1 };
	if (!o->path)
		return output_failed(o, name, e);
	if ((!there || S_ISREG(st.st_mode)) &&
	    asprintf(&o->partial, "%s.partial-XXXXXX", o->path) > 0) {
		o->fd = mkostemp(o->partial, O_CLOEXEC);
		if (o->fd >= 0)
			return fchmod(o->fd, mode) < 0 ? output_failed(o, name, e) : 0;
		free(o->partial);
		o->partial = NULL;
	}
	o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	return o->fd < 0 ? output_failed(o, name, e) : 0;
}

/* failed: what was written is removed, and what was there stays. */
static int output_end(struct output *o, const char *name, bool failed, struct err *e)
{
	int fd = o->fd;

	o->fd = -1;
	if (failed) {
		struct err ignored;

		close(fd);
		output_failed(o, name, &ignored);
		return -1;
	}
	if (close(fd) < 0 || (o->partial && rename(o->partial, o->path) < 0))
		return output_failed(o, name, e);
	free(o->partial);
	free(o->path);
	return 0;
}

static int export_archive(const struct wanted *w, const char *output, struct err *e)
{
	struct output o;
	int result;

	if (!output)
		return export_to(w, 1, "", e);
	if (output_open(&o, output, e) < 0)
		return -1;
	result = export_to(w, o.fd, output, e);
	return output_end(&o, output, result < 0, e);
}

int verb_export(struct store *s, int argc, char **argv)
{
	const char *output = NULL, *format = "tar";
	const struct option options[] = { { "output", 'o', &output, NULL },
					  { "format", 0, &format, NULL } };
	struct wanted w = { 0 };
	struct image image;
	bool layout;
	struct err e;
	int result;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1) < 0)
		return ERR_USAGE;
	layout = !strcmp(format, "oci");
	w.oci = !strcmp(format, "oci-archive");
	if (!layout && !w.oci && strcmp(format, "tar"))
		return fail(ERR_USAGE, "--format '%s': one of tar, oci, oci-archive", format);
	if (output && !strcmp(output, "-"))
		output = NULL;
	if (layout && !output)
		return fail(ERR_USAGE, "an OCI layout is a directory" REMEDY
				       "use -o DIR, or --format oci-archive for one file");
	if (!output && isatty(1))
		return fail(ERR_USAGE, "standard output is a terminal" REMEDY "use -o FILE");
	if (image_open(s, argv[1], &image, &e) < 0)
		return report(&e);
	umask(caller_umask());
	progress_start("export", false);
	w.image = &image;
	w.ref = tag_is_valid(argv[1]) ? argv[1] : NULL;
	result = layout ? image_export_oci(&image, output, w.ref, &e)
			: export_archive(&w, output, &e);
	progress_end();
	if (!result && output && report_is_json())
		image_made(image.hash, NULL);
	image_close(&image);
	return result < 0 ? report(&e) : 0;
}
