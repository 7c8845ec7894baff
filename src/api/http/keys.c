/* See keys.h. A key in use has status 0. vivd's end leaves such rows, which its next start
 * removes. */
#include "api/http/keys.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 200
#define KEEP_FOR (24 * 3600 * NSEC_PER_SEC)

static void request_hash(struct request *r, char text[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char h[SHA256_DIGEST_LENGTH];
	struct buf b = { 0 };

	buf_add_text(&b, r->route->method);
	buf_add(&b, "", 1);
	buf_add_text(&b, r->route->path);
	buf_add(&b, "", 1);
	for (unsigned i = 0; i < ARRAY_LEN(r->param); i++) {
		buf_add_text(&b, r->param[i] ? r->param[i] : "");
		buf_add(&b, "", 1);
	}
	buf_add(&b, r->body.p, r->body.len);
	SHA256(b.p, b.len, h);
	buf_free(&b);
	for (unsigned i = 0; i < sizeof(h); i++)
		snprintf(text + 2 * i, 3, "%02x", h[i]);
}

static bool key_is_valid(const char *key)
{
	for (const char *p = key; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return *key && strlen(key) <= KEY_MAX;
}

bool key_begin(struct request *r)
{
	const char *key = request_header(r, "Idempotency-Key");
	char hash[2 * SHA256_DIGEST_LENGTH + 1];
	bool known = false, same = false;
	struct err f = { 0 };
	unsigned status = 0;
	char *reply = NULL;
	sqlite3_stmt *q;

	/* What a cell asks twice is its own to sort out: it would fill the database. */
	if (!key || r->rights.family)
		return true;
	if (!key_is_valid(key)) {
		reply_error(r, ERR_INVALID, "an Idempotency-Key is 1 to %d characters of ASCII",
			    KEY_MAX);
		return false;
	}
	request_hash(r, hash);
	db_run(&r->d->db, NULL, "DELETE FROM keys WHERE time<?", "i", time_now() - KEEP_FOR);
	q = db_query(&r->d->db, "SELECT request,status,reply FROM keys WHERE owner=? AND key=?",
		     "tt", r->rights.token, key);
	if (db_next(q)) {
		known = true;
		same = !strcmp(db_text(q, 0), hash);
		status = (unsigned)db_int(q, 1);
		reply = xstrndup(db_text(q, 2), strlen(db_text(q, 2)));
	}
	db_done(q);
	if (!known) {
		if (db_run(&r->d->db, &f,
			   "INSERT INTO keys(owner,key,request,status,reply,time) "
			   "VALUES(?,?,?,0,'',?)",
			   "ttti", r->rights.token, key, hash, time_now()) < 0) {
			reply_err(r, &f);
			return false;
		}
		r->key = xstrndup(key, strlen(key));
		return true;
	}
	if (!same)
		reply_error(r, ERR_KEY_REUSED,
			    "this Idempotency-Key came with another request before" REMEDY
			    "use a new one");
	else if (!status)
		reply_error(r, ERR_IN_PROGRESS,
			    "a request with this Idempotency-Key is being done" REMEDY
			    "wait for its answer");
	else
		reply_text(r, status, "application/json", reply, strlen(reply));
	if (same && status)
		reply_header(r, "Idempotency-Replayed", "true");
	free(reply);
	return false;
}

void key_finish(struct request *r, unsigned status, const char *reply)
{
	if (status >= 500) {
		key_drop(r);
		return;
	}
	db_run(&r->d->db, NULL, "UPDATE keys SET status=?,reply=? WHERE owner=? AND key=?", "ittt",
	       (int64_t)status, reply, r->rights.token, r->key);
	free(r->key);
	r->key = NULL;
}

void key_drop(struct request *r)
{
	db_run(&r->d->db, NULL, "DELETE FROM keys WHERE owner=? AND key=?", "tt", r->rights.token,
	       r->key);
	free(r->key);
	r->key = NULL;
}
