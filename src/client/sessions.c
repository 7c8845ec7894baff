/* libvivarium: sessions of agents, and answers to questions; see vivarium.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "client/inner.h"
#include "client/start.h"

#define NAME_MAX_BYTES 256

/* "/v1/cells/CELL/sessions[/SESSION]TAIL": what a name has that a path must not have is %XX. */
static int path_write(struct buf *path, const char *cell, const char *session, const char *tail,
		      struct viv_error *error)
{
	const char *names[] = { cell, session };
	char c[4];

	for (unsigned i = 0; i < 2; i++) {
		buf_add_text(path, i ? "/sessions" : "/v1/cells/");
		if (!names[i])
			continue;
		if (!*names[i] || strlen(names[i]) > NAME_MAX_BYTES) {
			buf_free(path);
			return viv_error_set(error, EINVAL, "'%.40s' is no name of a %s", names[i],
					     i ? "session" : "cell");
		}
		if (i)
			buf_add_text(path, "/");
		for (const char *p = names[i]; *p; p++) {
			bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
				     (*p >= 'A' && *p <= 'Z') || *p == '_' || *p == '-';

			snprintf(c, sizeof(c), plain ? "%c" : "%%%02X", (unsigned char)*p);
			buf_add_text(path, c);
		}
	}
	buf_add_text(path, tail);
	return 0;
}

static int session_post(struct viv_client *c, const char *cell, const char *session,
			const char *tail, const char *json, struct viv_reply *reply,
			struct viv_error *error)
{
	struct buf path = { 0 };
	int r;

	*reply = (struct viv_reply){ 0 };
	if (path_write(&path, cell, session, tail, error) < 0)
		return -1;
	r = viv_call(c, "POST", (char *)path.p, json, reply, error);
	buf_free(&path);
	return r;
}

int viv_session_new(struct viv_client *c, const char *cell, const char *json,
		    struct viv_reply *reply, struct viv_error *error)
{
	return session_post(c, cell, NULL, "", json, reply, error);
}

int viv_session_prompt(struct viv_client *c, const char *cell, const char *session,
		       const char *text, struct viv_reply *reply, struct viv_error *error)
{
	struct buf b = { 0 };
	int r;

	*reply = (struct viv_reply){ 0 };
	if (!text_is_utf8(text, strlen(text)))
		return viv_error_set(error, EILSEQ, "the prompt is not valid UTF-8");
	buf_add_text(&b, "{");
	json_member_text(&b, "text", text);
	buf_add(&b, "}", 2);
	r = session_post(c, cell, session, "/prompt", (char *)b.p, reply, error);
	buf_free(&b);
	return r;
}

int viv_session_do(struct viv_client *c, const char *cell, const char *session, const char *what,
		   struct viv_reply *reply, struct viv_error *error)
{
	bool close = !strcmp(what, "close");

	if (!close && strcmp(what, "cancel"))
		return viv_error_set(error, EINVAL, "a session can 'cancel' and 'close'");
	return session_post(c, cell, session, close ? "/close" : "/cancel", NULL, reply, error);
}

int viv_session_follow(struct viv_client *c, const char *cell, const char *session, long long since,
		       struct viv_reply *reply, struct viv_error *error)
{
	struct buf path = { 0 };
	char tail[64];
	int r;

	*reply = (struct viv_reply){ 0 };
	snprintf(tail, sizeof(tail), "/events?follow=true&since=%lld", since);
	if (path_write(&path, cell, session, tail, error) < 0)
		return -1;
	r = viv_follow(c, (char *)path.p, reply, error);
	buf_free(&path);
	return r;
}

int viv_approval_answer(struct viv_client *c, long long id, int allow, int always,
			struct viv_reply *reply, struct viv_error *error)
{
	char path[64], body[64];

	snprintf(path, sizeof(path), "/v1/approvals/%lld", id);
	snprintf(body, sizeof(body), "{\"answer\":\"%s\"%s}", allow ? "allow" : "deny",
		 always ? ",\"always\":true" : "");
	return viv_call(c, "POST", path, body, reply, error);
}
