/* Rules from text (print.c turns them back into it). A line has words; a word knows its column, so
 * that an error can point at it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/policy.h"
#include "policy/words.h"

#define MAX_WORDS 64
#define MAX_DEPTH 4 /* of presets that use others */
#define MAX_NAME 253
#define MAX_LABEL 63

/* A line that is being read. */
struct line {
	struct policy *p;
	const char *from;
	unsigned number, column; /* where its text begins */
	char text[POLICY_MAX_LINE];
	char *words[MAX_WORDS];
	unsigned n;
	unsigned depth;
};

void policy_init(struct policy *p)
{
	*p = (struct policy){ 0 };
}

static void rule_fini(struct rule *r)
{
	free(r->net.name);
	free(r->net.path);
	free(r->net.program);
	for (unsigned i = 0; i < r->net.nmethods; i++)
		free(r->net.methods[i]);
	free(r->glob);
}

void policy_fini(struct policy *p)
{
	for (unsigned i = 0; i < policy_count(p); i++)
		rule_fini(policy_rule(p, i));
	for (size_t i = 0; i < BUF_COUNT(&p->names, char *); i++)
		free(*BUF_ITEM(&p->names, char *, i));
	for (size_t i = 0; i < BUF_COUNT(&p->lines, char *); i++)
		free(*BUF_ITEM(&p->lines, char *, i));
	buf_free(&p->rules);
	buf_free(&p->names);
	buf_free(&p->lines);
}

/* ---- errors ---- */

/* At a place in the line's text. */
static int wrong(const struct line *l, const char *at, struct err *e, const char *fmt, ...)
	printf_like(4, 5);
static int wrong(const struct line *l, const char *at, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_note_va(e, ERR_INVALID_FILE, fmt, ap);
	va_end(ap);
	if (l->number)
		return err_wrap(e, "%s:%u:%u", l->from, l->number,
				l->column + (unsigned)(at - l->text));
	return err_wrap(e, "%s", l->from);
}

/* ---- words ---- */

static int words_split(struct line *l, const char *text, size_t n, struct err *e)
{
	char *s = l->text;

	l->n = 0;
	if (n >= sizeof(l->text)) {
		l->text[0] = '\0';
		return wrong(l, l->text, e, "the line is longer than %u bytes",
			     (unsigned)sizeof(l->text) - 1);
	}
	memcpy(l->text, text, n);
	l->text[n] = '\0';
	if (strlen(l->text) != n)
		return wrong(l, l->text + strlen(l->text), e, "a NUL byte");
	for (;;) {
		s += strspn(s, " \t\r");
		if (!*s || *s == '#')
			break;
		if (l->n == MAX_WORDS)
			return wrong(l, s, e, "the rule has more than %u words", MAX_WORDS);
		l->words[l->n++] = s;
		s += strcspn(s, " \t\r");
		if (!*s)
			break;
		*s++ = '\0';
	}
	return 0;
}

static int glob_take(const struct line *l, char *word, char **ret, struct err *e)
{
	const char *what = glob_wrong(word);

	if (what)
		return wrong(l, word, e, "the pattern '%s' cannot be used: %s", word, what);
	*ret = xstrndup(word, strlen(word));
	return 0;
}

/* ---- destinations ---- */

static bool is_name(const char *s)
{
	size_t label = 0, n = strlen(s);
	bool letter = false;

	if (!n || n > MAX_NAME)
		return false;
	for (const char *c = s; *c; c++) {
		if (*c == '.') {
			if (!label || c[-1] == '-')
				return false;
			label = 0;
			continue;
		}
		if (!(isalnum((unsigned char)*c) || *c == '_' || (*c == '-' && label)) ||
		    ++label > MAX_LABEL)
			return false;
		letter |= isalpha((unsigned char)*c) != 0;
	}
	/* Only numbers: some programs would take it for an address. */
	return letter && label && s[n - 1] != '-';
}

static int ports_take(const struct line *l, struct net_rule *r, char *text, struct err *e)
{
	char *save = NULL;

	if (!strcmp(text, "*")) {
		r->ports[r->nports++] = (struct port_range){ 0, UINT16_MAX };
		return 0;
	}
	for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		char *end = one;
		unsigned long from = isdigit((unsigned char)*one) ? strtoul(one, &end, 10) : 0;
		unsigned long to = from;

		if (*end == '-' && isdigit((unsigned char)end[1]))
			to = strtoul(end + 1, &end, 10);
		if (*end || !from || from > to || to > UINT16_MAX)
			return wrong(l, one, e,
				     "'%s' is not a port" REMEDY
				     "write a number from 1 to 65535, a "
				     "range such as 8000-8080, several with commas, or *",
				     one);
		if (r->nports == POLICY_MAX_PORTS)
			return wrong(l, one, e, "more than %u ports; use a range",
				     POLICY_MAX_PORTS);
		r->ports[r->nports++] = (struct port_range){ (uint16_t)from, (uint16_t)to };
	}
	return r->nports ? 0 : wrong(l, text, e, "the port is missing after ':'");
}

/* Where the ports begin: behind the last ':' that is not within an IPv6 address. */
static char *ports_find(char *word)
{
	char *colon;

	if (*word == '[') {
		char *end = strchr(word, ']');

		return end && end[1] == ':' ? end + 1 : NULL;
	}
	colon = strchr(word, ':');
	return colon && !strchr(colon + 1, ':') ? colon : NULL;
}

static int dest_take(const struct line *l, struct net_rule *r, char *word, struct err *e)
{
	char *colon = ports_find(word), *host = word;
	size_t n;

	if (strstr(word, "://"))
		return wrong(l, word, e,
			     "'%s' is a URL" REMEDY "write HOST[:PORTS], and a path as a word of "
			     "its own",
			     word);
	if (colon) {
		*colon = '\0';
		if (ports_take(l, r, colon + 1, e) < 0)
			return -1;
	}
	n = strlen(host);
	if (host[0] == '[' && n > 2 && host[n - 1] == ']') {
		host[n - 1] = '\0';
		host++;
		if (!strchr(host, ':'))
			return wrong(l, host, e, "'[%s]' is not an IPv6 address", host);
	}
	if (!strcmp(host, "*")) {
		r->kind = DEST_ANY;
		return 0;
	}
	if (ip_range_parse(host, &r->range)) {
		r->kind = DEST_RANGE;
		return 0;
	}
	if (strchr(host, '/') || strchr(host, ':'))
		return wrong(l, word, e, "'%s' is not an address or a range of them" REMEDY "%s",
			     host,
			     strchr(host, ':')
				     ? "an IPv6 address with a port is written [ADDRESS]:PORT"
				     : "write ADDRESS/PREFIX without bits behind the prefix, for "
				       "example 10.0.0.0/8");
	r->kind = DEST_NAME;
	if (host[0] == '*' && host[1] == '.') {
		r->kind = DEST_BELOW;
		host += 2;
	}
	n = strlen(host);
	if (n > 1 && host[n - 1] == '.')
		host[n - 1] = '\0';
	if (strchr(host, '*') || strchr(host, '?'))
		return wrong(l, host, e,
			     "'%s': a '*' can only stand for whole labels at the front" REMEDY
			     "write *.example.org",
			     host);
	if (!is_name(host))
		return wrong(l, host, e,
			     "'%s' is not a host name" REMEDY
			     "names with other letters are written "
			     "in their xn-- form",
			     host);
	r->name = xstrndup(host, strlen(host));
	for (char *c = r->name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return 0;
}

/* ---- net ---- */

static bool is_methods(const char *s)
{
	return *s && s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-,")] == '\0';
}

static int methods_take(const struct line *l, struct net_rule *r, char *word, struct err *e)
{
	char *save = NULL;

	if (r->nmethods)
		return wrong(l, word, e, "methods are given twice");
	for (char *one = strtok_r(word, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (r->nmethods == POLICY_MAX_METHODS || strlen(one) > 32)
			return wrong(l, one, e, "too many methods, or one that is too long");
		r->methods[r->nmethods++] = xstrndup(one, strlen(one));
	}
	return r->nmethods ? 0 : wrong(l, word, e, "'%s' is not a list of methods", word);
}

static int net_word(const struct line *l, struct net_rule *r, char *word, struct err *e)
{
	for (unsigned i = 0; i < ARRAY_LEN(protocol_names); i++) {
		if (strcmp(word, protocol_names[i].name))
			continue;
		if (r->protocols)
			return wrong(l, word, e, "the protocol is given twice");
		r->protocols = protocol_names[i].bits;
		return 0;
	}
	if (!strcmp(word, "tls=any")) {
		r->tls_any = true;
		return 0;
	}
	if (!strncmp(word, "dns=", 4)) {
		if (r->dns)
			return wrong(l, word, e, "the types of DNS records are given twice");
		r->dns = dns_types_parse(word + 4);
		return r->dns ? 0
			      : wrong(l, word + 4, e,
				      "'%s' is not a list of types of DNS records" REMEDY
				      "write some of CAA,MX,NS,SOA,SRV,SSHFP,TLSA,TXT",
				      word + 4);
	}
	if (!strncmp(word, "program=", 8)) {
		if (r->program)
			return wrong(l, word, e, "the program is given twice");
		if (word[8] != '/' && word[8] != '*')
			return wrong(l, word + 8, e,
				     "'%s' is not the path of a program" REMEDY
				     "write, for example, "
				     "program=/usr/bin/git",
				     word + 8);
		return glob_take(l, word + 8, &r->program, e);
	}
	if (*word == '/') {
		if (r->path)
			return wrong(l, word, e, "the path is given twice");
		return glob_take(l, word, &r->path, e);
	}
	if (is_methods(word))
		return methods_take(l, r, word, e);
	return wrong(l, word, e,
		     "unknown word '%s' in a net rule" REMEDY
		     "after HOST[:PORTS] may come web, tcp, "
		     "udp or any, tls=any, dns=TYPES, methods (GET,POST), a path (/api/**), "
		     "program=PATH",
		     word);
}

static int net_take(struct line *l, struct rule *r, struct err *e)
{
	struct net_rule *net = &r->net;

	if (dest_take(l, net, l->words[2], e) < 0)
		return -1;
	for (unsigned i = 3; i < l->n; i++)
		if (net_word(l, net, l->words[i], e) < 0)
			return -1;
	if ((net->nmethods || net->path) && (net->protocols & ~NET_WEB))
		return wrong(l, l->words[2], e,
			     "methods and paths are those of web requests" REMEDY "leave the "
			     "protocol out, or write web");
	if ((net->nmethods || net->path) && net->tls_any)
		return wrong(l, l->words[2], e, "methods and paths cannot be checked with tls=any");
	if ((net->nmethods || net->path) && net->kind == DEST_RANGE)
		return wrong(l, l->words[2], e,
			     "methods and paths need the name of a host, not an address");
	if (net->dns && (r->verdict != VERDICT_ALLOW || net->kind == DEST_RANGE))
		return wrong(l, l->words[2], e, "dns= is for rules that allow a name");
	/* What is denied is denied whatever way it is tried. */
	if (r->verdict == VERDICT_DENY && !net->nmethods && !net->path) {
		if (!net->nports)
			net->ports[net->nports++] = (struct port_range){ 0, UINT16_MAX };
		if (!net->protocols)
			net->protocols = NET_ALL;
	}
	if (!net->nports) {
		if (net->protocols & ~NET_WEB)
			return wrong(l, l->words[2], e,
				     "the port is missing" REMEDY "write HOST:PORT, or HOST:* for "
				     "all of them");
		net->ports[net->nports++] = (struct port_range){ 443, 443 };
		net->ports[net->nports++] = (struct port_range){ 80, 80 };
	}
	if (!net->protocols)
		net->protocols = NET_WEB;
	return 0;
}

/* ---- files, exec, env, tools ---- */

unsigned files_access(const char *list)
{
	unsigned access = 0;

	for (;;) {
		size_t n = strcspn(list, ",");
		unsigned i = 0;

		while (i < ARRAY_LEN(access_names) && (strlen(access_names[i].name) != n ||
						       memcmp(list, access_names[i].name, n) != 0))
			i++;
		if (i == ARRAY_LEN(access_names))
			return 0;
		access |= access_names[i].bits;
		if (!list[n])
			return access;
		list += n + 1;
	}
}

static int access_take(const struct line *l, struct rule *r, char *word, struct err *e)
{
	r->access = files_access(word);
	return r->access ? 0
			 : wrong(l, word, e,
				 "unknown access '%s'" REMEDY
				 "known are read, write, create and delete, several with commas",
				 word);
}

/* TOOL, or TOOL/SUBCOMMAND. */
static bool is_tool(const char *s)
{
	const char *slash = strchr(s, '/');

	return *s && *s != '/' && (!slash || (slash[1] && !strchr(slash + 1, '/')));
}

/* max=N, depth=N. */
static int bounds_take(const struct line *l, struct rule *r, struct err *e)
{
	for (unsigned i = 3; i < l->n; i++) {
		char *word = l->words[i], *value = strchr(word, '=');
		bool depth = !strncmp(word, "depth=", 6);
		unsigned *bound = depth ? &r->depth : &r->max;
		uint32_t n;

		if (!depth && strncmp(word, "max=", 4))
			return wrong(l, word, e,
				     "unknown word '%s' in a cells rule" REMEDY
				     "after IMAGE may come max=N and depth=N",
				     word);
		if (*bound || r->verdict == VERDICT_DENY)
			return wrong(l, word, e,
				     *bound ? "'%.*s' is given twice"
					    : "'%.*s' is for rules that do not deny",
				     (int)(value - word), word);
		n = (uint32_t)strspn(value + 1, "0123456789");
		*bound = n && n <= 5 && !value[1 + n] ? (unsigned)strtoul(value + 1, NULL, 10) : 0;
		if (!*bound)
			return wrong(l, value + 1, e, "'%s' is not a number from 1 to 99999",
				     value + 1);
	}
	return 0;
}

/* IMAGE [max=N] [depth=N]. Names of images have '/' in them, which "*" alone is to match. */
static int cells_take(struct line *l, struct rule *r, struct err *e)
{
	char *word = l->words[2], all[] = "**";

	if (glob_take(l, strcmp(word, "*") ? word : all, &r->glob, e) < 0)
		return -1;
	return bounds_take(l, r, e);
}

static int glob_rule_take(struct line *l, struct rule *r, struct err *e)
{
	char *word = l->words[2];
	unsigned last = r->scope == SCOPE_FILES ? 4 : 3;

	if (l->n > last)
		return wrong(l, l->words[last], e, "unexpected word '%s'", l->words[last]);
	if (r->scope == SCOPE_TOOLS && !is_tool(word))
		return wrong(l, word, e,
			     "'%s' is not the name of a tool" REMEDY
			     "write TOOL or TOOL/SUBCOMMAND, with * for any",
			     word);
	if (r->scope != SCOPE_ENV && r->scope != SCOPE_TOOLS && *word != '/' &&
	    strncmp(word, "**", 2))
		return wrong(l, word, e,
			     "'%s' is not an absolute path" REMEDY "begin it with / or **", word);
	if (r->scope == SCOPE_ENV && r->verdict == VERDICT_ASK)
		return wrong(l, l->words[0], e,
			     "nobody can be asked about variables" REMEDY "write allow or deny");
	if (r->scope == SCOPE_ENV && (strchr(word, '/') || strchr(word, '=')))
		return wrong(l, word, e, "'%s' is not the name of a variable", word);
	if (glob_take(l, word, &r->glob, e) < 0)
		return -1;
	if (r->scope == SCOPE_FILES && l->n == 4)
		return access_take(l, r, l->words[3], e);
	r->access = r->scope == SCOPE_FILES ? FILES_ALL : 0;
	return 0;
}

/* ---- lines ---- */

static int text_parse(struct policy *p, const char *text, size_t n, const char *from, unsigned line,
		      unsigned column, unsigned depth, struct err *e);

static int use_take(struct line *l, struct err *e)
{
	char name[64];
	const char *text;
	char *from;

	if (l->n != 2)
		return wrong(l, l->words[0], e,
			     "'use' takes one name" REMEDY "write: use packages");
	text = preset_find(l->words[1]);
	if (!text)
		return wrong(l, l->words[1], e,
			     "there is no preset '%s'" REMEDY "'viv policy presets' lists them",
			     l->words[1]);
	if (l->depth == MAX_DEPTH)
		return wrong(l, l->words[1], e, "presets use each other too deeply");
	if (!strcmp(l->words[1], "parent") && !policy_layer_inherit(l->p))
		return wrong(
			l, l->words[0], e,
			"'use parent' matches everything, so no rule before it can decide" REMEDY
			"put it first");
	snprintf(name, sizeof(name), "preset %s", l->words[1]);
	from = xstrndup(name, strlen(name));
	buf_add(&l->p->names, &from, sizeof(from));
	return text_parse(l->p, text, strlen(text), from, 1, 1, l->depth + 1, e);
}

static int within_take(struct line *l, struct err *e)
{
	if (l->n != 1)
		return wrong(l, l->words[1], e, "unexpected word '%s' after 'within'", l->words[1]);
	return policy_layer_begin(l->p) ? 0
					: wrong(l, l->words[0], e, "more than %u layers of rules",
						POLICY_MAX_LAYERS);
}

static int index_of(const char *word, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(word, names[i]))
			return (int)i;
	return -1;
}

static int rule_take(struct line *l, struct err *e)
{
	struct rule r = {
		.from = l->from, .line = l->number, .column = l->column, .layer = l->p->nmarks
	};
	int verdict = index_of(l->words[0], verdict_names, ARRAY_LEN(verdict_names)), scope;

	r.audit = !strcmp(l->words[0], "audit");
	if (r.audit)
		verdict = VERDICT_ALLOW;
	if (verdict < 0)
		return wrong(l, l->words[0], e,
			     "unknown word '%s'" REMEDY
			     "a line begins with allow, deny, ask, audit, use or within",
			     l->words[0]);
	if (l->n < 2 || (scope = index_of(l->words[1], scope_names, ARRAY_LEN(scope_names))) < 0)
		return wrong(l, l->words[l->n < 2 ? 0 : 1], e,
			     "'%s' must be followed by what it is about" REMEDY "net, files, exec, "
			     "env, tools or cells",
			     l->words[0]);
	if (r.audit && scope != SCOPE_NET)
		return wrong(l, l->words[1], e, "only net can be audited");
	if (l->n < 3)
		return wrong(l, l->words[1], e, "'%s %s' of what?" REMEDY "%s", l->words[0],
			     l->words[1],
			     scope == SCOPE_NET	    ? "write HOST[:PORTS] behind it"
			     : scope == SCOPE_ENV   ? "write the name of a variable behind it"
			     : scope == SCOPE_TOOLS ? "write TOOL or TOOL/SUBCOMMAND behind it"
			     : scope == SCOPE_CELLS ? "write the name of an image behind it, or *"
						    : "write a path behind it");
	if (policy_count(l->p) == POLICY_MAX_RULES)
		return wrong(l, l->words[0], e, "more than %u rules", POLICY_MAX_RULES);
	r.verdict = (enum verdict)verdict;
	r.scope = (enum scope)scope;
	r.column += (unsigned)(l->words[0] - l->text);
	if ((r.scope == SCOPE_NET     ? net_take(l, &r, e)
	     : r.scope == SCOPE_CELLS ? cells_take(l, &r, e)
				      : glob_rule_take(l, &r, e)) < 0) {
		rule_fini(&r);
		return -1;
	}
	buf_add(&l->p->rules, &r, sizeof(r));
	return 0;
}

/* The line that was taken, in its shortest form. */
static void line_keep(const struct line *l)
{
	struct buf text = { 0 };
	char *copy;

	if (!strcmp(l->words[0], "use")) {
		buf_add_text(&text, "use ");
		buf_add_text(&text, l->words[1]);
	} else if (!strcmp(l->words[0], "within")) {
		buf_add_text(&text, "within");
	} else {
		rule_print(policy_rule(l->p, policy_count(l->p) - 1), &text);
	}
	copy = xstrndup((const char *)text.p, text.len);
	buf_add(&l->p->lines, &copy, sizeof(copy));
	buf_free(&text);
}

static int line_take(struct line *l, struct err *e)
{
	return !strcmp(l->words[0], "use")	? use_take(l, e)
	       : !strcmp(l->words[0], "within") ? within_take(l, e)
						: rule_take(l, e);
}

static int text_parse(struct policy *p, const char *text, size_t n, const char *from, unsigned line,
		      unsigned column, unsigned depth, struct err *e)
{
	struct line l = { .p = p, .from = from, .number = line, .column = column, .depth = depth };

	if (n > POLICY_MAX_TEXT)
		return err_set(e, ERR_INVALID_FILE, "%s: larger than %u bytes", from,
			       POLICY_MAX_TEXT);
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;

		if (words_split(&l, text, len, e) < 0)
			return -1;
		if (l.n && line_take(&l, e) < 0)
			return -1;
		if (l.n && !depth)
			line_keep(&l);
		text += len + (end != NULL);
		n -= len + (end != NULL);
		if (l.number)
			l.number++;
		l.column = 1;
	}
	return 0;
}

int policy_parse(struct policy *p, const char *text, size_t n, const char *from, unsigned line,
		 unsigned column, struct err *e)
{
	char *copy = xstrndup(from, strlen(from));

	buf_add(&p->names, &copy, sizeof(copy));
	return text_parse(p, text, n, copy, line, column, 0, e);
}

int policy_words(struct policy *p, char *const *rules, const char *from, unsigned *ret_at,
		 struct err *e)
{
	const struct rule *dead;
	unsigned at = 0;

	for (; rules && rules[at]; at++) {
		const char *text = rules[at];
		int bad = strchr(text, '\n')
				  ? err_set(e, ERR_INVALID_FILE,
					    "%s:%u: a line break within a rule", from, at + 1)
				  : policy_parse(p, text, strlen(text), from, at + 1, 1, e);

		if (ret_at)
			*ret_at = at;
		if (bad)
			return -1;
	}
	dead = policy_dead(p, e);
	if (dead && ret_at)
		*ret_at = dead->line - 1;
	return dead ? -1 : 0;
}

bool policy_has_net(const struct policy *p)
{
	for (unsigned i = 0; i < policy_layers(p); i++) {
		const struct layer l = policy_layer(p, i);
		bool found = l.inherits;

		for (unsigned k = l.first; k < l.end && !found; k++)
			found = policy_rule(p, k)->scope == SCOPE_NET;
		if (!found)
			return false;
	}
	return true;
}

static bool file_differs(const struct stat *a, const struct stat *b)
{
	return a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec || a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
	       a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

int policy_read(struct policy *p, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct buf text = { 0 };
	struct stat st, now;
	ssize_t got = 1;
	int ret;

	if (fd < 0)
		return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       errno == ELOOP ? "cannot read the policy '%s': it is a symbolic link"
					      : "cannot read the policy '%s': %m",
			       path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ERR_INVALID_FILE,
			       "cannot read the policy '%s': not a regular file", path);
	}
	while (got > 0 && text.len <= POLICY_MAX_TEXT) {
		size_t len = text.len;

		got = read(fd, buf_more(&text, 65536), 65536);
		text.len = len + (got > 0 ? (size_t)got : 0);
	}
	if (got < 0)
		ret = err_set(e, ERR_FAILED, "cannot read the policy '%s': %m", path);
	else if (fstat(fd, &now) < 0 || file_differs(&st, &now))
		ret = err_set(e, ERR_FAILED,
			      "the policy '%s' was changed while it was read" REMEDY "try again",
			      path);
	else
		ret = policy_parse(p, (const char *)text.p, text.len, path, 1, 1, e);
	close(fd);
	buf_free(&text);
	return ret;
}
