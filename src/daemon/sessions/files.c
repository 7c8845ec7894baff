/* Text files of the cell, for its agent: read and written by viv-files inside of the cell, as the
 * user that the agent runs as, so it reaches what that user reaches and no path of the host. What
 * viv-files says goes to a memory file of a fixed size, and is read as the word of a stranger. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "daemon/agents/prompt.h"
#include "daemon/cells/filesprogram.h"
#include "daemon/sessions/private.h"
#include "wire/files.h"
#include "wire/memfd.h"

#define TEXT_MAX (4u << 20) /* bytes of a file */
#define SAID_MAX (TEXT_MAX + 65536)
#define SECONDS 30

/* ---- running it ---- */

/* Nothing can make it larger. */
static int said_new(void)
{
	int fd = memfd_create("viv-said", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, SAID_MAX) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* input: a descriptor, taken; -1: none. */
static int run(struct keeper_link *l, const char *const *words, const char *user, int input,
	       int said, ask_fn fn, void *arg)
{
	int spec = files_spec(words, user), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fds[3] = { input >= 0 ? input : null, said, null };
	int err = spec < 0 ? spec : null < 0 || said < 0 || !l ? -EMFILE : 0;

	if (!err)
		err = files_run_for(l, spec, fds, SECONDS * NSEC_PER_SEC, fn, arg);
	if (spec >= 0)
		close(spec);
	if (null >= 0)
		close(null);
	if (input >= 0)
		close(input);
	return err;
}

static int input_make(const char *p, size_t n)
{
	struct files_frame f;
	struct buf b = { 0 };
	int fd;

	while (n) {
		size_t some = MIN(n, (size_t)FILES_DATA_MAX);

		f = (struct files_frame){ .type = FILES_DATA, .size = (uint32_t)some };
		buf_add(&b, &f, sizeof(f));
		buf_add(&b, p, some);
		p += some;
		n -= some;
	}
	f = (struct files_frame){ .type = FILES_END };
	buf_add(&b, &f, sizeof(f));
	fd = memfd_sealed("viv-input", b.p, b.len);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	buf_free(&b);
	return fd;
}

/* What it said: 0 and the bytes of the file, or the errno of what failed. */
static int said_read(int fd, struct buf *ret)
{
	struct files_frame f;
	struct files_error e;
	off_t at = 0;

	while (pread(fd, &f, sizeof(f), at) == sizeof(f)) {
		at += (off_t)sizeof(f);
		if (f.type == FILES_END)
			return 0;
		if (f.size > SAID_MAX || at + (off_t)f.size > SAID_MAX)
			return EFBIG;
		if (f.type == FILES_ERROR) {
			if (pread(fd, &e, sizeof(e), at) != sizeof(e))
				return EIO;
			return e.code > 0 && e.code < 4096 ? e.code : EIO;
		}
		if (f.type == FILES_DATA && f.size &&
		    pread(fd, buf_more(ret, f.size), f.size, at) != (ssize_t)f.size)
			return EIO;
		if (f.type != FILES_DATA && f.type != FILES_RECORD)
			return EFBIG; /* the file had no room for more */
		at += (off_t)f.size;
	}
	return EFBIG;
}

static void fds_close(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

/* True: its end is not there yet. *ret: an errno, else 0. */
static bool run_goes_on(const struct keep_msg *m, int *fds, unsigned nfds, int *ret)
{
	fds_close(fds, nfds);
	*ret = m && m->type == KEEP_EXITED ? 0 : EIO;
	return m && m->type == KEEP_STARTED;
}

static void op_errno(struct agent_op *op, int err)
{
	op_error(op, err == ENOENT ? RPC_NOT_FOUND : RPC_INTERNAL,
		 err == EFBIG ? "the file is larger than 4 MiB" : strerror(err));
}

/* ---- for the agent ---- */

static const char *path_of(struct agent_op *op, const json_t *params)
{
	const char *path = json_text(params, "path");

	if (path && *path == '/' && strlen(path) < 4096)
		return path;
	op_error(op, RPC_INVALID_PARAMS, "'path' is an absolute path");
	return NULL;
}

/* From a line on, so many of them; 0: all. */
static json_t *lines_cut(const struct buf *b, size_t line, size_t limit)
{
	const char *p = b->len ? (char *)b->p : "", *end = p + b->len, *from;

	for (size_t i = 1; i < line && p < end; i++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		p = next ? next + 1 : end;
	}
	from = p;
	for (size_t i = 0; limit && i < limit && p < end; i++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		p = next ? next + 1 : end;
	}
	return json_stringn(from, (size_t)((limit ? p : end) - from));
}

static void read_ran(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct agent_op *op = arg;
	int err;

	if (run_goes_on(m, fds, nfds, &err)) {
		if (op->s)
			process_note(op->s, m->pid);
		return;
	}
	if (!err)
		err = said_read(op->fd, &op->b);
	if (err)
		op_errno(op, err);
	else if (!text_is_utf8((char *)op->b.p, op->b.len))
		op_error(op, RPC_INTERNAL, "the file is not text in UTF-8");
	else
		op_result(op,
			  json_pack("{s:o}", "content", lines_cut(&op->b, op->line, op->limit)));
}

void files_read(struct session *s, struct agent_op *op, const json_t *params)
{
	const char *path = path_of(op, params);
	const char *const words[] = { "read", path, "all", "-", "-", NULL };
	json_int_t line = json_integer_value(json_object_get(params, "line"));
	json_int_t limit = json_integer_value(json_object_get(params, "limit"));
	int err;

	if (!path)
		return;
	op->line = line > 0 ? (size_t)line : 1;
	op->limit = limit > 0 ? (size_t)limit : 0;
	op->fd = said_new();
	err = run(s->keeper, words, json_text(s->spec, "user"), -1, op->fd, read_ran, op);
	if (err)
		op_errno(op, -err);
}

static void write_ran(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct agent_op *op = arg;
	int err;

	if (run_goes_on(m, fds, nfds, &err)) {
		if (op->s)
			process_note(op->s, m->pid);
		return;
	}
	if (!err)
		err = said_read(op->fd, &op->b);
	if (err)
		op_errno(op, err);
	else
		op_result(op, json_object());
}

void files_write(struct session *s, struct agent_op *op, const json_t *params)
{
	const char *path = path_of(op, params);
	const char *const words[] = { "write", path, "-", "-", "-", "1", "0", "1", NULL };
	const json_t *content = json_object_get(params, "content");
	int err;

	if (!path)
		return;
	if (!json_is_string(content)) {
		op_error(op, RPC_INVALID_PARAMS, "'content' is a text");
		return;
	}
	op->fd = said_new();
	err = run(s->keeper, words, json_text(s->spec, "user"),
		  input_make(json_string_value(content), json_string_length(content)), op->fd,
		  write_ran, op);
	if (err)
		op_errno(op, -err);
}

/* ---- for its start ---- */

struct files_give {
	struct daemon *d;
	char session[SESSION_ID_LEN + 1]; /* which may be gone in the end */
	json_t *files;
	void *at; /* the one that is being written, in files */
	/* it is new; it is there, and looked at; it is ours and replaced */
	enum { PUT_NEW, PUT_LOOK, PUT_AGAIN } step;
	int said;
	void (*fn)(struct session *s, const struct err *f);
};

static void files_over(struct files_give *x, int err)
{
	struct err e = { 0 };
	struct session *s = session_find(x->d, NULL, x->session, &e);

	e.kind = ERR_NONE;
	if (err)
		err_note(&e, ERR_FILES, "cannot write %.300s in the cell: %s",
			 json_object_iter_key(x->at), strerror(err));
	if (s)
		x->fn(s, err ? &e : NULL);
	json_decref(x->files);
	free(x);
}

static void file_ran(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);

static void file_step(struct files_give *x)
{
	const char *path = json_object_iter_key(x->at);
	const char *text = json_string_value(json_object_iter_value(x->at));
	const char *const write[] = { "write", path, "-", "-", "-", x->step == PUT_NEW ? "0" : "1",
				      "0",     "1",  NULL };
	const char *const read[] = { "read", path, "all", "-", "-", NULL };
	struct err unused = { 0 };
	struct session *s = session_find(x->d, NULL, x->session, &unused);
	bool look = x->step == PUT_LOOK;
	int err;

	if (!s) {
		files_over(x, 0);
		return;
	}
	x->said = said_new();
	err = run(s->keeper, look ? read : write, json_text(s->spec, "user"),
		  look ? -1 : input_make(text, strlen(text)), x->said, file_ran, x);
	if (err) {
		if (x->said >= 0)
			close(x->said);
		files_over(x, -err);
	}
}

/* What came of a step: whether the same file needs another one. *err is 0 if what failed does not
 * matter. */
static bool file_again(struct files_give *x, const struct buf *b, int *err)
{
	size_t head = strlen(PROMPT_HEAD);

	if (x->step == PUT_NEW && *err == EEXIST) {
		*err = 0;
		x->step = PUT_LOOK;
		/* Only what vivd itself writes is replaced. */
		return !strncmp(json_string_value(json_object_iter_value(x->at)), PROMPT_HEAD,
				head);
	}
	if (x->step == PUT_LOOK) {
		bool ours = !*err && b->len >= head && !memcmp(b->p, PROMPT_HEAD, head);

		*err = 0;
		x->step = PUT_AGAIN;
		return ours;
	}
	return false;
}

static void file_ran(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct files_give *x = arg;
	struct buf b = { 0 };
	bool again;
	int err;

	if (run_goes_on(m, fds, nfds, &err))
		return;
	if (!err)
		err = said_read(x->said, &b);
	close(x->said);
	again = m && file_again(x, &b, &err);
	buf_free(&b);
	if (!err && !again) {
		x->at = json_object_iter_next(x->files, x->at);
		x->step = PUT_NEW;
	}
	if (err || !x->at)
		files_over(x, err);
	else
		file_step(x);
}

void files_give(struct session *s, const json_t *files,
		void (*fn)(struct session *s, const struct err *f))
{
	struct files_give *x = xalloc(sizeof(*x));

	x->d = s->d;
	strcpy(x->session, s->id);
	x->fn = fn;
	x->files = json_deep_copy(files);
	x->at = json_object_iter(x->files);
	file_step(x);
}
