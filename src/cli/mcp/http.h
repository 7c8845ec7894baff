/* MCP over HTTP; see http.c. */
#ifndef VIV_CLI_MCP_HTTP_H
#define VIV_CLI_MCP_HTTP_H

#include "cli/mcp/mcp.h"

#define HTTP_ORIGINS_MAX 16
#define HTTP_TOKEN_BYTES 24

struct http_options {
	const char *address; /* ADDRESS:PORT */
	const char *token; /* that every request has to have */
	const char *origins[HTTP_ORIGINS_MAX]; /* of web pages that may use it */
	unsigned norigins;
};

/* Listens; o stays the caller's for as long as it does. 0 or -1. */
int must_check http_begin(const struct http_options *o, int *ret_port, struct err *e);
void http_tick(void);
/* So many random bytes as hexadecimal digits, with a NUL. */
void token_make(char *to, unsigned bytes);

#endif
