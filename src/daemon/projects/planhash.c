/* Hashes of what a file says, for labels; see plan.h. The key is made once, stays in the state, and
 * is nobody else's. */
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/projects/plan.h"

static void key_get(struct daemon *d, char key[65])
{
	sqlite3_stmt *q;
	char made[65];

	random_hex(made, 32);
	db_run(&d->db, NULL, "INSERT OR IGNORE INTO settings(name,value) VALUES('spec-key',?)", "t",
	       made);
	q = db_query(&d->db, "SELECT value FROM settings WHERE name='spec-key'", "");
	snprintf(key, 65, "%s", db_next(q) ? db_text(q, 0) : made);
	db_done(q);
}

static void hash_make(struct daemon *d, const void *data, size_t size, char hash[33])
{
	unsigned char out[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char key[65];

	key_get(d, key);
	if (!HMAC(EVP_sha256(), key, (int)strlen(key), data, size, out, &n))
		return;
	for (unsigned i = 0; i < 16 && i < n; i++)
		snprintf(hash + 2 * i, 3, "%02x", out[i]);
}

const char *group_spec_hash(struct daemon *d, struct project_group *g)
{
	json_t *all;
	char *text;

	if (g->spec_hash[0])
		return g->spec_hash;
	all = g->each ? json_pack("[O,O]", g->spec, g->each) : json_incref(g->spec);
	text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	hash_make(d, text ? text : "", text ? strlen(text) : 0, g->spec_hash);
	json_decref(all);
	free(text);
	return g->spec_hash;
}

const char *group_prompt_hash(struct daemon *d, struct project_group *g)
{
	struct buf b = { 0 };

	if (g->prompt_hash[0])
		return g->prompt_hash;
	buf_add(&b, g->agent, strlen(g->agent) + 1);
	buf_add_text(&b, g->prompt);
	hash_make(d, b.p, b.len, g->prompt_hash);
	buf_free(&b);
	return g->prompt_hash;
}

const char *group_files_hash(struct daemon *d, struct project_group *g)
{
	struct buf b = { 0 };
	json_t *file;
	size_t i;

	if (g->files_hash[0])
		return g->files_hash;
	json_array_foreach(g->files, i, file) {
		const json_t *bytes = json_object_get(file, "bytes"),
			     *mode = json_object_get(file, "mode");
		char head[64];

		buf_add_text(&b, json_string_value(json_object_get(file, "path")));
		buf_add(&b, "", 1);
		snprintf(head, sizeof(head), "%lld %zu",
			 mode ? (long long)json_integer_value(mode) : -1,
			 json_string_length(bytes));
		buf_add(&b, head, strlen(head) + 1);
		buf_add(&b, json_string_value(bytes), json_string_length(bytes));
	}
	hash_make(d, b.p ? (void *)b.p : "", b.len, g->files_hash);
	buf_free(&b);
	return g->files_hash;
}
