/* Policies that are made from what a cell used, and questions about policies. */
/* objects: src/policy/ src/base/buf.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "policy/learn.h"
#include "policy/policy.h"
#include "policy/query.h"
#include "tap.h"

static struct learn l;

static void use(const char *json)
{
	learn_add(&l, json, strlen(json));
}

static void learnt(const char *want, const char *what)
{
	struct buf b = { 0 };
	struct policy p;
	struct err e = { 0 };

	learn_write(&l, &b);
	buf_add_text(&b, "");
	if (!ok(!strcmp((char *)b.p, want), what))
		printf("# got %s\n", (char *)b.p);
	policy_init(&p);
	ok(policy_parse(&p, (char *)b.p, b.len, "l", 1, 1, &e) == 0 && policy_check(&p, &e) == 0,
	   "and it is a policy");
	policy_fini(&p);
	buf_free(&b);
	learn_fini(&l);
	learn_init(&l);
}

static void learning(void)
{
	char line[256], *many;

	learn_init(&l);
	learnt("", "nothing");
	use("{\"name\":\"b.org\",\"port\":443,\"protocol\":\"web\",\"audit\":true}");
	use("{\"name\":\"a.org\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"a.org\",\"port\":80,\"protocol\":\"web\"}");
	use("{\"name\":\"a.org\"}");
	use("{\"name\":\"c.org\"}");
	use("{\"name\":\"c.org\"}");
	learnt("allow net a.org\nallow net b.org:443\n# looked up, but never connected to: c.org\n",
	       "the web");
	use("{\"name\":\"d.org\",\"port\":5432,\"protocol\":\"tcp\",\"address\":\"10.1.2.3\"}");
	use("{\"address\":\"2600::1\",\"port\":53,\"protocol\":\"udp\"}");
	use("{\"name\":\"d.org\",\"port\":443,\"protocol\":\"web\",\"tls\":\"any\"}");
	learnt("allow net 10.1.2.3:5432 tcp\nallow net [2600::1]:53 udp\n"
	       "allow net d.org:443 tls=any\nallow net d.org:5432 tcp\n",
	       "others");
	use("{\"name\":\"e.org\",\"port\":443,\"protocol\":\"tcp\"}");
	use("{\"name\":\"e.org\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"e.org\",\"port\":444,\"protocol\":\"tcp\"}");
	use("{\"name\":\"e.org\",\"port\":22,\"protocol\":\"tcp\"}");
	learnt("allow net e.org:22,443-444 tcp\n", "tcp covers the web; ranges");
	use("{\"name\":\"f.org\",\"port\":443,\"protocol\":\"web\",\"method\":\"POST\",\"path\":\"/x\"}");
	use("{\"name\":\"f.org\",\"port\":443,\"protocol\":\"web\",\"method\":\"GET\",\"path\":\"/x\"}");
	use("{\"name\":\"f.org\",\"port\":443,\"protocol\":\"web\",\"method\":\"GET\",\"path\":\"/a*b[c\"}");
	learnt("allow net f.org:443 GET /a?b?c\nallow net f.org:443 GET,POST /x\n", "requests");
	for (unsigned i = 0; i < 40; i++) {
		snprintf(line, sizeof(line),
			 "{\"name\":\"g.org\",\"port\":443,\"protocol\":\"web\",\"method\":\"%s\","
			 "\"path\":\"/p%u\"}",
			 i % 2 ? "GET" : "PUT", i);
		use(line);
	}
	learnt("allow net g.org:443 GET,PUT\n", "many paths become none");
	for (unsigned i = 0; i < 20; i++) {
		snprintf(line, sizeof(line), "{\"name\":\"h.org\",\"port\":%u,\"protocol\":\"tcp\"}",
			 1000 + 2 * i);
		use(line);
	}
	learnt("allow net h.org:1000,1002,1004,1006,1008,1010,1012,1014,1016,1018,1020,1022,1024,"
	       "1026,1028,1030 tcp\nallow net h.org:1032,1034,1036,1038 tcp\n",
	       "many ports");
	/* What is wrong is left out. */
	use("");
	use("{");
	use("[]");
	use("{\"name\":\"*\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"*.org\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"a.org:443 tcp\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"a.org\\nallow\",\"port\":443,\"protocol\":\"web\"}");
	use("{\"name\":\"i.org\",\"port\":99999,\"protocol\":\"web\"}");
	use("{\"address\":\"0.0.0.0/0\",\"port\":1,\"protocol\":\"tcp\",\"name\":7}");
	many = malloc(1000);
	memset(many, 'a', 999);
	many[999] = '\0';
	snprintf(line, sizeof(line), "{\"name\":\"%.200s\",\"port\":443,\"protocol\":\"web\"}", many);
	use(line);
	free(many);
	learnt("# looked up, but never connected to: i.org\n",
	       "what is wrong is left out");
	learn_fini(&l);
}

static const char *answer(const struct policy *p, const struct policy_query *q)
{
	static char text[1024];
	struct buf b = { 0 };
	struct err e = { 0 };

	if (policy_answer(p, q, &b, &e) < 0)
		snprintf(text, sizeof(text), "error: %s", e.message);
	else
		snprintf(text, sizeof(text), "%s", (char *)b.p);
	buf_free(&b);
	return text;
}
#define ASK(...) answer(&p, &(struct policy_query){ __VA_ARGS__ })
#define SAYS(what, ...)                                \
	do {                                           \
		const char *got = ASK(__VA_ARGS__);    \
		if (!ok(strstr(got, what), #__VA_ARGS__)) \
			printf("# %s\n", got);         \
	} while (0)

static void questions(void)
{
	static const char text[] = "use git\nallow net api.org GET /v1/**\nask net api.org POST\n"
				   "allow net [fd00::/64]:53 udp\ndeny exec **/sudo\n";
	struct policy p;
	struct err e = { 0 };

	policy_init(&p);
	ok(policy_parse(&p, text, strlen(text), "f", 1, 1, &e) == 0, "rules");
	SAYS("\"verdict\":\"allow\",\"rule\":\"allow net api.org GET /v1/**\",\"origin\":\"f, line 2\"",
	     .connect = "https://API.org/v1/x?y=/z");
	SAYS("\"verdict\":\"deny\"", .connect = "https://api.org/v2/x?/v1/x");
	SAYS("\"verdict\":\"ask\"", .connect = "https://api.org/v2/x", .method = "POST");
	SAYS("depends on the request", .connect = "api.org:443");
	SAYS("\"origin\":\"preset git\"", .connect = "github.com:22");
	SAYS("\"verdict\":\"allow\"", .connect = "udp://[fd00::1]:53");
	SAYS("\"verdict\":\"deny\"", .connect = "tcp://[fd00::1]:53");
	SAYS("not public", .connect = "127.0.0.1:80");
	SAYS("\"verdict\":\"deny\",\"rule\":\"deny exec **/sudo\"", .exec = "/usr/bin/sudo");
	SAYS("{\"verdict\":\"allow\"}", .file = "/etc/passwd", .access = "read,write");
	SAYS("{\"verdict\":\"allow\"}", .env = "X");
	SAYS("error", .file = "/x", .access = "reed");
	SAYS("error", .file = "x");
	SAYS("error", .env = "X", .exec = "/x");
	SAYS("error", .connect = "");
	SAYS("error", .connect = "https://");
	SAYS("error", .connect = "ftp://a.org/");
	SAYS("error", .connect = "a.org");
	SAYS("error", .connect = "a.org:0");
	SAYS("error", .connect = "a.org:70000");
	SAYS("error", .connect = "[::1");
	SAYS("error", .connect = "[::1]x");
	SAYS("error", .connect = "https://user@a.org/");
	SAYS("error", .connect = "https://a b/");
	policy_fini(&p);
}

int main(void)
{
	learning();
	questions();
	return tap_end();
}
