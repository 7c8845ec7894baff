/* viv acp: what its files share. The editor is the client of ACP (JSON-RPC, one message on each
 * line of the standard streams), and viv is the agent for it: sessions of the editor are sessions
 * of vivd, with the same ids. acp.c has the loop and the editor's requests, acpevents.c what goes
 * to the editor. */
#ifndef VIV_CLI_ACP_H
#define VIV_CLI_ACP_H

#include "cli/agentcell.h"
#include "cli/session.h"
#include "cli/sessionevent.h"

#define ACP_SESSIONS 64

struct acp_prompt {
	char *id; /* of the editor's request, as JSON */
	uint64_t number;
};

struct acp_session {
	struct session_id s;
	struct viv_client *events; /* NULL: to be opened */
	uint64_t last; /* event that was read */
	char *opening; /* the editor's request that waits for the session; NULL: none */
	bool loading; /* it is shown again up to this event, and then ready */
	uint64_t load_to;
	struct buf prompts; /* struct acp_prompt */
};

/* A question that the editor has. */
struct acp_ask {
	uint64_t id; /* of the request */
	int64_t approval;
	struct json_doc doc;
	const struct json *options; /* in doc; NULL: ours (acp_options) */
};

struct acp {
	const char *agent; /* NULL: a command */
	char **command; /* NULL: an agent */
	struct agent_cell cell; /* without an id: not there yet */
	struct acp_session sessions[ACP_SESSIONS];
	unsigned n;
	struct viv_client *news;
	struct buf in; /* of the editor */
	size_t seen; /* of it: no line end is before */
	struct buf asks; /* struct acp_ask */
	struct buf asked; /* int64_t: approvals that the editor was asked about */
	uint64_t last_id;
	int64_t lost; /* since when vivd is not there; 0: it is */
};

/* ---- messages to the editor: acpevents.c ---- */

/* id: as JSON; NULL: nobody waits. result: an object. */
void acp_reply(const char *id, const char *result);
void acp_error(const char *id, int code, const char *text, const struct err *e);
/* The session is ready: modes, models and options are part of the answer. */
void acp_opened(struct acp_session *s, bool is_new);

/* A line of a session's events, and of vivd's. */
void acp_event(struct acp *x, struct acp_session *s, const char *line, size_t size);
void acp_news(struct acp *x, const char *line, size_t size);
/* Questions that were open before. */
void acp_questions(struct acp *x, const char *cell);
/* The editor's answer to one of ours. */
void acp_answer(struct acp *x, uint64_t id, const struct json *result);
void acp_prompts_end(struct acp_session *s, const char *text);

/* A value as JSON; free() it. */
char *acp_json(const struct json *v);

#endif
