/* All routes. openapi.json describes them; a test compares the two. */
#include "api/routes.h"

const struct route routes[] = {
	{ "GET", "/metrics", NEED_READ, metrics_get, 0 },
	{ "GET", "/v1/events", NEED_READ, events_get, ROUTE_NARROW },
	{ "GET", "/v1/openapi.json", NEED_READ, openapi_get, ROUTE_NARROW },
	{ "GET", "/v1/tokens", NEED_ADMIN, tokens_list, 0 },
	{ "POST", "/v1/tokens", NEED_ADMIN, tokens_create, ROUTE_BODY },
	{ "GET", "/v1/tokens/{token}", NEED_ADMIN, token_get, 0 },
	{ "DELETE", "/v1/tokens/{token}", NEED_ADMIN, token_delete, 0 },
	{ "GET", "/v1/version", NEED_READ, version_get, ROUTE_NARROW },
};
const unsigned nroutes = ARRAY_LEN(routes);
