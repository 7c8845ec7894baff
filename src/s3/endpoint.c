/* Where the objects are and who we are there: from viv's arguments, its environment, and the file
 * of credentials that other tools of AWS use. Endpoints of amazonaws.com get the bucket's name in
 * front of the host's, all others in the path. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s3/s3.h"

struct s3_target target;

static bool copy(char *out, size_t size, const char *s)
{
	size_t n = strlen(s);

	if (n >= size)
		return false;
	memcpy(out, s, n + 1);
	return true;
}

static const char *env(const char *name)
{
	const char *s = getenv(name);

	return s && *s ? s : NULL;
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* [profile] and key = value. */
static void credentials_read(void)
{
	const char *file = env("AWS_SHARED_CREDENTIALS_FILE"), *want = env("AWS_PROFILE");
	char path[4096], line[8192], head[256];
	bool here = false;
	FILE *f;

	if (!file) {
		snprintf(path, sizeof(path), "%s/.aws/credentials",
			 env("HOME") ? env("HOME") : "/root");
		file = path;
	}
	f = fopen(file, "re");
	if (!f)
		return;
	snprintf(head, sizeof(head), "[%s]", want ? want : "default");
	while (fgets(line, sizeof(line), f)) {
		char *s = trim(line), *eq = strchr(s, '=');

		if (*s == '[') {
			here = !strcmp(s, head);
			continue;
		}
		if (!here || !eq || *s == '#')
			continue;
		*eq = '\0';
		s = trim(s);
		if (!strcmp(s, "aws_access_key_id"))
			copy(target.access_key, sizeof(target.access_key), trim(eq + 1));
		else if (!strcmp(s, "aws_secret_access_key"))
			copy(target.secret_key, sizeof(target.secret_key), trim(eq + 1));
		else if (!strcmp(s, "aws_session_token"))
			copy(target.token, sizeof(target.token), trim(eq + 1));
		else if (!strcmp(s, "region") && !target.region[0])
			copy(target.region, sizeof(target.region), trim(eq + 1));
	}
	fclose(f);
	explicit_bzero(line, sizeof(line));
}

static bool is_clean(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f)
			return false;
	return true;
}

static bool credentials_find(void)
{
	const char *id = env("AWS_ACCESS_KEY_ID"), *secret = env("AWS_SECRET_ACCESS_KEY");
	const char *token = env("AWS_SESSION_TOKEN");

	if (id && secret && !env("AWS_PROFILE")) {
		if (!copy(target.access_key, sizeof(target.access_key), id) ||
		    !copy(target.secret_key, sizeof(target.secret_key), secret) ||
		    (token && !copy(target.token, sizeof(target.token), token)))
			return false;
	} else {
		credentials_read();
	}
	/* They become parts of headers. */
	return target.access_key[0] && target.secret_key[0] && is_clean(target.access_key) &&
	       is_clean(target.token);
}

static bool endpoint_set(const char *endpoint, char *why, size_t why_size)
{
	char given[512];
	const char *host;
	bool own;
	size_t n;

	if (!endpoint)
		endpoint = env("AWS_ENDPOINT_URL_S3");
	if (!endpoint)
		endpoint = env("AWS_ENDPOINT_URL");
	if (!endpoint) {
		snprintf(given, sizeof(given), "https://s3.%s.amazonaws.com", target.region);
		endpoint = given;
	}
	host = strstr(endpoint, "://");
	if ((strncmp(endpoint, "http://", 7) && strncmp(endpoint, "https://", 8)) ||
	    strlen(endpoint) > 400 || !is_clean(endpoint)) {
		snprintf(why, why_size, "the endpoint '%.100s' is no http:// or https:// address",
			 endpoint);
		return false;
	}
	host += 3;
	n = strcspn(host, "/?#@");
	if (!n || host[n] == '@' || host[n] == '?' || host[n] == '#' ||
	    (host[n] == '/' && host[n + 1])) {
		snprintf(why, why_size, "the endpoint '%.100s' has more than a host and a port",
			 endpoint);
		return false;
	}
	own = n >= 13 && !strncmp(host + n - 13, "amazonaws.com", 13) &&
	      !strchr(target.bucket, '.');
	snprintf(target.host, sizeof(target.host), "%s%s%.*s", own ? target.bucket : "",
		 own ? "." : "", (int)n, host);
	snprintf(target.base, sizeof(target.base), "%.*s%s", (int)(host - endpoint), endpoint,
		 target.host);
	if (!own)
		snprintf(target.path, sizeof(target.path), "/%s", target.bucket);
	return true;
}

bool target_init(const char *bucket, const char *prefix, const char *endpoint, bool readonly,
		 char *why, size_t why_size)
{
	const char *region = env("AWS_REGION");
	size_t n = strlen(prefix);

	for (const char *s = bucket; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(".-_", *s)) {
			snprintf(why, why_size, "'%.100s' cannot be the name of a bucket", bucket);
			return false;
		}
	if (!*bucket || !copy(target.bucket, sizeof(target.bucket), bucket) || n > S3_KEY_MAX - 2 ||
	    !s3_key_ok(prefix, n)) {
		snprintf(why, why_size,
			 "'s3://%.100s/%.200s' cannot be mounted: S3 has no such names", bucket,
			 prefix);
		return false;
	}
	snprintf(target.prefix, sizeof(target.prefix), "%s%s", prefix, n ? "/" : "");
	target.readonly = readonly;
	if (!region)
		region = env("AWS_DEFAULT_REGION");
	if (region)
		copy(target.region, sizeof(target.region), region);
	if (!credentials_find()) {
		snprintf(why, why_size,
			 "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
			 "or write them to ~/.aws/credentials");
		return false;
	}
	if (!target.region[0])
		copy(target.region, sizeof(target.region), "us-east-1");
	return is_clean(target.region) && endpoint_set(endpoint, why, why_size);
}
