/* Messages of the Model Context Protocol: JSON-RPC 2.0, one object (or, before version 2025-06-18,
 * a list of them) for each line or each body of a request. What is read here is a stranger's: every
 * size is bounded, and what is not a message becomes an error that names the mistake. */
#ifndef VIV_CLI_MCP_MESSAGE_H
#define VIV_CLI_MCP_MESSAGE_H

#include "base/json.h"

#define MCP_MESSAGE_MAX (2u << 20)
#define MCP_ID_MAX 512 /* an id as JSON, with its end */
#define MCP_BATCH_MAX 64

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002,
};

struct rpc_error {
	enum rpc_code code;
	char text[256];
};
int rpc_fail(struct rpc_error *e, enum rpc_code code, const char *fmt, ...) printf_like(3, 4);

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTE, MESSAGE_ANSWER };

struct message {
	enum message_kind kind;
	char id[MCP_ID_MAX]; /* as JSON; "null": none is known */
	const char *method; /* of a request or a notification */
	const struct json *params; /* an object; NULL: none */
};

/* An id as JSON: a text or a whole number. false: it is neither, or too long. */
bool id_write(const struct json *v, char *to, size_t size);
/* One message. 0, or -1 with an error; then id is that of the request, as far as it has one. The
 * message borrows from v. */
int must_check message_read(const struct json *v, struct message *ret, struct rpc_error *e);

/* The whole answer to a request: {"jsonrpc":"2.0","id":ID,"result":RESULT}. */
void rpc_result(struct buf *to, const char *id, const char *result, size_t size);
void rpc_failure(struct buf *to, const char *id, const struct rpc_error *e);

/* ---- lines ---- */

/* Bytes that become lines of at most MCP_MESSAGE_MAX. Of a longer one nothing is kept. */
struct line_reader {
	struct buf b;
	bool skipping; /* the line was too long */
};

/* fn gets each line without its end; NULL: there was one that is too long. */
typedef void (*line_fn)(void *arg, const char *line, size_t n);
void line_reader_feed(struct line_reader *l, const char *data, size_t n, line_fn fn, void *arg);
void line_reader_fini(struct line_reader *l);

#endif
