/* The handlers of all routes, by resource; the table is in routes.c. */
#ifndef VIV_API_ROUTES_H
#define VIV_API_ROUTES_H

#include "api/request.h"

/* about.c */
void version_get(struct request *r);
void openapi_get(struct request *r);
void metrics_get(struct request *r);
/* tokens.c */
void tokens_list(struct request *r);
void tokens_create(struct request *r);
void token_get(struct request *r);
void token_delete(struct request *r);
/* events.c */
void events_get(struct request *r);

#endif
