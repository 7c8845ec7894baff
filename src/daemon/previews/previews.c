/* See previews.h. */
#include "daemon/previews/previews.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/cells/cells.h"
#include "daemon/state/events.h"

#define KEY_LEN 32
#define MAX_PREVIEWS 10000

static unsigned char key[KEY_LEN];
static bool has_key;
static uint16_t our_port; /* 0: nobody listens yet */
static uint16_t wanted_port; /* --preview-port */

/* ---- the key ---- */

static int key_failed(const char *path, struct err *e)
{
	return err_set(e, ERR_STORAGE, "cannot use the key of previews, '%s': %s", path,
		       strerror(errno));
}

/* Made under another name: a key that is there is whole. */
static int key_make(const char *path, struct err *e)
{
	char new[4200];
	int fd;
	bool ok;

	snprintf(new, sizeof(new), "%.4100s.new", path);
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return key_failed(path, e);
	ok = getrandom(key, sizeof(key), 0) == sizeof(key) &&
	     write(fd, key, sizeof(key)) == sizeof(key) && fsync(fd) == 0 && rename(new, path) == 0;
	close(fd);
	if (!ok)
		return key_failed(path, e);
	has_key = true;
	return 0;
}

static int key_take(struct daemon *d, struct err *e)
{
	char path[4120];
	struct stat st;
	int fd;

	if (has_key)
		return 0;
	snprintf(path, sizeof(path), "%s/preview.key", d->state);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return key_make(path, e);
	if (fd < 0)
		return key_failed(path, e);
	has_key = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		  !(st.st_mode & 077) && read(fd, key, sizeof(key)) == sizeof(key);
	close(fd);
	if (has_key)
		return 0;
	return err_set(e, ERR_STORAGE,
		       "the key of previews, '%s', is damaged, or others can read it" REMEDY
		       "remove it; all previews end then",
		       path);
}

/* ---- tokens ---- */

static void token_make(const struct preview *p, char ret[PREVIEW_TOKEN_LEN + 1])
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char text[160];
	int len = snprintf(text, sizeof(text), "viv-preview 1 %s %s %u %lld", p->id, p->cell,
			   p->port, (long long)p->expires);

	memset(mac, 0, sizeof(mac));
	HMAC(EVP_sha256(), key, sizeof(key), (unsigned char *)text, (size_t)len, mac, &n);
	memcpy(ret, p->id, PREVIEW_ID_LEN);
	for (unsigned i = 0; i < 32; i++)
		snprintf(ret + PREVIEW_ID_LEN + 2 * i, 3, "%02x", mac[i]);
}

static void row_read(sqlite3_stmt *q, struct preview *p)
{
	*p = (struct preview){ .port = (uint16_t)db_int(q, 2),
			       .created = db_int(q, 3),
			       .expires = db_int(q, 4) };
	snprintf(p->id, sizeof(p->id), "%s", db_text(q, 0));
	snprintf(p->cell, sizeof(p->cell), "%s", db_text(q, 1));
}

bool preview_find(struct daemon *d, const char *id, struct preview *ret)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT id,cell,port,created,expires FROM previews WHERE id=?",
			 "t", id);
	bool found = db_next(q);

	if (found)
		row_read(q, ret);
	db_done(q);
	return found && time_now() < ret->expires;
}

bool preview_check(struct daemon *d, const char token[PREVIEW_TOKEN_LEN + 1], struct preview *ret)
{
	char id[PREVIEW_ID_LEN + 1], good[PREVIEW_TOKEN_LEN + 1];

	if (!has_key || strlen(token) != PREVIEW_TOKEN_LEN)
		return false;
	memcpy(id, token, PREVIEW_ID_LEN);
	id[PREVIEW_ID_LEN] = '\0';
	if (!preview_find(d, id, ret))
		return false;
	token_make(ret, good);
	return CRYPTO_memcmp(token, good, PREVIEW_TOKEN_LEN) == 0;
}

/* ---- the listener ---- */

static int listener_open(struct daemon *d, struct err *e)
{
	sqlite3_stmt *q;
	uint16_t port = wanted_port;
	char text[16];

	if (our_port)
		return 0;
	if (!port) {
		q = db_query(&d->db, "SELECT value FROM settings WHERE name='preview_port'", "");
		port = db_next(q) ? (uint16_t)atoi(db_text(q, 0)) : 0;
		db_done(q);
	}
	/* Somebody else has it: another one, rather than none. */
	if (preview_listen(d, port, &our_port, e) < 0 &&
	    (wanted_port || !port || preview_listen(d, 0, &our_port, e) < 0))
		return -1;
	snprintf(text, sizeof(text), "%u", our_port);
	if (our_port != port)
		db_run(&d->db, NULL,
		       "INSERT OR REPLACE INTO settings(name,value) VALUES('preview_port',?)", "t",
		       text);
	return 0;
}

int previews_open(struct daemon *d, uint16_t port, struct err *e)
{
	sqlite3_stmt *q;
	bool any;

	wanted_port = port;
	db_run(&d->db, NULL, "DELETE FROM previews WHERE expires<=?", "i", time_now());
	q = db_query(&d->db, "SELECT 1 FROM previews LIMIT 1", "");
	any = db_next(q);
	db_done(q);
	if (!any && !port)
		return 0;
	return key_take(d, e) < 0 || listener_open(d, e) < 0 ? -1 : 0;
}

void previews_close(struct daemon *d)
{
	(void)d;
	preview_listen_end();
	OPENSSL_cleanse(key, sizeof(key));
	has_key = false;
}

/* ---- changes ---- */

int preview_create(struct daemon *d, const struct cell *c, uint16_t port, int64_t expires,
		   struct preview *ret, struct err *f)
{
	sqlite3_stmt *q;
	int64_t n;

	db_run(&d->db, NULL, "DELETE FROM previews WHERE expires<=?", "i", time_now());
	q = db_query(&d->db, "SELECT count(*) FROM previews", "");
	n = db_next(q) ? db_int(q, 0) : 0;
	db_done(q);
	if (n >= MAX_PREVIEWS)
		return err_set(f, ERR_TOO_MANY, "there are %d previews" REMEDY "remove some",
			       MAX_PREVIEWS);
	if (key_take(d, f) < 0 || listener_open(d, f) < 0)
		return -1;
	*ret = (struct preview){ .port = port, .created = time_now(), .expires = expires };
	random_hex(ret->id, PREVIEW_ID_LEN / 2);
	snprintf(ret->cell, sizeof(ret->cell), "%s", c->id);
	db_begin(&d->db);
	db_run(&d->db, f, "INSERT INTO previews(id,cell,port,created,expires) VALUES(?,?,?,?,?)",
	       "ttiii", ret->id, ret->cell, (int64_t)port, ret->created, expires);
	event_add(d, "preview.created", c->id,
		  json_pack("{s:s,s:i}", "id", ret->id, "port", (int)port));
	return db_end(&d->db, f);
}

int preview_remove(struct daemon *d, const char *id, struct err *f)
{
	int n;

	db_begin(&d->db);
	n = db_run(&d->db, f, "DELETE FROM previews WHERE id=?", "t", id);
	if (n > 0)
		event_add(d, "preview.removed", NULL, json_pack("{s:s}", "id", id));
	if (db_end(&d->db, f) < 0)
		return -1;
	if (!n)
		return err_set(f, ERR_NOT_FOUND,
			       "there is no preview '%.40s'" REMEDY "'viv preview ls' lists them",
			       id);
	preview_drop(id);
	return 0;
}

static json_t *preview_json(const struct preview *p, bool urls)
{
	char token[PREVIEW_TOKEN_LEN + 1], url[200];
	json_t *o = json_pack("{s:s,s:s,s:i,s:s,s:s}", "id", p->id, "cell", p->cell, "port",
			      (int)p->port, "created", time_text(p->created).str, "expires",
			      time_text(p->expires).str);

	if (!urls || !has_key || !our_port)
		return o;
	token_make(p, token);
	snprintf(url, sizeof(url), "http://%s--%u.localhost:%u/?" PREVIEW_QUERY "=%s", p->id,
		 p->port, our_port, token);
	json_object_set_new(o, "url", json_string(url));
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/p/%s/", our_port, token);
	json_object_set_new(o, "path_url", json_string(url));
	OPENSSL_cleanse(token, sizeof(token));
	return o;
}

json_t *preview_list(struct daemon *d, const char *cell, const char *id, bool urls)
{
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT id,cell,port,created,expires FROM previews WHERE "
			 "(?1 IS NULL OR cell=?1) AND (?2 IS NULL OR id=?2) AND expires>?3 "
			 "ORDER BY created,id",
			 "tti", cell, id, time_now());
	json_t *list = json_array();
	struct preview p;

	while (db_next(q)) {
		row_read(q, &p);
		json_array_append_new(list, preview_json(&p, urls));
	}
	db_done(q);
	return list;
}
