/* Secrets in the gate: where values are put into requests, and how they are taken out of responses
 * in every form, cut at every place. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/base64.h"
#include "gate/secret.h"
#include "tap.h"

#define VALUE "sk-real/Val+ue&42%x"
#define HOLDER "viv-secret-KEY-0123456789abcdefghijkl"
#define HOLDER2 "viv-secret-TOKEN-0123456789abcdefghijkl"
#define HOLDER3 "viv-secret-BODY-0123456789abcdefghijkl"

static struct secrets *set;
static struct secret_site site, other;
static struct err e;
static struct buf out;

static void add(const char *json)
{
	e = (struct err){ 0 };
	if (secrets_add(set, json, strlen(json), &e) < 0)
		printf("# %s\n", err_line(&e).str);
}

static bool out_is(const char *want)
{
	bool good = out.len == strlen(want) && !memcmp(out.p, want, out.len);

	if (!good)
		printf("# got '%.*s', want '%s'\n", (int)out.len, (char *)out.p, want);
	return good;
}

static int header(const struct secret_site *s, const char *name, const char *value)
{
	out.len = 0;
	e = (struct err){ 0 };
	return secret_header(s, name, strlen(name), value, strlen(value), &out, &e);
}

static int target(const struct secret_site *s, const char *text)
{
	out.len = 0;
	e = (struct err){ 0 };
	return secret_target(s, text, strlen(text), &out, &e);
}

static void reading(void)
{
	struct secret_host h;
	struct secret_place p;
	static const char *const wrong[] = { "",    "*.", "a b", "a:0",	    "a:70000", "a:x",
					     "a/b", "*",  ":1",	 "a.*.org", "a:1x",    "ä.org" };
	static const char *const misplaced[] = { "",	      "header", "header a:b", "bearer x",
						 "headers a", "query ", "query a&b",  "body x" };

	ok(!secret_host_parse("API.Example.org.", &h, &e) && !strcmp(h.name, "api.example.org") &&
		   !h.port,
	   "a host");
	ok(!secret_host_parse("*.example.org:8443", &h, &e) && h.port == 8443, "one with a port");
	for (unsigned i = 0; i < ARRAY_LEN(wrong); i++)
		ok(secret_host_parse(wrong[i], &h, &e) < 0, wrong[i]);
	ok(!secret_place_parse("header x-api-key", &p, &e) && p.where == SECRET_HEADER &&
		   !strcmp(p.name, "x-api-key"),
	   "a place");
	ok(!secret_place_parse("basic", &p, &e) && !p.name[0], "one without a name");
	for (unsigned i = 0; i < ARRAY_LEN(misplaced); i++)
		ok(secret_place_parse(misplaced[i], &p, &e) < 0, misplaced[i]);
	ok(secret_value_check("short", 5, &e) < 0, "a value that is too short");
	ok(secret_value_check("two\r\nlines", 10, &e) < 0, "a value of two lines");
}

static void hosts(void)
{
	static const struct {
		const char *host;
		uint16_t port;
		bool tls, bound;
	} cases[] = {
		{ "api.example.org", 443, true, true },
		{ "api.example.org", 443, false, false },
		{ "api.example.org", 80, false, false },
		{ "api.example.org", 8443, true, false },
		{ "xapi.example.org", 443, true, false },
		{ "api.example.org.evil", 443, true, false },
		{ "example.org", 443, true, false },
		{ "a.below.org", 443, true, true },
		{ "a.b.below.org", 443, true, true },
		{ "below.org", 443, true, false },
		{ ".below.org", 443, true, false },
		{ "plain.org", 8080, false, true },
		{ "plain.org", 443, true, false },
		{ "", 443, true, false },
	};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct secret_site s;

		secret_site_init(&s, set, cases[i].host, cases[i].port, cases[i].tls);
		eq(s.bound & 1, cases[i].bound, cases[i].host);
		secret_site_fini(&s);
	}
}

static void requests(void)
{
	eq(header(&site, "X-Api-Key", HOLDER), 1, "a bound header");
	ok(out_is(VALUE), "has the value");
	eq(header(&site, "Accept", "text/html"), 0, "a header without one stays");
	eq(header(&site, "X-Other", HOLDER), -1, "another header is refused");
	ok(!strstr(err_line(&e).str, VALUE) && strstr(err_line(&e).str, "KEY"),
	   "with its name only");
	eq(e.kind, ERR_DENIED, "as denied");
	eq(header(&other, "x-api-key", HOLDER), -1, "another host is refused");
	ok(strstr(e.message, "not bound") != NULL, "and told why");
	eq(header(&site, "Authorization", "Bearer " HOLDER2), 1, "a bearer");
	ok(out_is("Bearer the-second-value"), "has it");
	eq(header(&site, "authorization", "token  " HOLDER2), 1, "another scheme");
	eq(header(&site, "Authorization", "Bearer x" HOLDER2), -1, "a part of one is refused");
	eq(header(&site, "Authorization", "Digest " HOLDER2), -1, "so is another scheme");
	eq(header(&site, "Authorization", HOLDER2), -1, "or none");
	eq(header(&site, "X-Api-Key", HOLDER2), -1, "one at the place of another");
	eq(header(&site, "X-Api-Key", HOLDER HOLDER), 1, "twice");
	ok(out_is(VALUE VALUE), "both");
	eq(header(&site, "Host", HOLDER), -1, "never as a host");
	eq(target(&site, "/a?x=1&key=" HOLDER "&y"), 1, "a parameter");
	ok(out_is("/a?x=1&key=sk-real%2FVal%2Bue%2642%25x&y"), "is escaped");
	eq(target(&site, "/a?other=" HOLDER), -1, "another parameter");
	eq(target(&site, "/a?xkey=" HOLDER), -1, "one that ends like it");
	eq(target(&site, "/key=" HOLDER "?"), -1, "the path");
	eq(target(&site, "/key=" HOLDER), -1, "without parameters");
	eq(target(&other, "/a?key=" HOLDER), -1, "of another host");
	eq(target(&site, "/plain"), 0, "none");
}

static int basic(const char *plain)
{
	char text[512] = "Basic ";

	base64_encode(text + 6, plain, strlen(plain));
	return header(&site, "Authorization", text);
}

static void basics(void)
{
	char plain[512] = "";

	eq(basic("me:" HOLDER2), 1, "Basic with the bound user");
	ok(out.len > 6 && base64_decode(plain, (char *)out.p + 6, out.len - 6) > 0 &&
		   !strcmp(plain, "me:the-second-value"),
	   "has the value");
	eq(basic("you:" HOLDER2), -1, "another user is refused");
	eq(basic("me:" HOLDER), -1, "a secret that is not bound to it as well");
	eq(basic("a:b"), 0, "others stay");
	eq(header(&site, "Authorization", "Basic !!!"), 0, "what is no base64 as well");
	eq(header(&site, "Authorization", "Basic " HOLDER2), -1, "not encoded: refused");
}

/* ---- what comes back ---- */

/* Runs a body through a filter in pieces of that size. */
static int run(struct scrub *s, const void *p, size_t n, size_t piece)
{
	const uint8_t *at = p;
	int r = 1;

	out.len = 0;
	if (!s)
		return -1;
	while (r >= 0 && (n || r)) {
		size_t some = MIN(n, piece), taken = 0, before = out.len;
		uint8_t *copy = malloc(some ? some : 1);

		memcpy(copy, at, some);
		r = scrub_step(s, copy, some, some == n, &taken, &out, &e);
		free(copy);
		if (out.len - before > 2 * SCRUB_OUT)
			r = -1;
		at += r < 0 ? 0 : taken;
		n -= r < 0 ? 0 : taken;
	}
	scrub_free(s);
	return r;
}

static bool clean_everywhere(const char *body, const char *want, unsigned flags)
{
	for (size_t piece = 1; piece <= strlen(body); piece++)
		if (run(scrub_new(&site, NULL, flags, &e), body, strlen(body), piece) < 0 ||
		    !out_is(want))
			return false;
	return true;
}

static void forms(void)
{
	static const char *const cases[][2] = {
		{ "a " VALUE " b", "a " HOLDER " b" },
		{ VALUE VALUE, HOLDER HOLDER },
		{ "sk-real/Val+ue&42%", "sk-real/Val+ue&42%" },
		{ "sk-sk-real/Val+ue&42%x", "sk-" HOLDER },
		{ "=sk-real%2FVal%2Bue%2642%25x&", "=" HOLDER "&" },
		{ "=sk-real%2fVal%2bue%2642%25x&", "=" HOLDER "&" },
		{ "%73%6b%2d%72%65%61%6c%2F%56%61%6c%2B%75%65%26%34%32%25%78", HOLDER },
		{ "\"sk-real\\/Val+ue\\u002642%x\"", "\"" HOLDER "\"" },
		{ "<b>sk-real/Val+ue&amp;42%x</b>", "<b>" HOLDER "</b>" },
		{ "sk-real&#47;Val&#x2b;ue&#38;42&#37;x", HOLDER },
		{ "736b2d7265616c2f56616c2b7565263432"
		  "2578.",
		  HOLDER "." },
		{ "the-second-value", HOLDER2 },
		{ "the-secon\\x64-value", HOLDER2 },
		{ "nothing & 100% \\ s", "nothing & 100% \\ s" },
		{ "", "" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++)
		ok(clean_everywhere(cases[i][0], cases[i][1], 0), cases[i][0]);
	ok(clean_everywhere("x the-second-value y", "x **************** y", SCRUB_MASK), "masked");
	for (unsigned before = 0; before < 6; before++) {
		char plain[128] = "abcdef", text[256] = "";
		bool leaks = false;

		strcpy(plain + before, VALUE "rest");
		base64_encode(text, plain, strlen(plain));
		run(scrub_new(&site, NULL, 0, &e), text, strlen(text), 7);
		leaks = !memmem(out.p, out.len, HOLDER, strlen(HOLDER));
		ok(!leaks, "base64 is found wherever it stands");
	}
	for (unsigned before = 0; before < 6; before++) {
		char plain[128] = "abcdef", once[256] = "Basic ", twice[512] = "";

		strcpy(plain + before, ":the-second-value");
		base64_encode(once + 6, plain, strlen(plain));
		base64_encode(twice, once + before, strlen(once + before));
		run(scrub_new(&site, NULL, 0, &e), twice, strlen(twice), 5);
		ok(memmem(out.p, out.len, HOLDER2, strlen(HOLDER2)) != NULL, "base64 of base64");
	}
	ok(scrub_text(&site, "/?k=" VALUE, strlen("/?k=" VALUE), &out), "in a header");
	ok(!scrub_text(&site, "plain", 5, &out), "or not");
	ok(!scrub_text(&other, VALUE, strlen(VALUE), &out), "of a host that has no secrets: not");
}

/* What is held back: nothing but what could be a value. */
static void flushing(void)
{
	struct scrub *s = scrub_new(&site, NULL, 0, &e);
	size_t taken;

	out.len = 0;
	eq(scrub_step(s, "data: hello\n\n", 13, false, &taken, &out, &e), 0, "an event");
	eq(out.len, 13, "is there at once");
	out.len = 0;
	eq(scrub_step(s, "data: the-sec", 13, false, &taken, &out, &e), 0, "a part");
	eq(out.len, 6, "that could be a value is held");
	eq(scrub_step(s, "ret\n\n", 5, false, &taken, &out, &e), 0, "until it is none");
	ok(out_is("data: the-secret\n\n"), "then it is there");
	scrub_free(s);
}

static size_t squeeze(uint8_t *to, size_t room, const char *text, size_t n, int bits)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)text,
		       .avail_in = (uInt)n,
		       .next_out = to,
		       .avail_out = (uInt)room };

	if (deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return room - z.avail_out;
}

/* A stream whose head says that its window has 32 MiB. */
static size_t zstd_wide(uint8_t *to, size_t size)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_outBuffer out_at = { to, size, 0 };
	ZSTD_inBuffer in_at = { "x", 1, 0 };

	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 25);
	if (ZSTD_isError(ZSTD_compressStream2(c, &out_at, &in_at, ZSTD_e_flush)) ||
	    ZSTD_isError(ZSTD_compressStream2(c, &out_at, &in_at, ZSTD_e_end)))
		out_at.pos = 0;
	ZSTD_freeCCtx(c);
	return out_at.pos;
}

static void compressed(void)
{
	static const char body[] = "{\"echo\": \"" VALUE "\"}",
			  want[] = "{\"echo\": \"" HOLDER "\"}";
	static const struct {
		const char *name;
		int bits;
	} kinds[] = { { "gzip", 31 }, { "deflate", 15 }, { "Deflate", -15 } };
	/* "brotli " VALUE */
	static const uint8_t br[] = { 0x8b, 0x0c, 0x80, 0x62, 0x72, 0x6f, 0x74, 0x6c, 0x69, 0x20,
				      0x73, 0x6b, 0x2d, 0x72, 0x65, 0x61, 0x6c, 0x2f, 0x56, 0x61,
				      0x6c, 0x2b, 0x75, 0x65, 0x26, 0x34, 0x32, 0x25, 0x78, 0x03 };
	uint8_t packed[4096];
	char *bomb = calloc(1, 1 << 22);
	size_t n;

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		bool good = true;

		n = squeeze(packed, sizeof(packed), body, strlen(body), kinds[i].bits);
		for (size_t piece = 1; piece <= n; piece++)
			good &= run(scrub_new(&site, kinds[i].name, 0, &e), packed, n, piece) ==
					0 &&
				out_is(want);
		ok(good, kinds[i].name);
		ok(run(scrub_new(&site, kinds[i].name, 0, &e), packed, n - 1, 9) < 0, "cut off");
		packed[n / 2] ^= 0x55;
		packed[n / 2 + 1] ^= 0x55;
		run(scrub_new(&site, kinds[i].name, 0, &e), packed, n, 9);
		ok(!memmem(out.p, out.len, VALUE, strlen(VALUE)), "damaged");
	}
	n = squeeze(packed, sizeof(packed), "one ", 4, 31);
	n += squeeze(packed + n, sizeof(packed) - n, VALUE, strlen(VALUE), 31);
	ok(!run(scrub_new(&site, "x-gzip", 0, &e), packed, n, n) && out_is("one " HOLDER),
	   "gzip of two members");
	eq(run(scrub_new(&site, "br", 0, &e), br, sizeof(br), 3), 0, "brotli");
	ok(out_is("brotli " HOLDER), "is cleaned");
	n = squeeze(packed, sizeof(packed), bomb, 1 << 20, 31);
	eq(run(scrub_new(&site, "gzip", 0, &e), packed, n, n), 0,
	   "a bomb, in steps that are bounded");
	eq(out.len, 1 << 20, "all of it");
	n = ZSTD_compress(packed, sizeof(packed), "zstd ", 5, 3);
	n += ZSTD_compress(packed + n, sizeof(packed) - n, VALUE, strlen(VALUE), 3);
	for (size_t piece = 1; piece <= n; piece++)
		ok(!run(scrub_new(&site, "zstd", 0, &e), packed, n, piece) &&
			   out_is("zstd " HOLDER),
		   "zstd, two frames in pieces");
	ok(run(scrub_new(&site, "zstd", 0, &e), packed, n - 1, 9) < 0, "cut off");
	n = ZSTD_compress(packed, sizeof(packed), bomb, 1 << 22, 19);
	ok(n < 2000 && !run(scrub_new(&site, "zstd", 0, &e), packed, n, n) && out.len == 1 << 22,
	   "a bomb of zstd, in steps that are bounded");
	n = zstd_wide(packed, sizeof(packed));
	ok(n && run(scrub_new(&site, "zstd", 0, &e), packed, n, n) < 0,
	   "zstd that needs much memory is refused");
	ok(!scrub_new(&site, "compress", 0, &e) && !scrub_new(&site, "gzip, br", 0, &e),
	   "others are refused");
	eq(run(scrub_new(&site, "gzip", 0, &e), "", 0, 1), 0, "an empty body");
	eq(out.len, 0, "stays empty");
	free(bomb);
}

static void bodies(void)
{
	static const char body[] = "a=" HOLDER3 "&b=" HOLDER;
	bool good = true;

	ok(secret_site_in_body(&site) && !secret_site_in_body(&other), "in bodies if asked");
	for (size_t piece = 1; piece < sizeof(body); piece++)
		good &= !run(secret_body_new(&site, "application/x-www-form-urlencoded"), body,
			     strlen(body), piece) &&
			out_is("a=in%22body%5Cyes&b=" HOLDER);
	ok(good, "a form");
	ok(!run(secret_body_new(&site, "application/json"), body, strlen(body), 50) &&
		   out_is("a=in\\\"body\\\\yes&b=" HOLDER),
	   "JSON");
}

/* A value that was replaced is not the cell's to know either. */
static void rotation(void)
{
	struct secrets *before = set;

	for (unsigned i = 0; i < 3; i++) {
		static const char *const values[] = { "first-new-value", "second-new-value",
						      "first-new-value" };
		char json[512];
		struct secrets *next = secrets_new();

		snprintf(json, sizeof(json),
			 "{\"name\":\"TOKEN\",\"placeholder\":\"" HOLDER2
			 "\",\"value\":\"%s\",\"hosts\":[\"api.example.org\"],\"places\":["
			 "\"bearer\"]}",
			 values[i]);
		ok(!secrets_add(next, json, strlen(json), &e), "a new value");
		secrets_succeed(next, before);
		if (before != set)
			secrets_put(before);
		before = next;
	}
	secret_site_fini(&site);
	secret_site_init(&site, before, "api.example.org", 443, true);
	ok(clean_everywhere("first-new-value second-new-value the-second-value",
			    HOLDER2 " " HOLDER2 " " HOLDER2, 0),
	   "values of before are scrubbed");
	eq(header(&site, "Authorization", "Bearer " HOLDER2), 1, "the last one");
	ok(out_is("Bearer first-new-value"), "is sent");
	secrets_put(before);
}

int main(void)
{
	set = secrets_new();
	add("{\"name\":\"KEY\",\"placeholder\":\"" HOLDER "\",\"value\":\"" VALUE
	    "\",\"hosts\":[\"api.example.org\",\"*.below.org\",\"plain.org:8080\"],"
	    "\"places\":[\"header x-api-key\",\"query key\"]}");
	add("{\"name\":\"TOKEN\",\"placeholder\":\"" HOLDER2 "\",\"value\":\"the-second-value\","
	    "\"hosts\":[\"api.example.org\"],\"places\":[\"bearer\",\"basic me\"]}");
	add("{\"name\":\"BODY\",\"placeholder\":\"" HOLDER3 "\",\"value\":\"in\\\"body\\\\yes\","
	    "\"hosts\":[\"api.example.org\"],\"places\":[\"body\"]}");
	eq(set->n, 3, "secrets are read");
	ok(secrets_add(set, "{}", 2, &e) < 0 && set->n == 3, "wrong ones are not");
	secret_site_init(&site, set, "api.example.org", 443, true);
	secret_site_init(&other, set, "evil.example.org", 443, true);
	reading();
	hosts();
	requests();
	basics();
	forms();
	flushing();
	compressed();
	bodies();
	rotation();
	secret_site_fini(&site);
	secret_site_fini(&other);
	secrets_put(set);
	buf_free(&out);
	return tap_end();
}
