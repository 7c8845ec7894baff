/* Messages of JSON-RPC 2.0, one in each line, as agents write them: told apart, checked, and their
 * parts found where they stand. Nothing here believes its input. */
#ifndef VIV_DAEMON_SESSIONS_RPC_H
#define VIV_DAEMON_SESSIONS_RPC_H

#include <jansson.h>

#include "base/base.h"

enum rpc_kind {
	RPC_NOISE, /* no message */
	RPC_REQUEST,
	RPC_NOTICE, /* a request that wants no answer */
	RPC_RESULT,
	RPC_ERROR,
};

struct rpc {
	enum rpc_kind kind;
	json_t *root; /* NULL: noise; the others are parts of it */
	const char *method; /* of a request or a notice */
	const json_t *id; /* of all but a notice: a number or a text */
	const json_t *params; /* an object, or NULL */
	const json_t *result, *error;
};

#define RPC_ID_MAX 256 /* bytes of a text that is an id */

/* Reads one line. rpc_free it in any case. */
void rpc_read(const char *line, size_t n, struct rpc *ret);
void rpc_free(struct rpc *m);

/* A member of a member of the message, as it stands in its line; NULL: there is none, or its name
 * is written in another way. The line is one that rpc_read took. */
const char *rpc_raw(const char *line, size_t n, const char *outer, const char *inner,
		    size_t *ret_n);

/* Lines with their newline; free() them. params, result: borrowed. */
char *rpc_request(int64_t id, const char *method, const json_t *params);
char *rpc_notice(const char *method, const json_t *params);
char *rpc_result(const json_t *id, const json_t *result);
char *rpc_error(const json_t *id, int code, const char *message);

/* Codes of errors. */
#define RPC_INVALID_PARAMS (-32602)
#define RPC_NO_METHOD (-32601)
#define RPC_INTERNAL (-32603)
#define RPC_AUTH_REQUIRED (-32000)
#define RPC_NOT_FOUND (-32002)

#endif
