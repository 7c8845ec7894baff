/* Signatures: the examples that Amazon publishes for SigV4 with S3, and what a mount's address
 * becomes. */
#include <stdlib.h>
#include <string.h>

#include "s3/s3.h"
#include "tap.h"

#define WHEN 1369353600 /* 20130524T000000Z */

static bool init(const char *bucket, const char *prefix, const char *endpoint)
{
	char why[512];

	memset(&target, 0, sizeof(target));
	return target_init(bucket, prefix, endpoint, false, why, sizeof(why));
}

static bool signed_as(const char *query, const char *want)
{
	struct signature s;

	return sign(&s, "GET", "/", query, NULL, NULL, 0, WHEN) && !strcmp(s.date, "20130524T000000Z") &&
	       strstr(s.authorization, "SignedHeaders=host;x-amz-content-sha256;x-amz-date,") &&
	       !strcmp(strstr(s.authorization, "Signature=") + 10, want);
}

int main(void)
{
	setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", 1);
	setenv("AWS_REGION", "us-east-1", 1);
	unsetenv("AWS_PROFILE");
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_ENDPOINT_URL");
	unsetenv("AWS_ENDPOINT_URL_S3");

	ok(init("examplebucket", "", "https://s3.amazonaws.com"), "an endpoint of Amazon's");
	ok(!strcmp(target.host, "examplebucket.s3.amazonaws.com") && !target.path[0], "the bucket is in the host's name");
	ok(signed_as("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"), "GET ?lifecycle");
	ok(signed_as("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"), "GET ?max-keys&prefix");

	ok(init("b", "p/q", NULL) && !strcmp(target.base, "https://b.s3.us-east-1.amazonaws.com") && !strcmp(target.prefix, "p/q/"),
	   "the default endpoint, a prefix");
	ok(init("b", "", "http://127.0.0.1:9000/") && !strcmp(target.host, "127.0.0.1:9000") && !strcmp(target.path, "/b"),
	   "others have the bucket in the path");
	ok(!init("b", "", "ftp://x") && !init("b", "", "http://u@x") && !init("b", "", "http://x/y"), "no such endpoint");
	ok(!init("b/c", "", NULL) && !init("", "", NULL) && !init("b", "a/../c", NULL) && !init("b", "a//c", NULL), "no such place");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
	ok(!init("b", "", NULL), "no credentials");
	return tap_end();
}
