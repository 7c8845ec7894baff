/* Policies: what a rule means, which one decides, what is refused and where the mistake is. */
/* objects: src/policy/ src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tap.h"

static struct policy p;
static struct err e;

static bool take(const char *text)
{
	policy_fini(&p);
	policy_init(&p);
	return policy_parse(&p, text, strlen(text), "p", 1, 1, &e) == 0 && policy_check(&p, &e) == 0;
}

static void refused(const char *text, const char *where, const char *what)
{
	bool bad = !take(text);

	if (!ok(bad && !strcmp(e.message, where) && strstr(e.cause, what), text))
		printf("# %s\n", bad ? err_line(&e).str : "accepted");
}

/* DENY, ALLOW, ASK; 10 more: it depends on the request. */
static int net(const char *dest, unsigned port, unsigned protocol, const char *request)
{
	struct ip a;
	bool plain = ip_parse(dest, &a);
	char method[16] = "";
	const char *path = request ? strchr(request, ' ') : NULL;
	struct net_question q = { .name = plain ? NULL : dest,
				  .addr = plain ? &a : NULL,
				  .port = (uint16_t)port,
				  .protocol = protocol,
				  .program = "/usr/bin/curl" };
	struct decision d;

	if (path) {
		snprintf(method, sizeof(method), "%.*s", (int)(path - request), request);
		q.method = method;
		q.path = path + 1;
	}
	d = policy_net(&p, &q);
	return (int)d.verdict + (d.opened ? 10 : 0);
}

/* Addresses of the host: a rule must be for exactly that one. */
static void own(void)
{
	struct ip four, six;

	ok(ip_parse("93.184.216.9", &four) && ip_parse("2606:2800::9", &six), "two addresses");
	ip_own_add(&four);
	ip_own_add(&six);
	eq(net("93.184.216.9", 443, NET_WEB, NULL), VERDICT_DENY, "* is not the host");
	eq(net("2606:2800::9", 443, NET_WEB, NULL), VERDICT_DENY, "nor by IPv6");
	eq(net("93.184.216.8", 443, NET_WEB, NULL), VERDICT_ALLOW, "but its neighbour");
	ok(take("allow net 93.184.216.8/31:* any"), "a range with it");
	eq(net("93.184.216.9", 443, NET_TCP, NULL), VERDICT_DENY, "does not mean it");
	ok(take("allow net 93.184.216.9:* any\nallow net [2606:2800::9]:* any"), "its addresses");
	eq(net("93.184.216.9", 443, NET_TCP, NULL), VERDICT_ALLOW, "mean it");
	eq(net("2606:2800::9", 443, NET_TCP, NULL), VERDICT_ALLOW, "by IPv6 too");
}

static void nets(void)
{
	ok(take(""), "an empty policy");
	eq(net("example.org", 443, NET_WEB, NULL), VERDICT_DENY, "denies");
	ok(take("allow net Example.ORG.\n# a comment\n\n  allow net *.example.net:8443 # behind\n"),
	   "names");
	eq(net("example.org", 443, NET_WEB, NULL), VERDICT_ALLOW, "a name");
	eq(net("example.org", 80, NET_WEB, NULL), VERDICT_ALLOW, "by HTTP");
	eq(net("example.org", 8443, NET_WEB, NULL), VERDICT_DENY, "another port");
	eq(net("example.org", 443, NET_TCP, NULL), VERDICT_DENY, "not as plain TCP");
	eq(net("example.org", 443, NET_UDP, NULL), VERDICT_DENY, "not by UDP");
	eq(net("www.example.org", 443, NET_WEB, NULL), VERDICT_DENY, "a name below");
	eq(net("notexample.org", 443, NET_WEB, NULL), VERDICT_DENY, "another name");
	eq(net("example.net", 8443, NET_WEB, NULL), VERDICT_DENY, "*.x is not x");
	eq(net("a.example.net", 8443, NET_WEB, NULL), VERDICT_ALLOW, "*.x is a.x");
	eq(net("a.b.example.net", 8443, NET_WEB, NULL), VERDICT_ALLOW, "*.x is a.b.x");
	eq(net("aexample.net", 8443, NET_WEB, NULL), VERDICT_DENY, "*.x is not ax");
	eq(net(".example.net", 8443, NET_WEB, NULL), VERDICT_DENY, "nor .x");

	ok(take("allow net *\ndeny net *.evil.org\nask net ok.evil.org"), "the last one decides");
	eq(net("a.org", 443, NET_WEB, NULL), VERDICT_ALLOW, "the first");
	eq(net("a.evil.org", 443, NET_WEB, NULL), VERDICT_DENY, "the second");
	eq(net("ok.evil.org", 443, NET_WEB, NULL), VERDICT_ASK, "the third");
	eq(net("1.1.1.1", 443, NET_WEB, NULL), VERDICT_ALLOW, "* is public addresses");
	eq(net("10.0.0.1", 443, NET_WEB, NULL), VERDICT_DENY, "and no others");
	own();

	ok(take("allow net api.org GET,HEAD /v1/**\nallow net api.org POST /v1/chat"), "requests");
	eq(net("api.org", 443, NET_WEB, NULL), VERDICT_DENY + 10, "depends on the request");
	eq(net("api.org", 443, NET_WEB, "GET /v1/a/b"), VERDICT_ALLOW, "GET below");
	eq(net("api.org", 443, NET_WEB, "GET /v2/a"), VERDICT_DENY, "GET elsewhere");
	eq(net("api.org", 443, NET_WEB, "POST /v1/chat"), VERDICT_ALLOW, "POST there");
	eq(net("api.org", 443, NET_WEB, "POST /v1/chat/x"), VERDICT_DENY, "POST below");
	eq(net("api.org", 443, NET_WEB, "DELETE /v1/a"), VERDICT_DENY, "DELETE");
	ok(take("deny net api.org DELETE\nallow net api.org program=/usr/bin/git"), "programs");
	eq(net("api.org", 443, NET_WEB, NULL), VERDICT_DENY + 10, "of another program");
	ok(take("allow net api.org program=/usr/bin/*"), "a program");
	eq(net("api.org", 443, NET_WEB, NULL), VERDICT_ALLOW, "is the one");

	ok(take("allow net 10.1.0.0/16:5432 tcp\nallow net [2001:db8::]:53 udp\n"
		"allow net 0.0.0.0/0:* any\nallow net [::/0]:* any\nallow net 93.184.216.34"),
	   "addresses");
	eq(net("10.1.2.3", 5432, NET_TCP, NULL), VERDICT_ALLOW, "in a range");
	eq(net("::ffff:10.1.2.3", 5432, NET_TCP, NULL), VERDICT_ALLOW, "in its mapped form");
	eq(net("10.2.2.3", 5432, NET_TCP, NULL), VERDICT_DENY, "/0 is not all networks");
	eq(net("127.0.0.1", 80, NET_WEB, NULL), VERDICT_DENY, "nor this machine");
	eq(net("::1", 80, NET_WEB, NULL), VERDICT_DENY, "in both families");
	eq(net("8.8.8.8", 53, NET_UDP, NULL), VERDICT_ALLOW, "but the public ones");
	eq(net("2606:4700::1111", 53, NET_UDP, NULL), VERDICT_ALLOW, "of both families");
	eq(net("2001:db8::", 53, NET_UDP, NULL), VERDICT_ALLOW, "in brackets");
}

static int address(const char *text)
{
	struct ip a;

	return ip_parse(text, &a) ? (int)policy_address(&p, &a, 443, NET_WEB).verdict : -1;
}

static void addresses(void)
{
	static const char *const special[] = {
		"0.0.0.0", "10.255.255.255", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.1.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.1.1",
		"198.19.255.255", "224.0.0.1", "239.1.1.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::1", "2002:7f00:1::", "2002:0a00:0001::1", "2001:0:1:2:3:4:80ff:fffe",
		"2001:db8::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fec0::1", "ff02::1",
		"2600::5efe:127.0.0.1", "2600::200:5efe:10.0.0.1", "4000::1", "1::1", "100::1",
	};
	static const char *const usual[] = {
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.128.0.1", "126.1.1.1", "172.32.0.1",
		"192.167.1.1", "198.20.0.1", "223.255.255.255", "2606:4700::1", "2002:101:101::",
		"64:ff9b::1.1.1.1", "2a00:1450::1", "2600::5efe:1.1.1.1",
	};
	struct ip a;
	struct ip_range r;

	ok(take("allow net *:* any"), "open");
	for (unsigned i = 0; i < ARRAY_LEN(special); i++)
		eq(address(special[i]), VERDICT_DENY, special[i]);
	for (unsigned i = 0; i < ARRAY_LEN(usual); i++)
		eq(address(usual[i]), VERDICT_ALLOW, usual[i]);
	ok(take("allow net *:* any\nallow net 10.1.0.0/16\nallow net 169.254.0.0/16\n"
		"deny net 1.1.1.0/24:* any"), "with ranges");
	eq(address("10.1.9.9"), VERDICT_ALLOW, "listed");
	eq(address("10.2.9.9"), VERDICT_DENY, "not listed");
	eq(address("64:ff9b::10.1.9.9"), VERDICT_DENY, "listed in another form");
	eq(address("169.254.1.1"), VERDICT_ALLOW, "link-local");
	eq(address("169.254.169.254"), VERDICT_DENY, "is not metadata");
	eq(address("1.1.1.1"), VERDICT_DENY, "a range that is denied");
	eq(address("1.1.2.1"), VERDICT_ALLOW, "its neighbour");
	ok(take("allow net 169.254.169.254"), "by itself");
	eq(address("169.254.169.254"), VERDICT_ALLOW, "metadata");
	ok(!ip_parse("0177.0.0.1", &a) && !ip_parse("0x7f.1", &a) && !ip_parse("127.1", &a) &&
		   !ip_parse("2130706433", &a) && !ip_parse("1.2.3.4 ", &a) && !ip_parse("", &a),
	   "other ways to write an address");
	ok(!ip_range_parse("10.0.0.1/8", &r) && !ip_range_parse("10.0.0.0/33", &r) &&
		   !ip_range_parse("10.0.0.0/", &r) && !ip_range_parse("::/129", &r) &&
		   !ip_range_parse("10.0.0.0/-1", &r) && !ip_range_parse("10.0.0.0/0008", &r),
	   "ranges that are none");
}

static void files(void)
{
	static char own[] = "own";

	ok(take("deny files /etc/**\nallow files /etc/** read\nask files /srv/* write,delete"), "files");
	eq(policy_files(&p, "/home/x", FILES_ALL).verdict, VERDICT_ALLOW, "by default");
	eq(policy_files(&p, "/etc/passwd", FILES_READ).verdict, VERDICT_ALLOW, "read");
	eq(policy_files(&p, "/etc/passwd", FILES_READ | FILES_WRITE).verdict, VERDICT_DENY, "both");
	eq(policy_files(&p, "/srv/x", FILES_READ | FILES_WRITE).verdict, VERDICT_ASK, "ask");
	eq(policy_files(&p, "/srv/x/y", FILES_WRITE).verdict, VERDICT_ALLOW, "* is one level");
	ok(take("deny exec **/curl\ndeny env AWS_*\nallow env AWS_REGION"), "programs and variables");
	eq(policy_exec(&p, "/usr/bin/curl").verdict, VERDICT_DENY, "a program");
	eq(policy_exec(&p, "/usr/bin/curly").verdict, VERDICT_ALLOW, "another");
	eq(policy_env(&p, "AWS_SECRET").verdict, VERDICT_DENY, "a variable");
	eq(policy_env(&p, "AWS_REGION").verdict, VERDICT_ALLOW, "another");
	ok(take("ask tools pay\ndeny tools git\nallow tools git/read_*\ndeny tools own/*"), "tools");
	eq(policy_tools(&p, NULL, "pay").verdict, VERDICT_ASK, "a tool");
	eq(policy_tools(&p, NULL, "pay/now").verdict, VERDICT_ASK, "with all subcommands");
	eq(policy_tools(&p, NULL, "payment").verdict, VERDICT_DENY, "not another");
	eq(policy_tools(&p, NULL, "git/read_file").verdict, VERDICT_ALLOW, "a subcommand");
	eq(policy_tools(&p, NULL, "git/write_file").verdict, VERDICT_DENY, "another one");
	eq(policy_tools(&p, (char *[]){ own, NULL }, "own").verdict, VERDICT_ALLOW, "given");
	eq(policy_tools(&p, (char *[]){ own, NULL }, "own/x").verdict, VERDICT_DENY, "but denied");
	ok(!take("allow tools a/b\ndeny tools a"), "a rule that can never decide");
	ok(!take("allow tools a/b/c") && !take("allow tools /a") && !take("allow tools a/"),
	   "no names of tools");
}

static void globs(void)
{
	char *text = malloc(8192);

	ok(glob_match("/a/*", "/a/b") && !glob_match("/a/*", "/a/b/c") && glob_match("/a/*", "/a/"),
	   "one star");
	ok(glob_match("/a/**", "/a/b/c") && !glob_match("/a/**", "/a") && glob_match("/a**", "/a"),
	   "two");
	ok(glob_match("**/x", "/a/b/x") && !glob_match("**/x", "/a/b/xy") && glob_match("**", ""),
	   "at the front");
	ok(glob_match("/?b*d", "/abccd") && !glob_match("/?", "//"), "a question mark");
	ok(glob_match("*a*b*", "xxaxxb") && !glob_match("*a*b*", "xxbxxa"), "several");
	memset(text, 'a', 8190);
	text[8190] = '\0';
	ok(!glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text), "takes no time");
	free(text);
}

static void mistakes(void)
{
	refused("permit net a.org", "p:1:1", "unknown word 'permit'");
	refused("\n  allow", "p:2:3", "must be followed");
	refused("allow nett a.org", "p:1:7", "must be followed");
	refused("allow net", "p:1:7", "of what?");
	refused("allow net a.*.org", "p:1:11", "whole labels at the front");
	refused("allow net *a.org", "p:1:11", "whole labels");
	refused("allow net a..org", "p:1:11", "not a host name");
	refused("allow net -a.org", "p:1:11", "not a host name");
	refused("allow net 1.2.3", "p:1:11", "not a host name");
	refused("allow net 2130706433", "p:1:11", "not a host name");
	refused("allow net b\xc3\xbc" "cher.org", "p:1:11", "not a host name");
	refused("allow net https://a.org/x", "p:1:11", "is a URL");
	refused("allow net a.org:0", "p:1:17", "not a port");
	refused("allow net a.org:70000", "p:1:17", "not a port");
	refused("allow net a.org:9-8", "p:1:17", "not a port");
	refused("allow net a.org:", "p:1:17", "missing");
	refused("allow net a.org tcp", "p:1:11", "port is missing");
	refused("allow net 10.0.0.1/8", "p:1:11", "not an address or a range");
	refused("allow net [10.0.0.1]:80", "p:1:12", "not an IPv6");
	refused("allow net fd00::1::2:443", "p:1:11", "not an address or a range");
	refused("allow net a.org:443 udp GET", "p:1:11", "web requests");
	refused("allow net a.org get", "p:1:17", "unknown word 'get'");
	refused("allow net a.org /x[a]", "p:1:17", "not supported");
	refused("allow net a.org /x /y", "p:1:20", "twice");
	refused("allow files etc", "p:1:13", "not an absolute path");
	refused("allow files /etc reading", "p:1:18", "unknown access");
	refused("allow exec /a /b", "p:1:15", "unexpected word");
	refused("allow env A=B", "p:1:11", "not the name");
	refused("use nothing", "p:1:5", "no preset");
	refused("allow net a.org\ndeny net *", "p:1:1", "can never decide");
	ok(take("allow net a.org:22 tcp\nallow net a.org:53 udp\nallow net a.org") &&
		   policy_name(&p, "a.org").verdict == VERDICT_ALLOW &&
		   policy_name(&p, "b.org").verdict == VERDICT_DENY,
	   "names that are worth a question");
	ok(take("allow net *:* any\ndeny net a.org\ndeny net b.org:22") &&
		   net("a.org", 22, NET_TCP, NULL) == VERDICT_DENY &&
		   net("a.org", 53, NET_UDP, NULL) == VERDICT_DENY &&
		   net("b.org", 22, NET_TCP, NULL) == VERDICT_DENY &&
		   net("b.org", 23, NET_TCP, NULL) == VERDICT_ALLOW &&
		   policy_name(&p, "a.org").verdict == VERDICT_DENY &&
		   policy_name(&p, "b.org").verdict == VERDICT_ALLOW,
	   "what is denied is denied in every way");
	refused("deny net a.org GET\nallow net a.org", "p:1:1", "can never decide");
	refused("deny files /a/b\nallow files /a/**", "p:1:1", "can never decide");
	refused("allow net 10.0.0.0/16\ndeny net 10.0.0.0/8", "p:1:1", "can never decide");
	ok(take("use packages\nuse git\ndeny net *"), "a preset may be taken back");
	ok(take("allow net a.org\nallow net a.org:8080\nallow net b.org\ndeny net b.org POST"),
	   "these all count");
}

/* What is printed is read again as the same. */
static void printed(void)
{
	static const char *const lines[] = {
		"allow net example.org",
		"ask net *.example.org:22,8000-8080 tcp",
		"deny net *",
		"deny net *:443,80 web",
		"deny net a.org:25 tcp",
		"deny net a.org POST /x",
		"allow net *:* any",
		"allow net 10.0.0.0/8:5432 tcp program=/usr/bin/psql",
		"allow net [fd00::/8]:53 udp",
		"allow net fd00::1",
		"allow net a.org tls=any",
		"allow net *.a.org dns=MX,TXT",
		"allow net a.org GET,POST /v1/**",
		"deny files /etc/** write,create",
		"allow files /tmp/**",
		"deny exec **/sudo",
		"deny env AWS_*",
		"ask tools git/read_*",
	};

	for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
		struct buf b = { 0 };

		if (take(lines[i]))
			rule_print(policy_rule(&p, 0), &b);
		if (!ok(b.p && !strcmp((char *)b.p, lines[i]), lines[i]))
			printf("# %s\n", b.p ? (char *)b.p : err_line(&e).str);
		buf_free(&b);
	}
	for (unsigned i = 0; preset_name(i); i++) {
		char line[64];

		snprintf(line, sizeof(line), "use %s", preset_name(i));
		ok(take(line), line);
	}
}

int main(void)
{
	policy_init(&p);
	nets();
	addresses();
	files();
	globs();
	mistakes();
	printed();
	policy_fini(&p);
	return tap_end();
}
