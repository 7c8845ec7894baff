/* See fileswrite.h. One run of viv-files after the other: the directory of a file, then the file.
 * Its input and what it says are memory files, so nothing has to be passed on meanwhile; when it
 * has ended, what it said is read as the word of a stranger. */
#include "daemon/cells/fileswrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/cells/filesprogram.h"
#include "daemon/cells/offline.h"
#include "wire/files.h"
#include "wire/memfd.h"

#define SAID_MAX 65536

struct writing {
	struct visitor visitor;
	struct keeper_link *link;
	const json_t *files;
	size_t at; /* of files */
	bool dir_done; /* of that one */
	int said; /* what viv-files says; -1: none */
	struct err f;
	written_fn fn;
	void *arg;
};

static void step(struct writing *w);

static const char *path_of(const struct writing *w)
{
	return json_string_value(json_object_get(json_array_get(w->files, w->at), "path"));
}

/* ---- the end ---- */

static void writing_free(struct writing *w)
{
	w->fn(w->arg, w->f.kind ? &w->f : NULL);
	free(w);
}

static void left(struct visitor *v)
{
	writing_free(container_of(v, struct writing, visitor));
}

static void finish(struct writing *w)
{
	if (w->said >= 0)
		close(w->said);
	w->said = -1;
	if (visit_end(&w->visitor, left))
		writing_free(w);
}

static void path_failed(struct writing *w, int err)
{
	err_note(&w->f, ERR_FILES, "cannot write %.300s: %s", path_of(w), strerror(err));
	finish(w);
}

/* ---- one run ---- */

static void frame_add(struct buf *b, uint8_t type, const void *data, size_t size)
{
	struct files_frame f = { .type = type, .size = (uint32_t)size };

	buf_add(b, &f, sizeof(f));
	buf_add(b, data, size);
}

/* The bytes of the file as frames. */
static int input_make(const json_t *file)
{
	const json_t *bytes = json_object_get(file, "bytes");
	const char *p = json_string_value(bytes);
	size_t left_over = json_string_length(bytes), n;
	struct buf b = { 0 };
	int fd;

	for (; left_over; p += n, left_over -= n) {
		n = MIN(left_over, (size_t)FILES_DATA_MAX);
		frame_add(&b, FILES_DATA, p, n);
	}
	frame_add(&b, FILES_END, "", 0);
	fd = memfd_sealed("viv-input", b.p, b.len);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	explicit_bzero(b.p, b.len);
	buf_free(&b);
	return fd;
}

static int spec_make(const struct writing *w)
{
	const json_t *mode = json_object_get(json_array_get(w->files, w->at), "mode");
	char octal[16], *dir = xstrndup(path_of(w), strlen(path_of(w)));
	const char *const write[] = { "write", dir, octal, "-", "-", "1", "1", "-", NULL };
	const char *const mkdir[] = { "mkdir", dir, "1", "-", "-", "-", NULL };
	int fd;

	snprintf(octal, sizeof(octal), "%o", mode ? (unsigned)json_integer_value(mode) : 0644);
	if (!w->dir_done) /* the directory; of a file in the root, that */
		dir[MAX(strrchr(dir, '/') - dir, 1)] = '\0';
	fd = files_spec(w->dir_done ? write : mkdir, NULL);
	free(dir);
	return fd;
}

/* What it said last: 0, or the errno of what failed. */
static int said_read(int fd)
{
	static char text[SAID_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct files_frame f;
	struct files_error e;

	for (ssize_t at = 0; at + (ssize_t)sizeof(f) <= n; at += (ssize_t)(sizeof(f) + f.size)) {
		memcpy(&f, text + at, sizeof(f));
		if (f.type == FILES_END)
			return 0;
		if (f.size > SAID_MAX)
			break;
		if (f.type == FILES_ERROR && at + (ssize_t)(sizeof(f) + sizeof(e)) <= n) {
			memcpy(&e, text + at + sizeof(f), sizeof(e));
			return e.code > 0 && e.code < 4096 ? e.code : EIO;
		}
	}
	return EIO;
}

static void ran(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct writing *w = arg;
	int err;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (m && m->type == KEEP_STARTED)
		return;
	if (!m || m->type != KEEP_EXITED) {
		err_note(&w->f, ERR_FAILED, "the kernel for it ended");
		if (m)
			keep_fail_get(m, &w->f);
		w->f.kind = ERR_FAILED;
		err_wrap(&w->f, "the files cannot be written");
		finish(w);
		return;
	}
	err = said_read(w->said);
	close(w->said);
	w->said = -1;
	if (err) {
		/* Something else has the name of a directory above it. */
		path_failed(w, err == EEXIST && !w->dir_done ? ENOTDIR : err);
		return;
	}
	w->at += w->dir_done;
	w->dir_done = !w->dir_done;
	step(w);
}

static void step(struct writing *w)
{
	int fds[4], err = 0; /* the spec, and streams */

	if (w->at == json_array_size(w->files)) {
		finish(w);
		return;
	}
	fds[0] = spec_make(w);
	fds[1] = w->dir_done ? input_make(json_array_get(w->files, w->at))
			     : open("/dev/null", O_RDONLY | O_CLOEXEC);
	w->said = fds[2] = memfd_create("viv-said", MFD_CLOEXEC);
	fds[3] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (unsigned i = 0; i < ARRAY_LEN(fds); i++)
		if (fds[i] < 0)
			err = fds[i] < -1 ? -fds[i] : EMFILE;
	if (!err)
		err = -files_run(w->link, fds[0], fds + 1, ran, w);
	for (unsigned i = 0; i < ARRAY_LEN(fds); i++)
		if (i != 2 && fds[i] >= 0)
			close(fds[i]);
	if (err)
		path_failed(w, err);
}

static void ready(struct visitor *v, struct keeper_link *l, const struct err *f)
{
	struct writing *w = container_of(v, struct writing, visitor);

	if (!l) {
		w->f = *f;
		writing_free(w);
		return;
	}
	w->link = l;
	step(w);
}

void cell_files_write(struct cell *c, const json_t *files, written_fn fn, void *arg)
{
	struct writing *w = xalloc(sizeof(*w));

	w->files = files;
	w->said = -1;
	w->fn = fn;
	w->arg = arg;
	visit_begin(c, &w->visitor, ready);
}
