/* What a cell may do: an ordered list of rules, the last one that matches decides.
 *
 * A rule is one line of text, the same in a policy file, in vivarium.yaml, on the command line and
 * in the API (docs/policy.md has the grammar):
 *
 *	allow net api.github.com GET,HEAD
 *	deny files /etc/passwd write,create,delete
 *	use packages
 *
 * "within" begins a new layer: what is allowed must be allowed by every layer, and the strictest
 * answer counts (layers.c). So the rights of a sub-cell are those of its parent, "within", its own.
 *
 * Every text here may be wrong and some of it hostile: sizes are bounded, and an error names file,
 * line and column. The functions that decide allocate nothing and take time in proportion to the
 * rules. */
#ifndef VIV_POLICY_POLICY_H
#define VIV_POLICY_POLICY_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/address.h"
#include "policy/compiled.h"

#define POLICY_MAX_TEXT (1u << 20)
#define POLICY_MAX_LINE 4096
#define POLICY_MAX_PORTS 16 /* ranges in a rule */
#define POLICY_MAX_METHODS 16

/* The protocols that a net rule is about. WEB: TLS with the name as its server name, or plain HTTP
 * with the name as its host. */
#define NET_WEB 1u
#define NET_TCP 2u
#define NET_UDP 4u
#define NET_ALL 7u

enum dest_kind {
	DEST_ANY, /* "*": every name, and every address that is public */
	DEST_NAME, /* "example.org" */
	DEST_BELOW, /* "*.example.org": every name below it, not itself */
	DEST_RANGE, /* an address or a range of addresses */
};

struct port_range {
	uint16_t from, to;
};

struct net_rule {
	enum dest_kind kind;
	char *name; /* NAME, BELOW: in lower case, without a final dot */
	struct ip_range range;
	struct port_range ports[POLICY_MAX_PORTS];
	unsigned nports;
	unsigned protocols; /* NET_ */
	bool tls_any; /* no server name is asked for */
	unsigned dns; /* records that may be asked for, as dns_type_bit() has them */
	char *methods[POLICY_MAX_METHODS];
	unsigned nmethods; /* 0: all */
	char *path; /* glob; NULL: all */
	char *program; /* glob; NULL: all */
};

struct rule {
	enum verdict verdict;
	bool audit; /* of an ALLOW of net: without this rule it would be denied, and it is recorded
		     */
	enum scope scope;
	const char *from; /* a file, an option, a preset; lives as long as the policy */
	unsigned line, column; /* from 1; 0: it has none */
	struct net_rule net;
	char *glob; /* of FILES, EXEC, ENV, TOOLS and CELLS */
	unsigned access; /* of FILES */
	unsigned max, depth; /* of CELLS; 0: no bound */
	unsigned layer; /* from 0 */
};

struct policy {
	struct buf rules; /* of struct rule */
	struct buf names; /* of char *: what rules' from points to */
	struct buf lines; /* of char *: what was given, with "use PRESET" as it stands */
	unsigned nmarks;
	unsigned marks[POLICY_MAX_LAYERS - 1]; /* how many rules there were before each "within" */
	unsigned inherits; /* a bit for each layer that begins with "use parent" */
};

void policy_init(struct policy *p);
void policy_fini(struct policy *p);
static inline unsigned policy_count(const struct policy *p)
{
	return (unsigned)BUF_COUNT(&p->rules, struct rule);
}
static inline struct rule *policy_rule(const struct policy *p, unsigned i)
{
	return BUF_ITEM(&p->rules, struct rule, i);
}

static inline unsigned policy_nlines(const struct policy *p)
{
	return (unsigned)BUF_COUNT(&p->lines, char *);
}
static inline const char *policy_line(const struct policy *p, unsigned i)
{
	return *BUF_ITEM(&p->lines, char *, i);
}

/* ---- layers (layers.c) ---- */

/* The rules from first to end - 1. */
struct layer {
	unsigned first, end;
	bool inherits; /* what no rule of it matches is left to the layers before it */
};

static inline unsigned policy_layers(const struct policy *p)
{
	return p->nmarks + 1;
}
struct layer policy_layer(const struct policy *p, unsigned i);
/* Begins a new one; false: there are too many. */
bool must_check policy_layer_begin(struct policy *p);
/* The current one inherits; false: it has rules already. */
bool must_check policy_layer_inherit(struct policy *p);
/* How strict is it? Deny beats ask beats allow. */
int verdict_rank(enum verdict v);

/* The rules of a sub-cell: those of its parent, "within", and its own, which cannot have layers
 * themselves. tools: what the parent was given without a rule, may be NULL. Returns the caller's
 * list with its texts; NULL: an error. */
char **policy_within(char *const *parent, char *const *tools, char *const *own, struct err *e);
/* Of such a list, where the sub-cell's own begin. */
char *const *policy_own(char *const *rules);

/* ---- reading (parse.c) ---- */

/* Adds the rules of a text. from: what errors call it; line, column: where it begins there. */
int must_check policy_parse(struct policy *p, const char *text, size_t n, const char *from,
			    unsigned line, unsigned column, struct err *e);
/* The same with a file, which is read once; not a link, not larger than POLICY_MAX_TEXT. */
int must_check policy_read(struct policy *p, const char *path, struct err *e);
/* Fails if a rule can never decide, because a later one matches whatever it does (cover.c). */
int must_check policy_check(const struct policy *p, struct err *e);
/* The same; returns that rule, or NULL. */
const struct rule *policy_dead(const struct policy *p, struct err *e);
/* Does a match whatever b does? */
bool rule_covers(const struct rule *a, const struct rule *b);
/* Adds a list of rules, one in each text, and checks all of it. from: what errors call the list;
 * ret_at (may be NULL): the number of the wrong one, from 0 on. */
int must_check policy_words(struct policy *p, char *const *rules, const char *from,
			    unsigned *ret_at, struct err *e);
/* Has each layer a rule about the network? Without one a cell has none. */
bool policy_has_net(const struct policy *p);

/* Rules by name (presets.c); NULL: there is none. */
const char *preset_find(const char *name);
/* The names one after the other; NULL: that was the last. */
const char *preset_name(unsigned i);

/* ---- printing (print.c) ---- */

/* The lines as one text. */
void policy_text(const struct policy *p, struct buf *to);
/* A rule as a line of text, in its shortest form. */
void rule_print(const struct rule *r, struct buf *to);
const char *verdict_name(enum verdict v);

/* ---- deciding (decide.c) ---- */

struct decision {
	enum verdict verdict;
	const struct rule *rule; /* of the layer that decided; NULL: no rule matched */
	/* net, before a request is known: it depends on the request, which has to be looked at */
	bool opened;
	/* net, of what is allowed: some layer records it; every layer does not ask for a server
	 * name; every layer does not, or does no more than record */
	bool audit, tls_any, unchecked;
};

struct net_question {
	const char *name; /* in lower case; NULL: a plain address */
	const struct ip *addr; /* of a plain address */
	uint16_t port;
	unsigned protocol; /* one NET_ */
	const char *program; /* "": not known */
	const char *method, *path; /* of a request; NULL: not known yet */
};

/* Has it a rule about requests? Connections are opened for such rules. */
bool policy_opens(const struct policy *p);
struct decision policy_net(const struct policy *p, const struct net_question *q);
/* Do both say the same to every request of this connection? */
bool policy_same(const struct policy *a, const struct policy *b, const struct net_question *q);
/* Is there anything that may be done with a name? Only such names are looked up. */
struct decision policy_name(const struct policy *p, const char *name);
/* May records of this type of a name be asked for? Some rule says so, and none after it denies the
 * whole name. For types other than those of addresses. */
struct decision policy_dns(const struct policy *p, const char *name, uint16_t type);
/* May a name lead to this address? Addresses that are not public need a rule that lists them; a
 * rule that denies a range counts for names as well. port 0: any. */
struct decision policy_address(const struct policy *p, const struct ip *a, uint16_t port,
			       unsigned protocol);
/* The bits of a list such as "read,write"; 0: it is wrong. */
unsigned files_access(const char *list);
/* access: one or several FILES_; every one of them must be allowed. */
struct decision policy_files(const struct policy *p, const char *path, unsigned access);
struct decision policy_exec(const struct policy *p, const char *path);
struct decision policy_env(const struct policy *p, const char *name);

/* A call of a tool, "NAME" or "NAME/SUBCOMMAND". A rule without a '/' is about all subcommands.
 * given: names that the cell has without a rule, NULL-terminated, may be NULL; they come before all
 * rules. */
struct decision policy_tools(const struct policy *p, char *const *given, const char *call);
/* Could a rule allow any tool? */
bool policy_has_tools(const struct policy *p);
/* Could any call of this tool be allowed? */
bool policy_has_tool(const struct policy *p, char *const *given, const char *name);

/* A cell wants a cell below it. */
struct cells_question {
	const char *image; /* its name, or "host" */
	unsigned count; /* how many cells there are below the one whose policy is asked */
	unsigned depth; /* of the new one below it: 1 for a child */
};

/* max= and depth= count from the cell that has the policy, so every ancestor's policy is to be
 * asked with its own counts. The image "host" is only meant by rules that name it. */
struct decision policy_cells(const struct policy *p, const struct cells_question *q);
/* Is a rule of CELLS about this image? */
bool rule_means_image(const struct rule *r, const char *image);
/* Could a rule allow any cell? */
bool policy_may_have_cells(const struct policy *p);

/* ---- for the kernel (compile.c) ---- */

/* Adds the compiled form (compiled.h) of the rules that a cell's kernel decides by: how many there
 * are. */
unsigned policy_compile(const struct policy *p, struct buf *to);

/* ---- types of records (dnstypes.c) ---- */

/* "MX,TXT"; 0: it has an unknown or a repeated one. */
unsigned dns_types_parse(const char *list);
unsigned dns_type_bit(uint16_t type); /* 0: no rule can allow it */
void dns_types_print(unsigned bits, struct buf *to);

#endif
