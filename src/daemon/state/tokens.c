/* See tokens.h. */
#include "daemon/state/tokens.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "daemon/state/events.h"

#define MAX_TOKENS 10000
/* When it was used last is noted this often and no more. */
#define USED_STEP (60 * NSEC_PER_SEC)

static const char *const names[] = {
	[SCOPE_READ] = "read", [SCOPE_CELL] = "cell", [SCOPE_ADMIN] = "admin"
};

const char *scope_name(enum scope s)
{
	return names[s];
}

bool scope_parse(const char *text, enum scope *ret)
{
	for (unsigned i = SCOPE_READ; i < ARRAY_LEN(names); i++)
		if (!strcmp(text, names[i])) {
			*ret = (enum scope)i;
			return true;
		}
	return false;
}

static void secret_hash(const char *secret, char text[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char h[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)secret, strlen(secret), h);
	for (unsigned i = 0; i < sizeof(h); i++)
		snprintf(text + 2 * i, 3, "%02x", h[i]);
}

int token_create(struct daemon *d, const char *name, enum scope scope, const char *cell,
		 int64_t expires, char text[TOKEN_TEXT], struct err *f)
{
	char id[TOKEN_ID_LEN + 1], secret[TOKEN_SECRET_LEN + 1], hash[2 * SHA256_DIGEST_LENGTH + 1];
	sqlite3_stmt *q = db_query(&d->db, "SELECT count(*) FROM tokens", "");
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	if (n >= MAX_TOKENS)
		return err_set(f, ERR_TOO_MANY, "there are %d tokens" REMEDY "revoke some",
			       MAX_TOKENS);
	random_hex(id, TOKEN_ID_LEN / 2);
	random_hex(secret, TOKEN_SECRET_LEN / 2);
	secret_hash(secret, hash);
	db_begin(&d->db);
	db_run(&d->db, f,
	       "INSERT INTO tokens(id,hash,name,scope,cell,created,expires,used) "
	       "VALUES(?,?,?,?,?,?,?,0)",
	       "tttttii", id, hash, name, scope_name(scope), cell, time_now(), expires);
	event_add(d, "token.created", cell,
		  json_pack("{s:s,s:s,s:s}", "id", id, "name", name, "scope", scope_name(scope)));
	if (db_end(&d->db, f) < 0)
		return -1;
	snprintf(text, TOKEN_TEXT, "viv_%s_%s", id, secret);
	OPENSSL_cleanse(secret, sizeof(secret));
	return 0;
}

json_t *token_list(struct daemon *d, const char *id)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT id,name,scope,cell,created,expires,used FROM tokens "
				   "WHERE ?1 IS NULL OR id=?1 ORDER BY created,id",
				   "t", id);
	json_t *list = json_array();

	while (db_next(q)) {
		json_t *t =
			json_pack("{s:s,s:s,s:s,s:s}", "id", db_text(q, 0), "name", db_text(q, 1),
				  "scope", db_text(q, 2), "created", time_text(db_int(q, 4)).str);

		if (*db_text(q, 3))
			json_object_set_new(t, "cell", json_string(db_text(q, 3)));
		if (db_int(q, 5))
			json_object_set_new(t, "expires", json_string(time_text(db_int(q, 5)).str));
		if (db_int(q, 6))
			json_object_set_new(t, "used", json_string(time_text(db_int(q, 6)).str));
		json_array_append_new(list, t);
	}
	db_done(q);
	return list;
}

int token_revoke(struct daemon *d, const char *id, struct err *f)
{
	int n;

	db_begin(&d->db);
	n = db_run(&d->db, f, "DELETE FROM tokens WHERE id=?", "t", id);
	if (n > 0)
		event_add(d, "token.revoked", NULL, json_pack("{s:s}", "id", id));
	if (db_end(&d->db, f) < 0)
		return -1;
	if (!n)
		return err_set(f, ERR_NOT_FOUND,
			       "there is no token '%s'" REMEDY "'viv token ls' lists them", id);
	return 0;
}

void token_revoke_cell(struct daemon *d, const char *cell)
{
	db_run(&d->db, NULL, "DELETE FROM tokens WHERE cell=?", "t", cell);
}

bool token_check(struct daemon *d, const char *text, struct rights *ret)
{
	char hash[2 * SHA256_DIGEST_LENGTH + 1], kept[2 * SHA256_DIGEST_LENGTH + 1] = "";
	char id[TOKEN_ID_LEN + 1];
	int64_t now = time_now(), expires = 0, used = 0;
	sqlite3_stmt *q;
	bool good;

	*ret = (struct rights){ 0 };
	if (strlen(text) != TOKEN_TEXT - 1 || strncmp(text, "viv_", 4) ||
	    text[4 + TOKEN_ID_LEN] != '_')
		return false;
	memcpy(id, text + 4, TOKEN_ID_LEN);
	id[TOKEN_ID_LEN] = '\0';
	secret_hash(text + 4 + TOKEN_ID_LEN + 1, hash);
	memset(kept, '-', sizeof(kept) - 1);
	q = db_query(&d->db, "SELECT hash,scope,cell,expires,used FROM tokens WHERE id=?", "t", id);
	if (db_next(q) && strlen(db_text(q, 0)) == sizeof(kept) - 1 &&
	    scope_parse(db_text(q, 1), &ret->scope)) {
		memcpy(kept, db_text(q, 0), sizeof(kept) - 1);
		snprintf(ret->cell, sizeof(ret->cell), "%s", db_text(q, 2));
		expires = db_int(q, 3);
		used = db_int(q, 4);
	}
	db_done(q);
	good = CRYPTO_memcmp(hash, kept, sizeof(kept)) == 0 && (!expires || now < expires);
	if (!good || !ret->scope)
		return false;
	strcpy(ret->token, id);
	if (now - used > USED_STEP)
		db_run(&d->db, NULL, "UPDATE tokens SET used=? WHERE id=?", "it", now, id);
	return true;
}
