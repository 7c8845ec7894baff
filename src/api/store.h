/* What the routes of the store share. */
#ifndef VIV_API_STORE_H
#define VIV_API_STORE_H

#include "api/http/request.h"
#include "store/store.h"

/* Opens the store for a request; false: answered. */
bool request_store(struct request *r, struct store *s);

#endif
