/* What a gate writes into its cell's journal: the fields of each kind, URLs without secrets,
 * requests that end once. */
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gate/record.h"
#include "host/journalring.h"
#include "tap.h"

#define VALUE "sk-real/Val+ue&42"
#define HOLDER "viv-secret-KEY-0123456789abcdefghijkl"

static struct ring_reader r;
static uint8_t out[JOURNAL_RING_DATA] __attribute__((aligned(8)));
static union journal_record rec;
static struct journal_frame *f;

/* The next record: its kind; J_PAD: there is none. */
static int next(void)
{
	static size_t n, at;
	const char *damage;
	uint32_t count;

	if (at == n) {
		at = 0;
		n = ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
		ring_reader_done(&r);
		if (!n)
			return J_PAD;
	}
	f = (void *)(out + at);
	at += f->size;
	return journal_decode(f, f->size, &rec) ? f->kind : -1;
}

static bool text_is(struct jtext t, const char *want)
{
	bool same = t.n == strlen(want) && !memcmp(t.p, want, t.n);

	if (!same)
		printf("# got '%.*s', want '%s'\n", (int)t.n, t.p, want);
	return same;
}

static void rules_set(const char *text)
{
	struct err e = { 0 };

	policy_fini(&settings.policy);
	policy_init(&settings.policy);
	if (policy_parse(&settings.policy, text, strlen(text), "test", 1, 1, &e) < 0)
		printf("# %s\n", err_line(&e).str);
}

static void names(void)
{
	const struct rule *allow, *audit;

	rules_set("allow net good.org\naudit net *:* any\n");
	allow = policy_rule(&settings.policy, 0);
	audit = policy_rule(&settings.policy, 1);
	record_name(7, "good.org", DNS_AAAA, record_verdict(VERDICT_ALLOW, allow), allow, NULL);
	ok(next() == J_NAME && f->pid == 7 && text_is(rec.NAME.name, "good.org") &&
		   text_is(rec.NAME.decision, "allow") &&
		   text_is(rec.NAME.rule, "allow net good.org") && text_is(rec.NAME.type, "AAAA"),
	   "a name");
	record_name(7, "", 999, "deny", NULL, "why");
	ok(next() == J_NAME && text_is(rec.NAME.name, ".") && text_is(rec.NAME.type, "TYPE999") &&
		   text_is(rec.NAME.rule, "why"),
	   "the root, a type without a name, a reason");
	ok(!strcmp(record_verdict(VERDICT_ALLOW, audit), "audit") &&
		   !strcmp(record_verdict(VERDICT_DENY, audit), "deny") &&
		   !strcmp(record_verdict(VERDICT_ASK, NULL), "ask") &&
		   !strcmp(record_verdict(VERDICT_ALLOW, NULL), "allow"),
	   "words for what was decided");
	ok(record_pid(&(struct gate_msg){ .pid = 5 }) == 5 &&
		   !record_pid(&(struct gate_msg){ .pid = -5 }) &&
		   !record_pid(&(struct gate_msg){ .pid = INT32_MAX }),
	   "a process that cannot be is none");
}

static void connections(void)
{
	struct record_connection c = {
		.number = 9, .pid = 3, .program = "/bin/x", .name = "good.org", .port = 443
	};
	struct ip a;

	record_connect(&c, "deny", NULL, "no");
	ok(next() == J_CONNECT && rec.CONNECT.connection == 9 &&
		   text_is(rec.CONNECT.protocol, "tcp") && text_is(rec.CONNECT.address, "") &&
		   text_is(rec.CONNECT.program, "/bin/x"),
	   "a connection without an address");
	c.udp = true;
	c.addr = &a;
	(void)!ip_parse("2606:2800:220:1::34", &a);
	record_connect(&c, "allow", NULL, NULL);
	ok(next() == J_CONNECT && text_is(rec.CONNECT.protocol, "udp") &&
		   text_is(rec.CONNECT.address, "2606:2800:220:1::34") && rec.CONNECT.port == 443,
	   "datagrams to an address");
	record_denial(3,
		      &(struct net_question){ .name = "good.org", .port = 80, .protocol = NET_TCP },
		      NULL, "over");
	ok(next() == J_DENIAL && text_is(rec.DENIAL.what, "tcp good.org:80") &&
		   text_is(rec.DENIAL.rule, "over"),
	   "a denial");
}

static void request(struct exchange *x, struct opened *o, const char *method, const char *target)
{
	struct head h = { .method = (char *)(uintptr_t)method,
			  .target = (char *)(uintptr_t)target };

	*x = (struct exchange){ .o = o };
	record_request_begin(x, o, &h);
}

static void requests(void)
{
	static char long_target[TARGET_MAX];
	struct opened o = { .name = "good.org",
			    .is_name = true,
			    .port = 8443,
			    .tls = true,
			    .number = 4,
			    .pid = 3 };
	struct refusal refusal = { .status = 421,
				   .message = "a request for me:open-sesame@x",
				   .brief = "another host" };
	struct exchange x;

	request(&x, &o, "GET", "/a?key=" HOLDER "&b=" HOLDER);
	record_request(&x, "allow", NULL, NULL);
	ok(next() == J_REQUEST && rec.REQUEST.connection == 4 && rec.REQUEST.number == 1 &&
		   f->pid == 3 &&
		   text_is(rec.REQUEST.url, "https://good.org:8443/a?key={KEY}&b={KEY}") &&
		   text_is(rec.REQUEST.method, "GET") && !rec.REQUEST.status,
	   "a request with the name of a secret");
	x.record.status = 200, x.record.in = 1000, x.record.out = 5;
	record_response(&x);
	ok(next() == J_RESPONSE && rec.RESPONSE.number == 1 && rec.RESPONSE.in == 1000 &&
		   rec.RESPONSE.out == 5 && rec.RESPONSE.status == 200 &&
		   text_is(rec.RESPONSE.url, "https://good.org:8443/a?key={KEY}&b={KEY}"),
	   "its end");
	record_response(&x);
	record_request_fini(&x);
	eq(next(), J_PAD, "which comes once");

	request(&x, &o, "POST", "/sk-real%2FVal%2Bue%2642/736b2d7265616c2f56616c2b7565263432");
	record_request(&x, "ask", NULL, NULL);
	record_request(&x, "deny", NULL, &refusal);
	ok(next() == J_REQUEST && rec.REQUEST.number == 2 &&
		   text_is(rec.REQUEST.url, "https://good.org:8443/{KEY}/{KEY}"),
	   "values that a cell has got hold of, in any form");
	ok(next() == J_REQUEST && rec.REQUEST.number == 2 && rec.REQUEST.status == 421 &&
		   text_is(rec.REQUEST.rule, "another host"),
	   "what a client says is no reason");
	record_response(&x);
	record_request_fini(&x);
	eq(next(), J_PAD, "what was not sent on has no end");

	o = (struct opened){ .name = "2606:2800::1", .port = 80 };
	request(&x, &o, "GET", "*");
	record_request(&x, "failed", NULL,
		       &(struct refusal){ .status = 502, .message = "bad " HOLDER });
	ok(next() == J_REQUEST && text_is(rec.REQUEST.url, "http://[2606:2800::1]*") &&
		   text_is(rec.REQUEST.rule, "bad {KEY}"),
	   "an address, without its default port");
	record_request_fini(&x);

	memset(long_target, 'x', sizeof(long_target) - 1);
	long_target[0] = '/';
	request(&x, &o, "GET", long_target);
	record_request(&x, "allow", NULL, NULL);
	ok(next() == J_REQUEST && rec.REQUEST.url.n == JOURNAL_TEXT_MAX, "a long URL is cut");
	record_response(&x);
	record_request_fini(&x);
	eq(next(), J_RESPONSE, "and ends");
}

int main(void)
{
	static const char secret[] =
		"{\"name\":\"KEY\",\"placeholder\":\"" HOLDER "\",\"value\":\"" VALUE
		"\",\"hosts\":[\"good.org:8443\"],\"places\":[\"anywhere\"]}";
	int fd = memfd_create("ring", 0), bell = eventfd(0, EFD_NONBLOCK);
	struct err e = { 0 };

	ok(!record_is_on(), "without a ring nothing is recorded");
	record_name(1, "x", 1, "allow", NULL, NULL);
	if (journal_ring_make(fd, 1) || ring_reader_init(&r, fd, ~0ull) ||
	    dup2(bell, GATE_FD_BELL) < 0 || dup2(fd, GATE_FD_RING) < 0)
		return 1;
	ok(record_open(&e) == 0 && record_is_on() && fcntl(GATE_FD_RING, F_GETFD) < 0,
	   "the ring's descriptor is closed when it is mapped");
	policy_init(&settings.policy);
	settings.secrets = secrets_new();
	ok(secrets_add(settings.secrets, secret, strlen(secret), &e) == 0, "a secret");
	names();
	connections();
	requests();
	secrets_put(settings.secrets);
	policy_fini(&settings.policy);
	return tap_end();
}
