/* Verbs that ask vivd: the connection, and its errors as viv's. */
#ifndef VIV_CLI_VIVD_H
#define VIV_CLI_VIVD_H

#include "base/json.h"
#include "client/vivarium.h"

/* A connection, vivd started if need be; NULL with the message printed. */
struct viv_client *vivd_open(void);
/* Asks and checks: 0 when the status is below 300. Else the message is printed, and what is returned is the exit status. doc (may be
 * NULL) gets the answer, json_free() it. */
int vivd_ask(struct viv_client *c, const char *method, const char *path, const char *body,
	     struct json_doc *doc);
/* Prints what an answer with an error says; the exit status that belongs to it. */
int vivd_refused(const struct viv_reply *reply);

/* Writes text as a JSON text, with its quotes, into b. */
void json_text_add(struct buf *b, const char *text);
/* A member as text for people: "" when it is not there. */
const char *json_show(const struct json *v, const char *key);

#endif
