/* What a kernel can ask for. A request is as untrusted as the kernel: its operation, keys and
 * lengths are checked here; whatever it says, the key begins with the mount's prefix, the bucket is
 * the mount's, and a read-only mount changes nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "s3/s3.h"
#include "s3/xml.h"

#define FULL_KEY (2 * S3_KEY_MAX + 4)
#define QUERY_SIZE 7168

struct op {
	struct conn *conn;
	const struct s3_request *q;
	int fd;
	char key[FULL_KEY], key2[FULL_KEY], parent[FULL_KEY];
};

/* The whole key: prefix, key and, for a directory, a slash. False: longer than S3 has them. */
static bool key_make(char *out, const char *key, size_t len, bool dir)
{
	size_t n = strlen(target.prefix);

	if (n + len + 1 > S3_KEY_MAX)
		return false;
	memcpy(out, target.prefix, n);
	memcpy(out + n, key, len);
	n += len;
	if (dir && len)
		out[n++] = '/';
	out[n] = '\0';
	return true;
}

static void reply_from(struct s3_reply *r, const struct answer *a)
{
	r->size = a->total;
	r->mtime = a->mtime;
	r->etag = a->etag[0] ? etag_hash(a->etag, strlen(a->etag)) : 0;
}

/* ---- listings ---- */

struct lister {
	struct s3_reply reply;
	const char *dir; /* the whole key, with its slash */
	size_t dir_len;
	unsigned seen; /* what lies in it, the marker not counted */
	bool marker, send;
	char last[sizeof(((struct listing_entry *)0)->key)]; /* the greatest key so far */
};

/* Set when the server cannot give a page of the newer form of listings (ListObjectsV2), but can of
 * the older one. */
static _Atomic bool lists_older;

static void lister_flush(struct lister *l, bool more)
{
	l->reply.flags = (more ? S3_MORE : 0) | (l->marker ? S3_MARKER : 0);
	send_reply(&l->reply);
	l->reply.nbytes = 0;
}

static bool on_entry(struct listing *ls, const struct listing_entry *in)
{
	struct lister *l = ls->arg;
	struct s3_entry e = { .size = in->size,
			      .mtime = in->mtime,
			      .etag = in->etag,
			      .type = in->is_dir ? S3_DIR : S3_FILE };
	const char *name = in->key + l->dir_len;
	size_t len;

	if (in->key_len < l->dir_len || memcmp(in->key, l->dir, l->dir_len) != 0)
		return true; /* not asked for */
	if (strcmp(in->key, l->last) > 0)
		strcpy(l->last, in->key);
	len = in->key_len - l->dir_len;
	if (len == 0) {
		l->marker = true;
		return true;
	}
	l->seen++;
	if (in->is_dir && name[len - 1] == '/')
		len--;
	/* What no file can be called cannot be shown. */
	if (!l->send || !s3_name_ok(name, len))
		return true;
	if (l->reply.nbytes + S3_ENTRY_SIZE(len) > S3_LIST_BYTES)
		lister_flush(l, true);
	e.len = (uint16_t)len;
	memcpy(e.name, name, len);
	memcpy(l->reply.entries + l->reply.nbytes, &e, S3_ENTRY_HEAD + len);
	l->reply.nbytes += (uint32_t)S3_ENTRY_SIZE(len);
	return true;
}

/* One page, from where ls says. older: by the key that it comes after; not every server can make
 * the newer form's tokens, and where no next page is asked for there is no need of them. */
static int list_page(struct op *o, struct lister *l, struct listing *ls, bool older, unsigned max,
		     bool *ret_refused)
{
	char query[QUERY_SIZE], prefix[3 * FULL_KEY], from[3 * sizeof(ls->token)];
	const char *next = older ? ls->marker : ls->token;
	struct ask q = { .method = "GET", .query = query };
	struct answer a = { .fd = -1 };
	int r;

	*ret_refused = false;
	if (!url_encode(next, strlen(next), false, from, sizeof(from)) ||
	    !url_encode(l->dir, l->dir_len, false, prefix, sizeof(prefix)))
		return -ENAMETOOLONG;
	if ((size_t)snprintf(query, sizeof(query),
			     "%s%s%sdelimiter=%%2F&encoding-type=url%s%s%s&max-keys=%u&prefix=%s",
			     from[0] && !older ? "continuation-token=" : "", older ? "" : from,
			     from[0] && !older ? "&" : "", older ? "" : "&list-type=2",
			     from[0] && older ? "&marker=" : "", older ? from : "", max,
			     prefix) >= sizeof(query))
		return -ENAMETOOLONG;
	r = conn_ask(o->conn, &q, &a);
	*ret_refused = r == -EIO && (a.status >= 500 || a.status == 400);
	if (r == 0 && !listing_parse(ls, a.body ? a.body : "", a.len))
		r = -EIO;
	answer_free(&a);
	return r;
}

/* Where the next page begins. A page that cannot be asked for, or does not lead on, would be asked
 * for again and again. */
static int list_on(struct lister *l, struct listing *ls, bool older, char *before)
{
	if (!older)
		return ls->token[0] ? 0 : -EIO;
	if (strcmp(l->last, ls->marker) > 0)
		strcpy(ls->marker, l->last);
	if (strcmp(ls->marker, before) <= 0)
		return -EIO;
	strcpy(before, ls->marker);
	return 0;
}

/* All of a directory, to the kernel. */
static int list_all(struct op *o, struct lister *l)
{
	static __thread struct listing ls;
	char before[sizeof(ls.marker)] = "";
	bool older = lists_older, refused;
	int r;

	ls = (struct listing){ .entry = on_entry, .arg = l };
	r = list_page(o, l, &ls, older, 1000, &refused);
	if (!older && refused) {
		ls.marker[0] = '\0';
		r = list_page(o, l, &ls, older = true, 1000, &refused);
		lists_older = r == 0;
	}
	while (r == 0 && ls.truncated) {
		r = list_on(l, &ls, older, before);
		if (r == 0)
			r = list_page(o, l, &ls, older, 1000, &refused);
	}
	return r;
}

/* Whether there is anything in it. */
static int list_peek(struct op *o, struct lister *l)
{
	static __thread struct listing ls;
	bool refused;

	ls = (struct listing){ .entry = on_entry, .arg = l };
	return list_page(o, l, &ls, true, 2, &refused);
}

static void op_list(struct op *o, struct s3_reply *r)
{
	struct lister *l = calloc(1, sizeof(*l));

	if (!l) {
		r->err = -ENOMEM;
		return;
	}
	l->reply.id = r->id;
	l->dir = o->key;
	l->dir_len = strlen(o->key);
	l->send = true;
	r->err = list_all(o, l);
	if (r->err == 0 && l->reply.nbytes)
		lister_flush(l, true);
	/* A directory that nothing lies in and that has no marker is not there; the one that is
	 * mounted always is. */
	if (r->err == 0 && !l->seen && !l->marker && l->dir_len > strlen(target.prefix))
		r->err = -ENOENT;
	r->flags = l->marker ? S3_MARKER : 0;
	free(l);
}

/* ---- the others ---- */

static void op_stat(struct op *o, struct s3_reply *r)
{
	struct ask q = { .method = "HEAD", .key = o->key, .query = "" };
	struct answer a = { .fd = -1 };
	struct lister l = { .dir = o->key2 };

	r->err = conn_ask(o->conn, &q, &a);
	if (r->err == 0) {
		r->type = S3_FILE;
		reply_from(r, &a);
	}
	answer_free(&a);
	if (r->err != -ENOENT)
		return;
	if (!key_make(o->key2, o->q->keys, o->q->key_len, true))
		return;
	l.dir_len = strlen(l.dir);
	r->err = list_peek(o, &l);
	if (r->err == 0 && !l.seen && !l.marker)
		r->err = -ENOENT;
	r->type = r->err ? S3_NOTHING : S3_DIR;
	r->flags = l.marker ? S3_MARKER : 0;
}

static bool is_file(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void op_get(struct op *o, struct s3_reply *r)
{
	struct ask q = { .method = "GET",
			 .key = o->key,
			 .query = "",
			 .has_range = true,
			 .from = o->q->off,
			 .len = o->q->len };
	struct answer a = { .fd = o->fd, .off = o->q->off, .room = o->q->len };

	if (!is_file(o->fd) || !q.len || q.from > INT64_MAX / 2 || q.len > (1UL << 40)) {
		r->err = -EINVAL;
		return;
	}
	r->err = conn_ask(o->conn, &q, &a);
	if (r->err == -ENODATA)
		r->err = 0; /* it ends before */
	reply_from(r, &a);
	r->done = a.done;
	answer_free(&a);
}

static int put_plain(struct op *o, const char *key, const void *body, size_t len, const char *query,
		     struct answer *a)
{
	struct ask q = {
		.method = "PUT", .key = key, .query = query, .body = body, .body_len = len
	};

	return conn_ask(o->conn, &q, a);
}

static int part_read(int fd, char *buf, uint64_t off, size_t len)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, (off_t)off);

		if (n <= 0)
			return n ? -errno : -EIO;
		buf += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* The parts, and the list of them for the end. */
static int parts_put(struct op *o, const char *id, char *buf, size_t part, char *list, size_t size,
		     size_t *ret_len)
{
	size_t n = (size_t)snprintf(list, size, "<CompleteMultipartUpload>");
	uint64_t len = o->q->len;
	unsigned number = 1;

	for (uint64_t off = 0; off < len; off += part, number++) {
		size_t now = (size_t)MIN((uint64_t)part, len - off);
		struct answer a = { .fd = -1 };
		char query[2048];
		int r = part_read(o->fd, buf, off, now);

		if (r == 0) {
			snprintf(query, sizeof(query), "partNumber=%u&uploadId=%s", number, id);
			r = put_plain(o, o->key, buf, now, query, &a);
		}
		answer_free(&a);
		if (r < 0)
			return r;
		for (const char *s = a.etag; *s; s++)
			if (strchr("<>&", *s))
				return -EIO;
		n += (size_t)snprintf(list + n, size - n,
				      "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>",
				      number, a.etag);
		if (n + 64 > size)
			return -EIO;
	}
	n += (size_t)snprintf(list + n, size - n, "</CompleteMultipartUpload>");
	*ret_len = n;
	return 0;
}

static int put_multipart(struct op *o, struct s3_reply *r)
{
	uint64_t part = MAX(S3_PART_SIZE, (o->q->len + S3_PARTS_MAX - 1) / S3_PARTS_MAX);
	size_t list_size = (o->q->len / part + 2) * 320 + 256, list_len = 0;
	char raw[512], id[1536], query[2048], tag[256];
	char *buf = malloc(part), *list = malloc(list_size);
	struct ask start = { .method = "POST", .key = o->key, .query = "uploads=" };
	struct ask end = { .method = "POST", .key = o->key, .query = query };
	struct answer a = { .fd = -1 };
	int err = buf && list ? conn_ask(o->conn, &start, &a) : -ENOMEM;

	if (err == 0 && (!a.body || !xml_value(a.body, a.len, "UploadId", raw, sizeof(raw)) ||
			 !url_encode(raw, strlen(raw), false, id, sizeof(id))))
		err = -EIO;
	answer_free(&a);
	if (err < 0)
		goto out_free;
	snprintf(query, sizeof(query), "uploadId=%s", id);
	err = parts_put(o, id, buf, part, list, list_size, &list_len);
	if (err == 0) {
		end.body = list;
		end.body_len = list_len;
		err = conn_ask(o->conn, &end, &a);
		/* Success can turn into failure after the first line was sent. */
		if (err == 0 && a.body && xml_value(a.body, a.len, "Code", tag, sizeof(tag)))
			err = -EIO;
		if (err == 0 && a.body && xml_value(a.body, a.len, "ETag", tag, sizeof(tag)))
			r->etag = etag_hash(tag, strlen(tag));
		answer_free(&a);
	}
	if (err < 0) {
		struct ask abandon = { .method = "DELETE", .key = o->key, .query = query };

		(void)conn_ask(o->conn, &abandon, &a);
		answer_free(&a);
	}
out_free:
	free(buf);
	free(list);
	return err;
}

static void op_put(struct op *o, struct s3_reply *r)
{
	struct answer a = { .fd = -1 };
	struct stat st;
	char *buf;

	if (!is_file(o->fd) || fstat(o->fd, &st) < 0 || o->q->len > (uint64_t)st.st_size) {
		r->err = -EINVAL;
		return;
	}
	if (o->q->len > S3_MULTIPART_ABOVE) {
		r->err = put_multipart(o, r);
	} else {
		buf = malloc(o->q->len + 1);
		r->err = buf ? part_read(o->fd, buf, 0, o->q->len) : -ENOMEM;
		if (r->err == 0)
			r->err = put_plain(o, o->key, buf, o->q->len, "", &a);
		free(buf);
		r->etag = a.etag[0] ? etag_hash(a.etag, strlen(a.etag)) : 0;
		answer_free(&a);
	}
	r->size = o->q->len;
}

static int marker_put(struct op *o, const char *key)
{
	struct answer a = { .fd = -1 };
	int r = put_plain(o, key, "", 0, "", &a);

	answer_free(&a);
	return r;
}

/* Before something goes: its directory stays, also when nothing is left in it. */
static int parent_keep(struct op *o)
{
	return (o->q->flags & S3_KEEP_PARENT) && o->parent[0] ? marker_put(o, o->parent) : 0;
}

static int object_delete(struct op *o, const char *key)
{
	struct ask q = { .method = "DELETE", .key = key, .query = "" };
	struct answer a = { .fd = -1 };
	int r = conn_ask(o->conn, &q, &a);

	answer_free(&a);
	return r == -ENOENT ? 0 : r;
}

static void op_rename(struct op *o, struct s3_reply *r)
{
	char source[3 * FULL_KEY + 512], text[256];
	struct ask q = { .method = "PUT", .key = o->key2, .query = "", .copy_source = source };
	struct answer a = { .fd = -1 };
	size_t n = (size_t)snprintf(source, sizeof(source), "/%s/", target.bucket);

	if (!url_encode(o->key, strlen(o->key), true, source + n, sizeof(source) - n)) {
		r->err = -ENAMETOOLONG;
		return;
	}
	r->err = conn_ask(o->conn, &q, &a);
	if (r->err == 0 && a.body && xml_value(a.body, a.len, "Code", text, sizeof(text)))
		r->err = -EIO;
	if (r->err == -EIO && a.status == 400)
		r->err = -EXDEV; /* too large for one copy: the caller copies it itself */
	if (r->err == 0 && a.body && xml_value(a.body, a.len, "ETag", text, sizeof(text)))
		r->etag = etag_hash(text, strlen(text));
	answer_free(&a);
	if (r->err == 0)
		r->err = parent_keep(o);
	if (r->err == 0)
		r->err = object_delete(o, o->key);
}

static void op_rmdir(struct op *o, struct s3_reply *r)
{
	struct lister l = { .dir = o->key, .dir_len = strlen(o->key) };

	r->err = list_peek(o, &l);
	if (r->err == 0 && l.seen)
		r->err = -ENOTEMPTY;
	if (r->err == 0)
		r->err = parent_keep(o);
	if (r->err == 0)
		r->err = object_delete(o, o->key);
}

static void op_run(struct op *o, struct s3_reply *r)
{
	switch (o->q->op) {
	case S3_STAT:
		op_stat(o, r);
		return;
	case S3_LIST:
		op_list(o, r);
		return;
	case S3_GET:
		op_get(o, r);
		return;
	case S3_PUT:
		op_put(o, r);
		return;
	case S3_DELETE:
		r->err = parent_keep(o);
		if (r->err == 0)
			r->err = object_delete(o, o->key);
		return;
	case S3_RENAME:
		op_rename(o, r);
		return;
	case S3_MKDIR:
		r->err = marker_put(o, o->key);
		return;
	case S3_RMDIR:
		op_rmdir(o, r);
		return;
	}
}

/* 0 and the keys in o, or what is wrong with the request. */
static int request_check(struct op *o)
{
	const struct s3_request *q = o->q;
	const char *key2 = q->keys + q->key_len;
	bool dir = q->op == S3_LIST || q->op == S3_MKDIR || q->op == S3_RMDIR;
	size_t up = q->key_len;

	if (q->op < S3_STAT || q->op >= S3_LAST || !s3_key_ok(q->keys, q->key_len) ||
	    (!q->key_len && q->op != S3_LIST))
		return -EINVAL;
	if (q->op == S3_RENAME ? !q->key2_len || !s3_key_ok(key2, q->key2_len) : q->key2_len != 0)
		return -EINVAL;
	if (target.readonly && q->op >= S3_PUT)
		return -EROFS;
	while (up && q->keys[up - 1] != '/')
		up--;
	if (!key_make(o->key, q->keys, q->key_len, dir) ||
	    !key_make(o->key2, key2, q->key2_len, false) ||
	    !key_make(o->parent, q->keys, up, false))
		return -ENAMETOOLONG;
	if (!up)
		o->parent[0] = '\0'; /* the mounted directory needs none */
	return 0;
}

void request_do(struct conn *c, const struct s3_request *q, int fd)
{
	static __thread struct s3_reply r;
	static __thread struct op o;

	memset(&r, 0, S3_REPLY_HEAD);
	r.id = q->id;
	o.conn = c;
	o.q = q;
	o.fd = fd;
	r.err = request_check(&o);
	if (r.err == 0)
		op_run(&o, &r);
	r.nbytes = 0;
	send_reply(&r);
}
