/* Idempotency-Key: a request that makes something and is sent again with the same key gets the
 * first one's answer and makes nothing. Keys are kept for a day, for each token apart. A key that
 * comes with another request is refused (422), and one whose first request is not answered yet, too
 * (409). An answer that says the request failed on our side is not kept: sent again, it is tried
 * again. */
#ifndef VIV_API_HTTP_KEYS_H
#define VIV_API_HTTP_KEYS_H

#include "api/http/request.h"

/* True: go on (the answer will be kept if there is a key). False: answered. */
bool key_begin(struct request *r);
/* For reply_text. */
void key_finish(struct request *r, unsigned status, const char *reply);
/* The request went without an answer. */
void key_drop(struct request *r);

#endif
