/* AWS Signature Version 4, as "Authenticating Requests (AWS Signature Version 4)" describes it. The
 * body is always hashed: parts are in memory, and a server then notices what was changed on its
 * way. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "s3/s3.h"

static void hex(const unsigned char *in, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", in[i]);
}

static void hmac(const void *key, size_t key_len, const char *text, unsigned char out[32])
{
	unsigned n = 32;

	HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), out, &n);
}

static void sha256_hex(const void *data, size_t len, char out[65])
{
	unsigned char sum[SHA256_DIGEST_LENGTH];

	SHA256(data ? data : "", len, sum);
	hex(sum, sizeof(sum), out);
}

bool sign(struct signature *s, const char *method, const char *path, const char *query,
	  const char *copy_source, const void *body, size_t body_len, int64_t now)
{
	static const char hs[] = "host;x-amz-content-sha256", ht[] = ";x-amz-date";
	char headers[256], scope[256], text[512], canonical_hash[65], secret[600], sum[65];
	char canonical[16384], copy_line[4096] = "", token_line[4200] = "";
	unsigned char k[32], k2[32];
	struct tm tm;
	time_t t = (time_t)now;
	int n;

	if (!gmtime_r(&t, &tm) || !strftime(s->date, sizeof(s->date), "%Y%m%dT%H%M%SZ", &tm))
		return false;
	sha256_hex(body, body_len, s->body_hash);
	if (copy_source && (size_t)snprintf(copy_line, sizeof(copy_line), "x-amz-copy-source:%s\n",
					    copy_source) >= sizeof(copy_line))
		return false;
	if (target.token[0])
		snprintf(token_line, sizeof(token_line), "x-amz-security-token:%s\n", target.token);
	/* In the order of the alphabet. */
	snprintf(headers, sizeof(headers), "%s%s%s%s", hs, copy_source ? ";x-amz-copy-source" : "",
		 ht, target.token[0] ? ";x-amz-security-token" : "");
	n = snprintf(canonical, sizeof(canonical),
		     "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\n%sx-amz-date:%s\n%s\n%s\n%s",
		     method, path, query, target.host, s->body_hash, copy_line, s->date, token_line,
		     headers, s->body_hash);
	if (n < 0 || (size_t)n >= sizeof(canonical))
		return false;
	sha256_hex(canonical, (size_t)n, canonical_hash);
	snprintf(scope, sizeof(scope), "%.8s/%s/s3/aws4_request", s->date, target.region);
	snprintf(text, sizeof(text), "AWS4-HMAC-SHA256\n%s\n%s\n%s", s->date, scope,
		 canonical_hash);
	snprintf(secret, sizeof(secret), "AWS4%s", target.secret_key);
	snprintf(sum, sizeof(sum), "%.8s", s->date);
	hmac(secret, strlen(secret), sum, k);
	hmac(k, 32, target.region, k2);
	hmac(k2, 32, "s3", k);
	hmac(k, 32, "aws4_request", k2);
	hmac(k2, 32, text, k);
	hex(k, 32, sum);
	OPENSSL_cleanse(secret, sizeof(secret));
	n = snprintf(s->authorization, sizeof(s->authorization),
		     "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s",
		     target.access_key, scope, headers, sum);
	return n > 0 && (size_t)n < sizeof(s->authorization);
}
