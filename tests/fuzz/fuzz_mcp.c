/* Messages of an MCP client, as viv mcp reads them: lines in pieces of any size, lists, ids. What
 * is answered is one line of JSON that a client can read, with the id that the request had. */
/* objects: src/cli/mcp/message.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/utf8.c src/base/log.c */
#include <string.h>

#include "cli/mcp/message.h"
#include "fuzz.h"

const char fuzz_name[] = "mcp";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
}

static void answer_check(const struct buf *b, const char *id)
{
	struct json_doc d;
	struct err e;
	char again[MCP_ID_MAX];
	const struct json *v;

	FUZZ_CHECK(!memchr(b->p, '\n', b->len));
	FUZZ_CHECK(json_parse(&d, (char *)b->p, b->len, &e) == 0);
	FUZZ_CHECK(d.root->type == JSON_OBJECT);
	for (v = d.root->first; v && strcmp(v->key, "id"); v = v->next)
		;
	FUZZ_CHECK(v != NULL);
	if (v->type == JSON_NULL)
		FUZZ_CHECK(!strcmp(id, "null"));
	else
		FUZZ_CHECK(id_write(v, again, sizeof(again)) && !strcmp(again, id));
	json_free(&d);
}

static void message_try(const struct json *v)
{
	struct message m;
	struct rpc_error e;
	struct buf b = { 0 };

	if (message_read(v, &m, &e) < 0) {
		FUZZ_CHECK(e.code < 0 && e.text[0]);
		rpc_failure(&b, m.id, &e);
	} else {
		FUZZ_CHECK(m.kind == MESSAGE_ANSWER || m.method);
		FUZZ_CHECK(!m.params || m.params->type == JSON_OBJECT);
		if (m.kind == MESSAGE_ANSWER)
			return;
		rpc_fail(&e, RPC_NO_METHOD, "there is no method '%.100s'", m.method);
		rpc_failure(&b, m.id, &e);
		answer_check(&b, m.id);
		b.len = 0;
		rpc_result(&b, m.id, "{}", 2);
	}
	answer_check(&b, m.id);
	buf_free(&b);
}

static void line(void *arg, const char *text, size_t n)
{
	struct json_doc d;
	struct err e;

	(void)arg;
	FUZZ_CHECK(text && n && n <= MCP_MESSAGE_MAX);
	FUZZ_CHECK(!memchr(text, '\n', n));
	if (json_parse(&d, text, n, &e) < 0)
		return;
	if (d.root->type == JSON_LIST)
		for (const struct json *v = d.root->first; v; v = v->next)
			message_try(v);
	else
		message_try(d.root);
	json_free(&d);
}

/* The first byte says how large the pieces are. */
void fuzz_one(const uint8_t *data, size_t size)
{
	struct line_reader l = { 0 };
	size_t step;

	if (!size)
		return;
	step = data[0] % 64 + 1;
	for (size_t at = 1; at < size; at += step)
		line_reader_feed(&l, (const char *)data + at, MIN(step, size - at), line, NULL);
	line_reader_feed(&l, "\n", 1, line, NULL);
	line_reader_fini(&l);
}
