/* What the routes of sessions share. */
#ifndef VIV_API_SESSIONS_PRIVATE_H
#define VIV_API_SESSIONS_PRIVATE_H

#include "api/cells.h"
#include "daemon/sessions/sessions.h"

/* The session of the path, of the cell of the path; NULL: answered. */
struct session *request_session(struct request *r);
/* Who asks, for events. */
const char *request_who(const struct request *r);
/* The content of a prompt in an object that was checked: "text" or "content"; NULL: an error. */
json_t *prompt_content(const json_t *o, struct err *e);

/* GET .../events with an upgrade (socket.c). */
void session_events_socket(struct request *r, struct session *s, int64_t since);

#endif
