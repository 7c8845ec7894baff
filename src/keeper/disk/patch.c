/* Differences as a patch that "patch -p1" and "git apply" take.
 *
 *   Text files and symbolic links   git's headers, hunks with three lines around each change; a
 *                                   link's text is its content, as it is to git. A link with
 *                                   another text, or a path that was one of both and is the
 *                                   other, goes and comes.
 *   Binary files, very large ones   one line, as diff prints it. It has no header, or git would
 *                                   refuse all of the patch.
 *   All else                        lines that start with "# ": directories, devices, owners.
 *                                   Both programs pass over them.
 * Times and extended attributes are not told.
 *
 * Names are quoted as git quotes them, and also when there is a space in them, where patch would
 * see the end. Contents are printed as they are: whoever shows them on a terminal hides what could
 * steer it. */
#include "keeper/disk/patch.h"

#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/utf8.h"
#include "keeper/disk/textdiff.h"

#define CONTEXT 3u
/* git's name for the empty content; patch tells by it that a file goes */
#define EMPTY_BLOB "e69de29"

/* ---- bytes ---- */

static bool name_is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f || *s == '"' ||
		    *s == '\\')
			return false;
	return true;
}

/* path starts with its slash. side: "a", "b" or "". */
static void name_print(const char *side, const char *path)
{
	static const char letters[] = "\a\b\t\n\v\f\r\"\\", names[] = "abtnvfr\"\\";
	bool plain = name_is_plain(path);

	if (!*side && path[1])
		path++;
	printf("%s%s", plain ? "" : "\"", side);
	for (; *path; path++) {
		const char *letter = strchr(letters, *path);

		if (letter)
			printf("\\%c", names[letter - letters]);
		else if ((unsigned char)*path < ' ' || (unsigned char)*path >= 0x7f)
			printf("\\%03o", (unsigned char)*path);
		else
			putchar(*path);
	}
	if (!plain)
		putchar('"');
}

/* ---- hunks ---- */

static void line_print(char mark, const struct lines *l, uint32_t i)
{
	uint32_t at = l->at[i], end = l->at[i + 1];

	putchar(mark);
	fwrite(l->data + at, 1, end - at, stdout);
	if (l->data[end - 1] != '\n')
		printf("\n\\ No newline at end of file\n");
}

static void range_print(char mark, uint32_t from, uint32_t to)
{
	printf("%c%u", mark, to > from ? from + 1 : from);
	if (to - from != 1)
		printf(",%u", to - from);
}

/* From line i of a and j of b on, which are not changed or the first: the next change, skipping
 * what is the same. */
static void same_skip(const struct lines *a, const struct lines *b, uint32_t *i, uint32_t *j,
		      uint32_t most)
{
	while (most-- && *i < a->n && *j < b->n && !a->changed[*i] && !b->changed[*j])
		++*i, ++*j;
}

static void change_skip(const struct lines *a, const struct lines *b, uint32_t *i, uint32_t *j)
{
	while (*i < a->n && a->changed[*i])
		++*i;
	while (*j < b->n && b->changed[*j])
		++*j;
}

static void hunk_print(const struct lines *a, const struct lines *b, uint32_t i, uint32_t j,
		       uint32_t iend, uint32_t jend)
{
	printf("@@ ");
	range_print('-', i, iend);
	putchar(' ');
	range_print('+', j, jend);
	printf(" @@\n");
	while (i < iend || j < jend) {
		uint32_t k = i, m = j;

		change_skip(a, b, &k, &m);
		while (i < k)
			line_print('-', a, i++);
		while (j < m)
			line_print('+', b, j++);
		while (i < iend && !a->changed[i] && j < jend && !b->changed[j]) {
			line_print(' ', a, i++);
			j++;
		}
	}
}

static void hunks_print(const struct lines *a, const struct lines *b)
{
	uint32_t i = 0, j = 0, seen = 0;

	for (;;) {
		uint32_t before, ibegin, jbegin, k, m;

		same_skip(a, b, &i, &j, UINT32_MAX);
		if (i == a->n && j == b->n)
			return;
		/* seen: the lines of a that were printed. */
		before = MIN(CONTEXT, i - seen);
		ibegin = i - before;
		jbegin = j - before;
		for (;;) {
			change_skip(a, b, &i, &j);
			k = i;
			m = j;
			same_skip(a, b, &k, &m, 2 * CONTEXT + 1);
			/* Near enough to the next for one hunk. */
			if (k - i > 2 * CONTEXT || (k == a->n && m == b->n))
				break;
			i = k;
			j = m;
		}
		k = i;
		m = j;
		same_skip(a, b, &k, &m, CONTEXT);
		hunk_print(a, b, ibegin, jbegin, k, m);
		i = seen = k;
		j = m;
	}
}

/* ---- one path ---- */

enum looks { SAME, TEXT, BINARY, LARGE };

static enum looks contents_look(const struct change_side *old, const struct change_side *new)
{
	const struct change_side *sides[2] = { old, new };

	if (old && new && old->content == '=' && new->content == '=')
		return SAME;
	for (unsigned i = 0; i < 2; i++)
		if (sides[i] && sides[i]->content == '!')
			return LARGE;
	if (old && new && old->size == new->size && !memcmp(old->data, new->data, old->size))
		return SAME;
	for (unsigned i = 0; i < 2; i++)
		if (sides[i] && memchr(sides[i]->data, 0, sides[i]->size))
			return BINARY;
	return TEXT;
}

static void name_or_null(const char *side, const char *path, bool there)
{
	if (there)
		name_print(side, path);
	else
		printf("/dev/null");
}

static void differ_print(const char *path, const struct change_side *old,
			 const struct change_side *new, enum looks looks)
{
	printf(looks == BINARY ? "Binary files " : "Files ");
	name_or_null("a", path, old);
	printf(" and ");
	name_or_null("b", path, new);
	printf(" differ");
	if (looks == LARGE) {
		unsigned long long was = old ? old->size : 0, is = new ? new->size : 0;

		printf(" (%llu and %llu bytes; ", was, is);
		if (MAX(was, is) > TELL_CONTENT_MAX)
			printf("not compared above %u)", TELL_CONTENT_MAX);
		else
			printf("the host does not let everybody read it)");
	}
	putchar('\n');
}

static void header_print(const char *path)
{
	printf("diff --git ");
	name_print("a", path);
	putchar(' ');
	name_print("b", path);
	putchar('\n');
}

static unsigned git_mode(const struct change_side *s)
{
	return s->type == 'l' ? 0120000 : 0100000 | s->mode;
}

static bool text_print(const char *path, const struct change_side *old,
		       const struct change_side *new)
{
	struct lines a, b;
	bool ok;

	if (!lines_init(&a, old ? old->data : "", old ? old->size : 0))
		return false;
	if (!lines_init(&b, new ? new->data : "", new ? new->size : 0)) {
		lines_fini(&a);
		return false;
	}
	ok = lines_compare(&a, &b);
	if (ok && (a.n || b.n)) {
		printf("--- ");
		name_or_null("a", path, old);
		printf("\n+++ ");
		name_or_null("b", path, new);
		putchar('\n');
		hunks_print(&a, &b);
	}
	lines_fini(&a);
	lines_fini(&b);
	return ok;
}

/* A file or link that comes (old is NULL) or goes (new is NULL). */
static bool one_print(const char *path, const struct change_side *old,
		      const struct change_side *new)
{
	const struct change_side *s = old ? old : new;
	enum looks looks = contents_look(old, new);

	if (looks != TEXT) {
		differ_print(path, old, new, looks);
		return true;
	}
	header_print(path);
	printf("%s file mode %o\n", old ? "deleted" : "new", git_mode(s));
	if (!s->size)
		printf(old ? "index " EMPTY_BLOB "..0000000\n" : "index 0000000.." EMPTY_BLOB "\n");
	return text_print(path, old, new);
}

static bool both_print(const char *path, const struct change_side *old,
		       const struct change_side *new)
{
	enum looks looks = contents_look(old, new);
	bool mode = old->mode != new->mode;

	/* Before the header: what it says of the mode can be applied. */
	if (looks == BINARY || looks == LARGE)
		differ_print(path, old, new, looks);
	if (mode || looks == TEXT)
		header_print(path);
	if (mode)
		printf("old mode %o\nnew mode %o\n", git_mode(old), git_mode(new));
	return looks == TEXT ? text_print(path, old, new) : true;
}

static bool is_content(const struct change_side *s)
{
	return s->type == 'f' || s->type == 'l';
}

/* What has no form in a patch. */
static void other_print(const char *what, const char *path, const struct change_side *s)
{
	const char *type = s->type == 'd'   ? "directory"
			   : s->type == 'c' ? "character device"
			   : s->type == 'b' ? "block device"
			   : s->type == 'p' ? "fifo"
					    : "socket";

	printf("# %s %s ", what, type);
	name_print("", path);
	printf(", mode %o", s->mode);
	if (s->type == 'c' || s->type == 'b')
		printf(", number %u:%u", major(s->size), minor(s->size));
	putchar('\n');
}

static void owner_print(const char *path, const struct change_side *old,
			const struct change_side *new)
{
	if (!new->type ||
	    (old->type ? old->uid == new->uid && old->gid == new->gid : !new->uid && !new->gid))
		return;
	printf("# owner of ");
	name_print("", path);
	if (old->type)
		printf(" was %u:%u,", old->uid, old->gid);
	printf(" is %u:%u\n", new->uid, new->gid);
}

bool patch_print(const char *path, const struct change_side *old, const struct change_side *new)
{
	bool was = is_content(old), is = is_content(new), ok = true;

	owner_print(path, old, new);
	if (old->type == 'f' && new->type == 'f')
		return both_print(path, old, new);
	if (old->type == 'l' && new->type == 'l' && contents_look(old, new) == SAME)
		return true;
	if (was)
		ok = one_print(path, old, NULL);
	else if (old->type && old->type == new->type && old->size == new->size) {
		if (old->mode != new->mode)
			other_print("changed", path, new);
		return true;
	} else if (old->type)
		other_print("deleted", path, old);
	if (!ok)
		return false;
	if (is)
		return one_print(path, NULL, new);
	if (new->type)
		other_print("new", path, new);
	return true;
}
