/* libvivarium: talking to vivd from C. This header is all of it, and needs nothing but the C
 * library.
 *
 *	struct viv_client *c = viv_open(NULL, VIV_START, &error);
 *	struct viv_reply reply;
 *
 *	if (c && viv_call(c, "GET", "/v1/cells", NULL, &reply, &error) == 0) {
 *		if (reply.status == 200)
 *			puts(reply.body);
 *		viv_reply_free(&reply);
 *	}
 *	viv_close(c);
 *
 * What is asked and answered is JSON, described by GET /v1/openapi.json. A client is used by one
 * thread at a time. It waits for each answer; no signal handler is installed and SIGPIPE is not
 * raised. */
#ifndef VIVARIUM_H
#define VIVARIUM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIV_START 1 /* start vivd if it does not run */

struct viv_client;

struct viv_error {
	int code; /* errno, or 0 when it was no system call that failed */
	char kind[32]; /* as the code of an error of the API: "not_found" */
	char text[640]; /* what went wrong: one line, without a newline */
	char cause[768]; /* why; several are separated by ": "; "": not known */
	char remedy[512]; /* what to do about it; "": not known */
};

struct viv_reply {
	int status; /* of HTTP */
	char *body; /* NUL-terminated */
	size_t size;
};

/* Connects to the vivd at this socket; NULL: where VIVARIUM_SOCKET or the environment's directories
 * say. NULL with an error: code ENOENT or ECONNREFUSED when none runs. */
struct viv_client *viv_open(const char *socket, int flags, struct viv_error *error);
void viv_close(struct viv_client *c);
/* Breaks off the request that is under way: what waits for its answer fails. For handlers of
 * signals, and other threads while the client is open. */
void viv_interrupt(struct viv_client *c);

/* One request and its whole answer, of any status. json: the body, or NULL. 0, or -1 with an
 * error. */
int viv_call(struct viv_client *c, const char *method, const char *path, const char *json,
	     struct viv_reply *reply, struct viv_error *error);
void viv_reply_free(struct viv_reply *reply);

/* The same for answers that come line by line, as NDJSON does: line is called for each (without its
 * newline, NUL-terminated) until it returns other than 0 (which is returned, and ends the
 * connection) or the answer ends. An answer whose status is not 200 is put into reply instead. */
typedef int (*viv_line_fn)(void *arg, const char *line, size_t size);
int viv_stream(struct viv_client *c, const char *method, const char *path, const char *json,
	       viv_line_fn line, void *arg, struct viv_reply *reply, struct viv_error *error);

/* A stream of lines for programs that wait for other things as well. viv_follow asks (GET); 0 with
 * a reply whose status is not 200: that is all. Then poll viv_follow_fd for input and take lines
 * until there is none: viv_follow_line gives 1 with a line, which is good until the next call, 0
 * when there is none at the moment, and -1 when the stream ended (code 0) or broke. Meanwhile
 * nothing else is asked of this client; viv_close, or the next request, ends the stream. */
int viv_follow(struct viv_client *c, const char *path, struct viv_reply *reply,
	       struct viv_error *error);
int viv_follow_fd(const struct viv_client *c);
int viv_follow_line(struct viv_client *c, const char **line, size_t *size, struct viv_error *error);

/* ---- sessions of agents ---- */

/* Starts an agent in a cell. json: {"agent":"claude"} and what POST /v1/cells/CELL/sessions takes.
 * The reply is the session, or an error with its status. 0, or -1 with an error, as below. */
int viv_session_new(struct viv_client *c, const char *cell, const char *json,
		    struct viv_reply *reply, struct viv_error *error);
/* text: UTF-8. The reply has the number of the prompt, with which its "turn" event comes. */
int viv_session_prompt(struct viv_client *c, const char *cell, const char *session,
		       const char *text, struct viv_reply *reply, struct viv_error *error);
/* what: "cancel" or "close". */
int viv_session_do(struct viv_client *c, const char *cell, const char *session, const char *what,
		   struct viv_reply *reply, struct viv_error *error);
/* Events after number since, and then those to come, as viv_follow gives them. */
int viv_session_follow(struct viv_client *c, const char *cell, const char *session, long long since,
		       struct viv_reply *reply, struct viv_error *error);
/* Answers a question of a cell: allow or deny it, once or always. */
int viv_approval_answer(struct viv_client *c, long long id, int allow, int always,
			struct viv_reply *reply, struct viv_error *error);

/* Answers of any size, such as files. viv_get_begin asks; 0 with a reply whose status is not 200:
 * that is all. Else viv_get_data gives some bytes: how many, 0 at the end, -1 with an error, also
 * when the answer was broken off. Until then nothing else is asked. */
int viv_get_begin(struct viv_client *c, const char *path, struct viv_reply *reply,
		  struct viv_error *error);
long viv_get_data(struct viv_client *c, void *buf, size_t size, struct viv_error *error);

/* Requests (PUT) with a body of any size, in pieces. When viv_put_data fails, viv_put_end may still
 * tell why; without viv_put_end, viv_close() breaks the request off. */
int viv_put_begin(struct viv_client *c, const char *path, struct viv_error *error);
int viv_put_data(struct viv_client *c, const void *data, size_t size, struct viv_error *error);
int viv_put_end(struct viv_client *c, struct viv_reply *reply, struct viv_error *error);

/* In a cell that may make cells: the socket that leads to vivd, by which it is known; else NULL. */
const char *viv_inside(void);
/* The socket that viv_open(NULL) uses. 0, or -1 with an error. */
int viv_socket_path(char *path, size_t size, struct viv_error *error);
/* Starts vivd with these options (NULL-terminated; NULL: none) and waits until it answers. One that
 * runs already is left alone: 0 as well. */
int viv_start(const char *const options[], struct viv_error *error);

#ifdef __cplusplus
}
#endif

#endif
