/* See vivd.h. */
#include "cli/vivd.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct viv_client *vivd_open(void)
{
	struct viv_error error;
	struct viv_client *c = viv_open(NULL, VIV_START, &error);

	if (!c)
		fail("%s", error.text);
	return c;
}

static int status_exit(int status)
{
	switch (status) {
	case 400:
	case 413:
	case 422:
		return ERR_USAGE;
	case 401:
	case 403:
		return 4;
	case 404:
		return ERR_NOT_FOUND;
	case 409:
		return ERR_CONFLICT;
	default:
		return ERR_FAILED;
	}
}

int vivd_refused(const struct viv_reply *reply)
{
	const char *message, *cause, *remedy;
	struct json_doc d;
	struct err e;

	if (json_parse(&d, reply->body, reply->size, &e) < 0) {
		fail("vivd answered with status %d", reply->status);
		return status_exit(reply->status);
	}
	message = json_get_text(d.root, "message");
	cause = json_get_text(d.root, "cause");
	remedy = json_get_text(d.root, "remedy");
	fail("%s%s%s%s%s%s", message ? message : "vivd refused", cause ? " (" : "",
	     cause ? cause : "", cause ? ")" : "", remedy ? "; " : "", remedy ? remedy : "");
	json_free(&d);
	return status_exit(reply->status);
}

int vivd_ask(struct viv_client *c, const char *method, const char *path, const char *body,
	     struct json_doc *doc)
{
	struct viv_error error;
	struct viv_reply reply;
	struct err e;
	int status = 0;

	if (viv_call(c, method, path, body, &reply, &error) < 0) {
		fail("%s", error.text);
		return ERR_FAILED;
	}
	if (reply.status >= 300) {
		status = vivd_refused(&reply);
	} else if (doc && json_parse(doc, reply.body, reply.size, &e) < 0) {
		fail("vivd's answer cannot be read: %s", e.text);
		status = ERR_FAILED;
	}
	viv_reply_free(&reply);
	return status;
}

void json_text_add(struct buf *b, const char *text)
{
	buf_add(b, "\"", 1);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char esc[8];

		if (c == '"' || c == '\\') {
			buf_add(b, "\\", 1);
			buf_add(b, text, 1);
		} else if (c < ' ') {
			snprintf(esc, sizeof(esc), "\\u%04x", c);
			buf_add(b, esc, 6);
		} else {
			buf_add(b, text, 1);
		}
	}
	buf_add_text(b, "\"");
}

const char *json_show(const struct json *v, const char *key)
{
	for (const struct json *m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->text ? m->text : "";
	return "";
}
