/* viv-s3: the trusted side of an S3 mount. One process for each mount; it holds the credentials and
 * speaks to the server. */
#ifndef VIV_S3_S3_H
#define VIV_S3_S3_H

#include "base/base.h"
#include "wire/s3.h"

#define S3_MULTIPART_ABOVE (16UL << 20)
#define S3_PART_SIZE (8UL << 20)
#define S3_PARTS_MAX 9000UL
#define S3_ANSWER_MAX (8UL << 20)

/* What was asked for; set once at the start. */
struct s3_target {
	char bucket[256];
	char prefix[S3_KEY_MAX + 2]; /* "" or "a/b/" */
	char base[1024]; /* scheme and host: "https://host:port" */
	char host[512]; /* as the Host header says it */
	char path[512]; /* before each key: "/bucket" or "" */
	char region[128];
	bool readonly;
	char access_key[256], secret_key[512], token[4096];
};
extern struct s3_target target;

/* Fills target from the arguments, the environment and ~/.aws/credentials. False: why is told. */
bool target_init(const char *bucket, const char *prefix, const char *endpoint, bool readonly,
		 char *why, size_t why_size);

/* ---- one HTTP request (request.c) ---- */

struct answer {
	long status;
	char *body; /* of at most S3_ANSWER_MAX; NUL-terminated */
	size_t len;
	bool too_long;
	int fd; /* >= 0: a body of success goes there */
	uint64_t off, room; /* where, and how much at most */
	uint64_t done;
	uint64_t total; /* of the object */
	int64_t mtime;
	char etag[256];
	bool write_failed;
};

struct ask {
	const char *method;
	const char *key; /* the whole key; NULL: the bucket */
	const char *query; /* canonical: sorted and encoded; "" none */
	const void *body;
	size_t body_len;
	const char *copy_source; /* encoded; NULL */
	bool has_range;
	uint64_t from, len;
};

struct conn; /* a connection that is used again; one for each thread */
struct conn *conn_new(void);
/* Makes the request, again after failures that may pass. 0 for every answer with status 2xx, else
 * -errno. The answer is to be freed. */
int conn_ask(struct conn *c, const struct ask *q, struct answer *out);
void answer_free(struct answer *a);
/* For a query or a path: percent signs for all but the unreserved (and '/' if keep_slash). False:
 * no room. */
bool url_encode(const char *s, size_t len, bool keep_slash, char *out, size_t size);

/* ---- SigV4 (sign.c) ---- */

struct signature {
	char date[17]; /* 20240131T123456Z */
	char body_hash[65];
	char authorization[1024];
};
bool sign(struct signature *s, const char *method, const char *path, const char *query,
	  const char *copy_source, const void *body, size_t body_len, int64_t now);

/* ---- what kernels ask for (ops.c) ---- */
/* Answers one request (checked for its size only) by send_reply; fd is -1 or the file, borrowed. */
void request_do(struct conn *c, const struct s3_request *q, int fd);
void send_reply(struct s3_reply *r);

#endif
