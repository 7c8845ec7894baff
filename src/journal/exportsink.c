/* Where exports go; see export.h. Redirects are not followed: what a cell did is for the server
 * that was named. Replies are not kept but for the beginning of one that says what is wrong.
 *
 * libcurl is loaded when something is sent: it brings thirty libraries along, and this program is
 * started at the end of each cell to seal its journal. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal/export.h"

#define TRIES 4
#define FIRST_PAUSE_MS 250
#define CONNECT_SECONDS 10L
#define STALL_SECONDS 30L
#define REPLY_KEPT 400

static struct {
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_setopt) setopt;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_getinfo) getinfo;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_slist_append) list_append;
	__typeof__(&curl_slist_free_all) list_free_all;
} curl;

static int curl_load(struct err *e)
{
	const struct {
		const char *name;
		void *to;
	} all[] = {
		{ "curl_easy_init", &curl.init },
		{ "curl_easy_setopt", &curl.setopt },
		{ "curl_easy_perform", &curl.perform },
		{ "curl_easy_getinfo", &curl.getinfo },
		{ "curl_easy_strerror", &curl.strerror },
		{ "curl_easy_cleanup", &curl.cleanup },
		{ "curl_slist_append", &curl.list_append },
		{ "curl_slist_free_all", &curl.list_free_all },
	};
	void *lib = curl.init ? NULL : dlopen("libcurl.so.4", RTLD_NOW);

	if (curl.init)
		return 0;
	for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
		void *f = lib ? dlsym(lib, all[i].name) : NULL;

		if (!f) {
			curl.init = NULL;
			return err_set(e, ERR_FAILED,
				       "cannot load libcurl: %s" REMEDY
				       "install it (Debian: libcurl4)",
				       dlerror());
		}
		memcpy(all[i].to, &f, sizeof(f));
	}
	return 0;
}

struct reply {
	char text[REPLY_KEPT + 1];
	size_t n;
};

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct reply *r = arg;
	size_t take = MIN(size * n, REPLY_KEPT - r->n);

	memcpy(r->text + r->n, data, take);
	r->n += take;
	r->text[r->n] = 0;
	return size * n;
}

/* name=value,name=value */
static struct curl_slist *headers_make(const char *type)
{
	const char *more = getenv("OTEL_EXPORTER_OTLP_HEADERS");
	struct curl_slist *list;
	char line[4096];

	snprintf(line, sizeof(line), "Content-Type: %s", type);
	list = curl.list_append(NULL, line);
	list = curl.list_append(list, "Expect:");
	while (more && *more) {
		size_t n = strcspn(more, ","), name = strcspn(more, "=");

		if (name < n && n < sizeof(line) - 8 && !memchr(more, '\n', n) &&
		    !memchr(more, '\r', n)) {
			snprintf(line, sizeof(line), "%.*s: %.*s", (int)name, more,
				 (int)(n - name - 1), more + name + 1);
			list = curl.list_append(list, line);
		}
		more += n + (more[n] ? 1 : 0);
	}
	return list;
}

static CURL *curl_made(struct sink *s)
{
	CURL *c = s->curl;

	if (c)
		return c;
	c = s->curl = curl.init();
	if (!c)
		return NULL;
	curl.setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl.setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl.setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl.setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl.setopt(c, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
	curl.setopt(c, CURLOPT_USERAGENT, "vivarium/" VIV_VERSION);
	curl.setopt(c, CURLOPT_WRITEFUNCTION, on_data);
	return c;
}

/* One try. 0; 1: it may be tried again; -1. */
static int try_once(struct sink *s, const char *url, const struct curl_slist *headers,
		    const char *data, size_t n, struct err *e)
{
	CURL *c = curl_made(s);
	struct reply r = { 0 };
	long status = 0;
	CURLcode rc;

	if (!c)
		return err_set(e, ERR_FAILED, "libcurl cannot be started");
	curl.setopt(c, CURLOPT_URL, url);
	curl.setopt(c, CURLOPT_HTTPHEADER, headers);
	curl.setopt(c, CURLOPT_POST, 1L);
	curl.setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	curl.setopt(c, CURLOPT_POSTFIELDS, data);
	curl.setopt(c, CURLOPT_WRITEDATA, &r);
	rc = curl.perform(c);
	if (rc != CURLE_OK) {
		err_note(e, ERR_FAILED,
			 "cannot send to '%s': %s" REMEDY "is it the URL of a server?", url,
			 curl.strerror(rc));
		return rc == CURLE_URL_MALFORMAT || rc == CURLE_UNSUPPORTED_PROTOCOL ? -1 : 1;
	}
	curl.getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300) {
		s->sent++;
		return 0;
	}
	err_note(e, ERR_FAILED, "'%s' replied with status %ld", url, status);
	err_cause(e, r.text);
	return status == 429 || (status >= 500 && status != 501) ? 1 : -1;
}

int sink_put(struct sink *s, const char *path, const char *type, const char *data, size_t n,
	     struct err *e)
{
	struct curl_slist *headers;
	char url[2048];
	int rc = 1, len;

	if (s->to) {
		if (fwrite(data, 1, n, s->to) != n)
			return err_set(e, ERR_FAILED, "cannot write the export: %s",
				       strerror(errno));
		return 0;
	}
	len = (int)strlen(s->url);
	while (*path && len && s->url[len - 1] == '/')
		len--;
	if ((size_t)snprintf(url, sizeof(url), "%.*s%s", len, s->url, path) >= sizeof(url))
		return err_set(e, ERR_USAGE, "the URL is too long");
	if (curl_load(e) < 0)
		return -1;
	headers = headers_make(type);
	for (unsigned i = 0; i < TRIES && rc > 0; i++) {
		int64_t ms = (int64_t)FIRST_PAUSE_MS << i;
		struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

		rc = try_once(s, url, headers, data, n, e);
		if (rc > 0 && i + 1 < TRIES)
			nanosleep(&pause, NULL);
	}
	curl.list_free_all(headers);
	return rc ? -1 : 0;
}

void sink_fini(struct sink *s)
{
	if (s->curl)
		curl.cleanup(s->curl);
	s->curl = NULL;
}
