/* viv image verify: hashes everything again. First the objects by their names; then each image: its
 * index by its name and as a whole, and its links to objects. What an image has as its own copy
 * (see object_link) is hashed as well. Then whether the tags name images. One line on standard
 * output for each damage. --repair mends what needs no second copy: objects that a cell may not
 * read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "import/hash.h"
#include "import/object.h"
#include "import/progress.h"
#include "import/verbs.h"

struct verifier {
	const struct store *s;
	unsigned long damages, repairs, objects, images;
	bool repair;
	bool some; /* images that were named, with their objects; not all there is */
	struct buf good; /* ino_t of objects that were hashed and are what they should be */
};

static void damage_print(const char *text_word, const char *json_word, const char *line)
{
	progress_end();
	if (!report_is_json()) {
		printf("%s: %s\n", text_word, line);
		return;
	}
	printf("{\"%s\":", json_word);
	json_quoted(stdout, line);
	printf("}\n");
}

static printf_like(2, 3) void damage(struct verifier *v, const char *fmt, ...)
{
	char line[8192];
	va_list ap;

	v->damages++;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	damage_print("damaged", "damage", line);
}

/* Programs in a cell get "permission denied" for such a file, whatever its mode in the image is. */
static void readable_check(struct verifier *v, int fd, const struct stat *st, const char *path)
{
	char line[512];

	if (object_readable(st))
		return;
	if (!v->repair) {
		damage(v,
		       "%s: cells cannot read it (mode %04o); 'viv image verify --repair' mends it",
		       path, st->st_mode & 07777);
	} else if (fchmod(fd, OBJECT_MODE) < 0) {
		damage(v,
		       "%s: cells cannot read it (mode %04o), and its mode cannot be changed: %s",
		       path, st->st_mode & 07777, strerror(errno));
	} else {
		v->repairs++;
		snprintf(line, sizeof(line), "%s: cells could not read it (mode %04o)", path,
			 st->st_mode & 07777);
		damage_print("repaired", "repair", line);
	}
}

/* Whether a file is what its hash says; its size is added to what is shown. */
static int file_check(int fd, const uint8_t want[INDEX_HASH])
{
	uint8_t got[INDEX_HASH];
	uint64_t size;

	if (hash_file(fd, got, &size) < 0)
		return -1;
	progress_add(size, 1);
	return !memcmp(got, want, INDEX_HASH);
}

static void object_check(struct verifier *v, int dir, const char *sub, const char *name)
{
	char text[HASH_TEXT + 256];
	uint8_t want[INDEX_HASH];
	struct stat st;
	int fd, same;

	snprintf(text, sizeof(text), "%s%s", sub, name);
	if (!hash_parse(text, want)) {
		damage(v, "objects/%s/%s: no object has such a name", sub, name);
		return;
	}
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno != ENOENT)
			damage(v, "objects/%s/%s: %s", sub, name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	/* One link: in no image. It may be what a crash left, and is not relied on. */
	if (st.st_nlink > 1) {
		same = file_check(fd, want);
		v->objects++;
		if (same < 0)
			damage(v, "objects/%s/%s: %s", sub, name, strerror(errno));
		else if (!same)
			damage(v, "objects/%s/%s: its content is not what it was", sub, name);
		else
			buf_add(&v->good, &st.st_ino, sizeof(st.st_ino));
		snprintf(text, sizeof(text), "objects/%s/%s", sub, name);
		readable_check(v, fd, &st, text);
	}
	close(fd);
}

static void objects_check(struct verifier *v)
{
	for (unsigned i = 0; i < 256 && !interrupted(); i++) {
		char path[16], sub[4];
		struct dirent *de;
		DIR *d;
		int fd;

		progress_source(i, 256); /* they are spread evenly */
		snprintf(sub, sizeof(sub), "%02x", i);
		snprintf(path, sizeof(path), "objects/%02x", i);
		fd = openat(v->s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		d = fd < 0 ? NULL : fdopendir(fd);
		if (!d) {
			if (errno != ENOENT)
				damage(v, "%s: %s", path, strerror(errno));
			if (fd >= 0)
				close(fd);
			continue;
		}
		while ((de = readdir(d)) && !interrupted())
			if (de->d_name[0] != '.')
				object_check(v, fd, sub, de->d_name);
		closedir(d);
	}
}

static int inode_compare(const void *a, const void *b)
{
	const ino_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void link_check(struct verifier *v, const struct image *i, uint64_t n)
{
	char path[INDEX_OBJECT_PATH], name[HASH_TEXT], where[sizeof(path) + 32];
	struct index_object object;
	struct stat st;
	int fd, same;

	v->objects += v->some;
	index_object_path(n, path);
	if (index_object(&i->ix, n, &object)) {
		damage(v, "image %.12s: object %llu in the index", i->hash, (unsigned long long)n);
		return;
	}
	hash_text(object.hash, name);
	fd = openat(i->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0) {
		damage(v, "image %.12s: %s (object %.12s): %s", i->hash, path, name,
		       strerror(errno));
	} else if ((uint64_t)st.st_size != object.size) {
		damage(v, "image %.12s: %s (object %.12s) has %llu bytes instead of %llu", i->hash,
		       path, name, (unsigned long long)st.st_size, (unsigned long long)object.size);
	} else if (!v->good.len || !bsearch(&st.st_ino, v->good.p, v->good.len / sizeof(ino_t),
					    sizeof(ino_t), inode_compare)) {
		same = file_check(fd, object.hash);
		if (same < 0)
			damage(v, "image %.12s: %s: %s", i->hash, path, strerror(errno));
		else if (!same)
			damage(v, "image %.12s: %s (object %.12s) is not what it was", i->hash,
			       path, name);
		snprintf(where, sizeof(where), "image %.12s: %s", i->hash, path);
		readable_check(v, fd, &st, where);
	}
	if (fd >= 0)
		close(fd);
}

static void image_check(struct verifier *v, const char *hash)
{
	struct image i;
	uint8_t want[INDEX_HASH];
	const char *why = NULL;
	uint32_t *scratch;
	struct err e;
	int fd, same;

	if (image_open(v->s, hash, &i, &e) < 0) {
		/* Gone or going since it was listed. */
		if (e.kind != ERR_NOT_FOUND && e.kind != ERR_CONFLICT)
			damage(v, "image %.12s: %s", hash, err_line(&e).str);
		return;
	}
	v->images++;
	fd = openat(i.dir, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	same = fd >= 0 && hash_parse(i.hash, want) ? file_check(fd, want) : -1;
	if (same < 0)
		damage(v, "image %.12s: index: %s", i.hash, strerror(errno));
	else if (!same)
		damage(v, "image %.12s: its index is not what it was", i.hash);
	if (fd >= 0)
		close(fd);
	scratch = xalloc(i.ix.h.nodes.count * sizeof(uint32_t));
	if (index_check(&i.ix, scratch, &why))
		damage(v, "image %.12s: index: %s", i.hash, why ? why : "broken");
	free(scratch);
	for (uint64_t n = 0; n < i.ix.h.objects.count && !interrupted(); n++) {
		progress_source(n, i.ix.h.objects.count);
		link_check(v, &i, n);
	}
	image_close(&i);
}

static void tag_check(struct verifier *v, const char *name)
{
	char hash[HASH_TEXT], now[HASH_TEXT];
	struct err e;
	int held;

	if (tag_get(v->s, name, hash, &e) < 0) {
		if (e.kind != ERR_NOT_FOUND)
			damage(v, "%s", err_line(&e).str);
		return;
	}
	held = image_hold(v->s, hash, &e);
	if (held >= 0)
		close(held);
	else if (e.kind == ERR_NOT_FOUND && tag_get(v->s, name, now, &e) == 0 &&
		 !strcmp(now, hash)) /* who removes an image has removed its tags before */
		damage(v, "the tag '%s' names the image %.12s, which is not there", name, hash);
}

static void tags_check(struct verifier *v)
{
	char(*names)[TAG_MAX + 1];
	struct err e;
	size_t n;

	if (tag_name_list(v->s, &names, &n, &e) < 0) {
		damage(v, "%s", err_line(&e).str);
		return;
	}
	for (size_t i = 0; i < n && !interrupted(); i++)
		tag_check(v, names[i]);
	free(names);
}

int verb_verify(struct store *s, int argc, char **argv)
{
	bool quiet = false;
	struct verifier v = { .s = s };
	const struct option options[] = { { "quiet", 'q', NULL, &quiet },
					  { "repair", 0, NULL, &v.repair } };
	char(*hashes)[HASH_TEXT] = NULL;
	size_t n = 0;
	struct err e;
	int lock, given = options_parse(argc, argv, options, ARRAY_LEN(options), 0, 1 << 20);

	if (given < 0)
		return ERR_USAGE;
	lock = store_lock(s, false, NULL, &e);
	if (lock < 0)
		return report(&e);
	for (int i = 1; i <= given; i++) {
		char hash[HASH_TEXT];

		if (image_find(s, argv[i], hash, &e) < 0) {
			close(lock);
			return report(&e);
		}
	}
	progress_start("verify", quiet);
	if (given) {
		v.some = true;
		for (int i = 1; i <= given && !interrupted(); i++)
			image_check(&v, argv[i]);
	} else {
		objects_check(&v);
		if (v.good.len)
			qsort(v.good.p, v.good.len / sizeof(ino_t), sizeof(ino_t), inode_compare);
		if (image_list(s, &hashes, &n, &e) < 0) {
			damage(&v, "%s", err_line(&e).str);
			n = 0;
		}
		for (size_t i = 0; i < n && !interrupted(); i++)
			image_check(&v, hashes[i]);
		free(hashes);
		tags_check(&v);
	}
	progress_end();
	buf_free(&v.good);
	close(lock);
	if (interrupted())
		return ERR_FAILED;
	if (report_is_json())
		printf("{\"images\":%lu,\"objects\":%lu,\"damaged\":%lu,\"repaired\":%lu}\n",
		       v.images, v.objects, v.damages, v.repairs);
	else if (!quiet) {
		printf("%lu image%s, %lu object%s: %lu damaged", v.images, v.images == 1 ? "" : "s",
		       v.objects, v.objects == 1 ? "" : "s", v.damages);
		if (v.repair)
			printf(", %lu repaired", v.repairs);
		printf("\n");
	}
	return v.damages ? ERR_FAILED : 0;
}
