/* Which preview a request is for, what heads become on their way, and tokens. */
#include <stdlib.h>
#include <string.h>

#include "daemon/previews/target.h"
#include "gate/http.h"
#include "tap.h"

#define ID "0123456789abcdef"
#define SIGN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define TOKEN ID SIGN

static struct target t;
static struct head h;

static bool take(const char *target, const char *host, const char *cookie)
{
	static char text[4096];
	size_t scanned = 0, n;
	const char *wrong;

	target_fini(&t);
	head_fini(&h);
	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n%s%s%s%s%s%s\r\n", target,
		 host ? "Host: " : "", host ? host : "", host ? "\r\n" : "",
		 cookie ? "Cookie: " : "", cookie ? cookie : "", cookie ? "\r\n" : "");
	n = h1_head_end((uint8_t *)text, strlen(text), &scanned, &wrong);
	return n && !h1_request_read(&h, (uint8_t *)text, n) && !target_read(&t, &h);
}

static void hosts(void)
{
	static const char *const bad[] = { "example.org",
					   "127.0.0.1.example.org",
					   ID ".localhost",
					   ID "--.localhost",
					   ID "--0.localhost",
					   ID "--080.localhost",
					   ID "--65536.localhost",
					   ID "--999999999999999999999.localhost",
					   ID "--80.localhost.",
					   ID "--80.localhost:",
					   ID "--80.localhost:80x",
					   ID "--80.localhost:123456",
					   ID "--80.localhosts",
					   ID "--80x.localhost",
					   "x" ID "--80.localhost",
					   "g123456789abcdef--80.localhost",
					   "a." ID "--80.localhost",
					   "[::1]",
					   "127.0.0.2",
					   "",
					   ":80",
					   "127.0.0.1:80:80" };

	ok(take("/", ID "--80.localhost:4000", NULL) && t.form == TARGET_HOST &&
		   !strcmp(t.id, ID) && t.port == 80 && !t.token[0],
	   "a host of its own");
	ok(take("/", "0123456789ABCDEF--65535.LocalHost", NULL) && t.port == 65535, "in capitals");
	ok(take("/p/" TOKEN "/x?y", "127.0.0.1:1", NULL) && t.form == TARGET_PATH &&
		   !strcmp(t.token, TOKEN) && !strcmp(t.rest, "/x?y"),
	   "a path");
	ok(take("/p/" TOKEN "?y", "localhost", NULL) && t.in_query &&
		   !strcmp(t.rest, "/p/" TOKEN "/?y"),
	   "a path without its slash");
	ok(take("/p/" SIGN "/", "localhost", NULL) && !t.token[0], "a path with no token");
	ok(!take("/p//", "localhost", NULL) && !take("/", "localhost", NULL) &&
		   !take("/q/" TOKEN "/", "localhost", NULL) && !take("/", NULL, NULL),
	   "nothing");
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		ok(!take("/p/" TOKEN "/", bad[i], NULL), bad[i]);
}

static void given(void)
{
	const char *host = ID "--80.localhost";

	ok(take("/?viv_token=" TOKEN, host, NULL) && t.in_query && !strcmp(t.token, TOKEN) &&
		   !strcmp(t.rest, "/"),
	   "a query");
	ok(take("/a?b&viv_token=" TOKEN "&c=d", host, NULL) && !strcmp(t.rest, "/a?b&c=d"),
	   "amid others");
	ok(take("/?xviv_token=" TOKEN, host, NULL) && !t.in_query && !t.token[0], "another name");
	ok(take("/?viv_token=", host, "viv_preview=" TOKEN) && t.in_query && !t.token[0],
	   "an empty one counts");
	ok(take("/?viv_token=" TOKEN "&viv_token=" SIGN, host, NULL) && !strcmp(t.token, TOKEN) &&
		   !strcmp(t.rest, "/?viv_token=" SIGN),
	   "the first one");
	ok(take("/", host, "a=b; viv_preview=" TOKEN) && !strcmp(t.token, TOKEN), "a cookie");
	ok(take("/", host, "viv_preview=x;;viv_preview=" TOKEN ";") && !strcmp(t.token, TOKEN),
	   "the first that could be one");
	ok(take("/", host, "xviv_preview=" TOKEN) && !t.token[0], "another cookie");
	ok(take("/", host, "; a=b ;viv_preview=" TOKEN "; c") &&
		   (head_to_cell(&h, &t, 80, NULL), true) &&
		   !strcmp(head_find(&h, "cookie", NULL), "a=b ; c"),
	   "the cell gets the others");
	ok(take("/", host, "viv_preview=" TOKEN) && (head_to_cell(&h, &t, 80, NULL), true) &&
		   !head_find(&h, "cookie", NULL),
	   "or none");
}

int main(void)
{
	hosts();
	given();
	target_fini(&t);
	head_fini(&h);
	return tap_end();
}
