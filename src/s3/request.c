/* One request to the server: signed, sent with libcurl, tried again with growing pauses when the
 * failure may pass (a server that does not answer, 5xx, 429). Redirects are not followed: a
 * signature is for one host. Answers are bounded; the body of a successful S3_GET goes to its file
 * as it comes. */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "s3/s3.h"

#define TRIES 4
#define FIRST_PAUSE_MS 200
#define CONNECT_SECONDS 10L
#define STALL_SECONDS 30L /* without a byte a second */

struct conn {
	CURL *curl;
	struct answer *out;
	const char *body;
	size_t body_len, body_at;
};

struct conn *conn_new(void)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c)
		c->curl = curl_easy_init();
	return c && c->curl ? c : NULL;
}

void answer_free(struct answer *a)
{
	free(a->body);
	a->body = NULL;
	a->len = 0;
}

bool url_encode(const char *s, size_t len, bool keep_slash, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (n + 4 > size)
			return false;
		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    c == '-' || c == '_' || c == '.' || c == '~' || (c == '/' && keep_slash))
			out[n++] = (char)c;
		else
			n += (size_t)sprintf(out + n, "%%%02X", c);
	}
	if (n >= size)
		return false;
	out[n] = '\0';
	return true;
}

static long status_of(struct conn *c)
{
	long status = 0;

	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static bool file_write(struct answer *a, const char *data, size_t n)
{
	while (n) {
		ssize_t w;

		if (n > a->room - a->done) {
			a->too_long = true;
			return false;
		}
		w = pwrite(a->fd, data, n, (off_t)(a->off + a->done));
		if (w <= 0) {
			a->write_failed = true;
			return false;
		}
		a->done += (uint64_t)w;
		data += w;
		n -= (size_t)w;
	}
	return true;
}

static size_t on_body(char *data, size_t one, size_t n, void *arg)
{
	struct conn *c = arg;
	struct answer *a = c->out;
	char *more;

	n *= one;
	if (a->fd >= 0 && status_of(c) / 100 == 2) {
		/* The whole object although a part was asked for: good only if that is how it
		 * begins. */
		if (status_of(c) == 200 && a->off) {
			a->too_long = true;
			return 0;
		}
		return file_write(a, data, n) ? n : 0;
	}
	if (a->len + n > S3_ANSWER_MAX) {
		a->too_long = true;
		return 0;
	}
	more = realloc(a->body, a->len + n + 1);
	if (!more)
		return 0;
	memcpy(more + a->len, data, n);
	a->body = more;
	a->len += n;
	more[a->len] = '\0';
	return n;
}

static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
	struct answer *a = ((struct conn *)arg)->out;
	char text[512];
	size_t len = n * one;

	if (len >= sizeof(text))
		return len;
	memcpy(text, line, len);
	text[len] = '\0';
	while (len && (unsigned char)text[len - 1] <= ' ')
		text[--len] = '\0';
	if (!strncasecmp(text, "etag: ", 6)) {
		snprintf(a->etag, sizeof(a->etag), "%.200s", text + 6);
	} else if (!strncasecmp(text, "last-modified: ", 15)) {
		time_t t = curl_getdate(text + 15, NULL);

		a->mtime = t > 0 ? t : 0;
	} else if (!strncasecmp(text, "content-length: ", 16) && !a->total) {
		a->total = strtoull(text + 16, NULL, 10);
	} else if (!strncasecmp(text, "content-range: ", 15) && strchr(text, '/')) {
		a->total = strtoull(strchr(text, '/') + 1, NULL, 10);
	}
	return n * one;
}

static size_t on_upload(char *buf, size_t one, size_t n, void *arg)
{
	struct conn *c = arg;
	size_t take = MIN(n * one, c->body_len - c->body_at);

	memcpy(buf, c->body + c->body_at, take);
	c->body_at += take;
	return take;
}

static bool header_add(struct curl_slist **list, const char *name, const char *value)
{
	size_t n = strlen(name) + strlen(value) + 3;
	char *line = malloc(n);
	struct curl_slist *more;

	if (!line)
		return false;
	snprintf(line, n, "%s: %s", name, value);
	more = curl_slist_append(*list, line);
	free(line);
	if (more)
		*list = more;
	return more;
}

static struct curl_slist *headers_make(const struct ask *q, const struct signature *s)
{
	struct curl_slist *list = NULL;
	char range[64];
	bool ok = header_add(&list, "Host", target.host) &&
		  header_add(&list, "x-amz-date", s->date) &&
		  header_add(&list, "x-amz-content-sha256", s->body_hash) &&
		  header_add(&list, "Authorization", s->authorization) &&
		  (list = curl_slist_append(list, "Expect:"));

	if (ok && target.token[0])
		ok = header_add(&list, "x-amz-security-token", target.token);
	if (ok && q->copy_source)
		ok = header_add(&list, "x-amz-copy-source", q->copy_source);
	if (ok && q->body)
		ok = header_add(&list, "Content-Type", "application/octet-stream");
	if (ok && q->has_range) {
		snprintf(range, sizeof(range), "bytes=%llu-%llu", (unsigned long long)q->from,
			 (unsigned long long)(q->from + q->len - 1));
		ok = header_add(&list, "Range", range);
	}
	if (!ok) {
		curl_slist_free_all(list);
		return NULL;
	}
	return list;
}

static void options_set(struct conn *c, const struct ask *q, const char *url,
			struct curl_slist *headers)
{
	CURL *h = c->curl;

	curl_easy_reset(h); /* the connection stays */
	curl_easy_setopt(h, CURLOPT_URL, url);
	curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(h, CURLOPT_HEADERDATA, c);
	if (!strcmp(q->method, "HEAD")) {
		curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
	} else if (!strcmp(q->method, "PUT") || !strcmp(q->method, "POST")) {
		curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, q->method);
		curl_easy_setopt(h, CURLOPT_READFUNCTION, on_upload);
		curl_easy_setopt(h, CURLOPT_READDATA, c);
		curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_len);
	} else if (strcmp(q->method, "GET")) {
		curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, q->method);
	}
}

/* What the answer means; *ret_again: it may be another one later. */
static int verdict(const struct answer *a, CURLcode code, bool *ret_again)
{
	*ret_again = false;
	if (a->write_failed)
		return -ENOSPC;
	if (a->too_long)
		return -EIO;
	if (code != CURLE_OK) {
		*ret_again = true;
		return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST
			       ? -EHOSTUNREACH
			       : -EIO;
	}
	if (a->status / 100 == 2)
		return 0;
	*ret_again = (a->status >= 500 && a->status != 507) || a->status == 429;
	switch (a->status) {
	case 401:
	case 403:
		return -EACCES;
	case 404:
		return -ENOENT;
	case 416:
		return -ENODATA;
	case 507:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

static int ask_once(struct conn *c, const struct ask *q, const char *path, struct answer *out,
		    bool *ret_again)
{
	static const char *const fields = "%s%s%s%s";
	char url[8192];
	struct signature s;
	struct curl_slist *headers;
	CURLcode code;

	*ret_again = false;
	if ((size_t)snprintf(url, sizeof(url), fields, target.base, path, q->query[0] ? "?" : "",
			     q->query) >= sizeof(url) ||
	    !sign(&s, q->method, path, q->query, q->copy_source, q->body, q->body_len, time(NULL)))
		return -ENAMETOOLONG;
	headers = headers_make(q, &s);
	if (!headers)
		return -ENOMEM;
	answer_free(out);
	out->done = out->total = 0;
	out->too_long = out->write_failed = false;
	c->out = out;
	c->body = q->body;
	c->body_len = q->body_len;
	c->body_at = 0;
	options_set(c, q, url, headers);
	code = curl_easy_perform(c->curl);
	out->status = status_of(c);
	curl_slist_free_all(headers);
	return verdict(out, code, ret_again);
}

int conn_ask(struct conn *c, const struct ask *q, struct answer *out)
{
	char path[3 * S3_KEY_MAX + 1024];
	size_t n = strlen(target.path);
	bool again;
	int r = -EIO;

	memcpy(path, target.path, n);
	path[n++] = '/';
	path[n] = '\0';
	if (!q->key && n > 1)
		path[n - 1] = '\0'; /* "/bucket" */
	if (q->key && !url_encode(q->key, strlen(q->key), true, path + n, sizeof(path) - n))
		return -ENAMETOOLONG;
	for (int i = 0; i < TRIES; i++) {
		if (i)
			usleep((useconds_t)(FIRST_PAUSE_MS << (i - 1)) * 1000);
		r = ask_once(c, q, path, out, &again);
		if (!again)
			break;
	}
	return r;
}
