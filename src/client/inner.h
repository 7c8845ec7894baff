/* What the files of libvivarium share. */
#ifndef VIV_CLIENT_INNER_H
#define VIV_CLIENT_INNER_H

#include "base/buf.h"
#include "client/http.h"
#include "client/vivarium.h"

struct viv_client {
	struct http http;
	char path[4096];
	bool cut; /* what is being sent cannot be sent any more */
	struct buf lines; /* of viv_follow: what was read and not given yet is from line_at on */
	size_t line_at, line_seen; /* no line end is before line_seen */
};

/* Connected, for one more request. 0 or -1. */
int must_check client_ready(struct viv_client *c, struct viv_error *error);
/* A request was sent, with this result; reads the head of the answer. 0 or -1. */
int must_check client_head(struct viv_client *c, int sent, struct viv_error *error);
/* Both: a request, and the head of its answer. 0 or -1. */
int must_check client_ask(struct viv_client *c, const char *method, const char *path,
			  const char *json, struct viv_error *error);
/* The whole answer. 0 or -1. */
int must_check client_reply(struct viv_client *c, struct viv_reply *reply, struct viv_error *error);
void client_drop(struct viv_client *c);

#endif
