/* Records as events of the Open Cybersecurity Schema Framework, version 1.3: files are File System
 * Activity (1001), programs Process Activity (1007), connections Network Activity (4001), requests
 * HTTP Activity (4002), names DNS Activity (4003), and what operators, agents and policies do API
 * Activity (6003). What has no place in the schema is in "unmapped". */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "journal/hosts.h"
#include "journal/export.h"
#include "journal/show.h"

#define VERSION "1.3.0"

enum { FILES = 1001, PROCESS = 1007, NETWORK = 4001, HTTP = 4002, DNS = 4003, API = 6003 };
enum { OTHER = 99 };
enum { INFORMATIONAL = 1, MEDIUM = 3, HIGH = 4 };

struct shape {
	uint16_t class;
	uint8_t activity, severity;
	bool failure;
	const char *name; /* of an activity that is OTHER */
};

static uint8_t method_id(struct jtext method)
{
	static const char *const methods[] = { "CONNECT", "DELETE", "GET", "HEAD",
					       "OPTIONS", "POST",   "PUT", "TRACE" };

	for (unsigned i = 0; i < ARRAY_LEN(methods); i++)
		if (text_equals(method, methods[i]))
			return (uint8_t)(i + 1);
	return OTHER;
}

static struct shape shape_of(const struct journal_entry *j)
{
	static const struct shape shapes[J_KINDS] = {
		[J_START] = { API, 1 },
		[J_STOP] = { API, 4 },
		[J_HOLE] = { API, OTHER, HIGH, true, "Records lost" },
		[J_LIMIT] = { API, OTHER, MEDIUM, true, "Limit" },
		[J_FORK] = { PROCESS, OTHER, 0, false, "Fork" },
		[J_EXEC] = { PROCESS, 1 },
		[J_EXIT] = { PROCESS, 2 },
		[J_READ] = { FILES, 2 },
		[J_OPEN] = { FILES, 14 },
		[J_WRITE] = { FILES, 3 },
		[J_CONTENT] = { FILES, OTHER, 0, false, "Content" },
		[J_CREATE] = { FILES, 1 },
		[J_REMOVE] = { FILES, 4 },
		[J_RENAME] = { FILES, 5 },
		[J_LINK] = { FILES, OTHER, 0, false, "Link" },
		[J_CHANGE] = { FILES, 6 },
		[J_MOUNT] = { FILES, 12 },
		[J_NAME] = { DNS, 1 },
		[J_CONNECT] = { NETWORK, 1 },
		[J_CLOSE] = { NETWORK, 2 },
		[J_REQUEST] = { HTTP, OTHER },
		[J_RESPONSE] = { HTTP, OTHER },
		[J_INBOUND] = { NETWORK, 1 },
		[J_DENIAL] = { API, OTHER, MEDIUM, true, "Denied" },
		[J_APPROVAL] = { API, 3 },
		[J_POLICY] = { API, 3 },
		[J_SESSION] = { API, 1 },
		[J_PROMPT] = { API, 1 },
		[J_ANSWER] = { API, 3 },
		[J_TOOL] = { API, OTHER, 0, false, "Call" },
		[J_COMMAND] = { API, 1 },
		[J_OPERATOR] = { API, 3 },
	};
	const union journal_record *x = j->record;
	struct shape s = shapes[j->kind];

	if (!s.class)
		s = (struct shape){ .class = API, .activity = OTHER, .name = "Other" };
	s.severity = s.severity ? s.severity : INFORMATIONAL;
	switch (j->kind) {
	case J_CONNECT:
		s.failure = !decision_allows(x->CONNECT.decision);
		if (text_equals(x->CONNECT.decision, "ask"))
			s = (struct shape){ NETWORK, OTHER, s.severity, false, "Asked" };
		else if (s.failure)
			s.activity = text_equals(x->CONNECT.decision, "failed") ? 4 : 5;
		break;
	case J_NAME:
		s.failure = text_equals(x->NAME.decision, "deny");
		break;
	case J_REQUEST:
		s.failure = x->REQUEST.status != 0;
		s.activity = method_id(x->REQUEST.method);
		s.name = "Other method";
		break;
	case J_RESPONSE:
		s.failure = !x->RESPONSE.status;
		s.activity = method_id(x->RESPONSE.method);
		s.name = "Other method";
		break;
	case J_TOOL:
		s.failure = x->TOOL.status != 0;
		break;
	case J_APPROVAL:
		s.failure = !text_equals(x->APPROVAL.answer, "allow");
		break;
	default:
		break;
	}
	if (s.failure && s.severity == INFORMATIONAL)
		s.severity = MEDIUM;
	return s;
}

/* ---- objects ---- */

static void text_member(FILE *to, const char *name, struct jtext text)
{
	fprintf(to, "\"%s\":", name);
	json_put(to, text);
}

static struct jtext last_part(struct jtext path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	if (!slash || slash == path.p + path.n - 1)
		return path.n ? path : text_of("?");
	return (struct jtext){ slash + 1, (uint32_t)(path.p + path.n - slash - 1) };
}

static void fingerprint_put(FILE *to, const char *name, const uint8_t *hash)
{
	if (!hash)
		return;
	fprintf(to, ",\"%s\":[{\"algorithm_id\":3,\"algorithm\":\"SHA-256\",\"value\":\"", name);
	show_hash(to, hash);
	fputs("\"}]", to);
}

static void file_put(FILE *to, const char *name, struct jtext path, uint64_t mode,
		     const uint8_t *hash, const uint64_t *size)
{
	static const uint8_t types[16] = {
		[1] = 6, [2] = 3, [4] = 2, [6] = 4, [8] = 1, [10] = 7, [12] = 5
	};

	fprintf(to, ",\"%s\":{", name);
	text_member(to, "name", last_part(path));
	json_put_member(to, "path", path);
	fprintf(to, ",\"type_id\":%u", mode ? types[mode >> 12 & 15] : 0);
	if (size)
		fprintf(to, ",\"size\":%" PRIu64, MIN(*size, (uint64_t)INT64_MAX));
	fingerprint_put(to, "hashes", hash);
	fputc('}', to);
}

static void process_object(FILE *to, const struct process *p, const struct program *program,
			   int32_t pid)
{
	struct jtext words, word;

	fprintf(to, "\"pid\":%d", pid);
	if (p)
		fprintf(to, ",\"uid\":\"%" PRIu64 "\",\"created_time\":%" PRId64, p->id,
			p->start / 1000000);
	if (!program)
		return;
	fputc(',', to);
	text_member(to, "name", last_part(program->path));
	fputs(",\"cmd_line\":\"", to);
	words = program->args;
	for (bool first = true; words_next(&words, &word); first = false) {
		fputs(first ? "" : " ", to);
		json_put_inner(to, word);
	}
	fputc('"', to);
	file_put(to, "file", program->path, 0100000, program->has_hash ? program->hash : NULL,
		 NULL);
	fprintf(to, ",\"user\":{\"uid\":\"%" PRIu64 "\",\"type_id\":%d}", program->uid,
		program->uid ? 1 : 2);
}

static void actor_put(struct exporter *x, FILE *to, struct process *p, int32_t pid, bool parent)
{
	struct session *s = p ? process_session(&x->processes, p) : NULL;
	const struct program *program = p ? p->program : NULL;

	fputs(",\"actor\":{", to);
	if (parent && p) {
		program = p->born;
		p = p->parent;
		pid = p ? p->pid : 0;
	}
	if (pid) {
		fputs("\"process\":{", to);
		process_object(to, p, program, pid);
		fputc('}', to);
	} else {
		fputs("\"app_name\":\"vivarium\"", to);
	}
	if (s) {
		fputs(",\"session\":{", to);
		text_member(to, "uid", text_of(s->id));
		fputc('}', to);
	}
	fputc('}', to);
}

/* A host with the name or the address that a record has. Both come from the cell: what is not an
 * address is a name. */
struct host {
	struct jtext name, address;
	uint64_t port;
};

static bool is_address(struct jtext text)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr out;

	if (!text.n || text.n >= sizeof(copy) || memchr(text.p, '\0', text.n))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return inet_pton(AF_INET, copy, &out) == 1 || inet_pton(AF_INET6, copy, &out) == 1;
}

/* "host", "host:port", "[address]:port": what a URL has behind its scheme, and a peer is. */
static struct host host_parse(struct jtext text)
{
	const char *end = text.p + text.n, *colon = text.n ? memrchr(text.p, ':', text.n) : NULL;
	const char *bracket = text.n && *text.p == '[' ? memchr(text.p, ']', text.n) : NULL;
	struct host h = { .name = text };

	if (bracket) {
		h.name = (struct jtext){ text.p + 1, (uint32_t)(bracket - text.p - 1) };
		colon = bracket + 1 < end && bracket[1] == ':' ? bracket + 1 : NULL;
	} else if (colon && memchr(text.p, ':', text.n) == colon) {
		h.name = (struct jtext){ text.p, (uint32_t)(colon - text.p) };
	} else {
		colon = NULL;
	}
	for (const char *p = colon ? colon + 1 : end; p < end && *p >= '0' && *p <= '9'; p++)
		h.port = MIN(h.port * 10 + (uint64_t)(*p - '0'), 65535u);
	return h;
}

static struct host url_host(struct jtext url)
{
	const char *at = url.n ? memmem(url.p, url.n, "://", 3) : NULL, *end = url.p + url.n;
	const char *user, *p = at ? at + 3 : end;
	struct jtext text = { p, 0 };

	while (p < end && *p != '/' && *p != '?' && *p != '#')
		p++;
	text.n = (uint32_t)(p - text.p);
	user = text.n ? memrchr(text.p, '@', text.n) : NULL;
	if (user)
		text = (struct jtext){ user + 1, (uint32_t)(p - user - 1) };
	return host_parse(text);
}

static void host_put(FILE *to, const char *what, const struct host *h)
{
	bool named = h->name.n && !is_address(h->name);
	struct jtext address = is_address(h->address) ? h->address : h->name;

	fprintf(to, ",\"%s\":{", what);
	if (named)
		text_member(to, "hostname", h->name);
	if (is_address(address)) {
		fputs(named ? "," : "", to);
		text_member(to, "ip", address);
	} else if (!named) {
		text_member(to, "name", h->address.n ? h->address : text_of("?"));
	}
	if (h->port)
		fprintf(to, ",\"port\":%" PRIu64, MIN(h->port, 65535u));
	fputc('}', to);
}

static void cell_put(struct exporter *x, FILE *to, const char *what, uint64_t port)
{
	fprintf(to, ",\"%s\":{\"type_id\":6,", what);
	text_member(to, "uid", text_of(x->cell[0] ? x->cell : "?"));
	if (port)
		fprintf(to, ",\"port\":%" PRIu64, MIN(port, 65535u));
	fputc('}', to);
}

static void outbound_put(struct exporter *x, FILE *to, struct host h)
{
	cell_put(x, to, "src_endpoint", 0);
	host_put(to, "dst_endpoint", &h);
}

static void protocol_put(FILE *to, struct jtext protocol, bool inbound)
{
	fprintf(to, ",\"connection_info\":{\"direction_id\":%d,\"direction\":\"%s\"",
		inbound ? 1 : 2, inbound ? "Inbound" : "Outbound");
	if (protocol.n) {
		fputc(',', to);
		text_member(to, "protocol_name", protocol);
		fprintf(to, ",\"protocol_num\":%d",
			text_equals(protocol, "udp")   ? 17
			: text_equals(protocol, "tcp") ? 6
						       : -1);
	}
	fputc('}', to);
}

static void traffic_put(FILE *to, uint64_t in, uint64_t out)
{
	in = MIN(in, (uint64_t)INT64_MAX / 2);
	out = MIN(out, (uint64_t)INT64_MAX / 2);
	fprintf(to,
		",\"traffic\":{\"bytes_in\":%" PRIu64 ",\"bytes_out\":%" PRIu64
		",\"bytes\":%" PRIu64 "}",
		in, out, in + out);
}

/* ---- classes ---- */

static void file_class(FILE *to, const struct journal_entry *j)
{
	const union journal_record *r = j->record;

	switch (j->kind) {
	case J_READ:
		file_put(to, "file", r->READ.path, 0, NULL, NULL);
		break;
	case J_OPEN:
		file_put(to, "file", r->OPEN.path, 0, NULL, NULL);
		break;
	case J_WRITE:
		file_put(to, "file", r->WRITE.path, 0, NULL, &r->WRITE.size);
		break;
	case J_CONTENT:
		file_put(to, "file", r->CONTENT.path, 0, r->CONTENT.hash, &r->CONTENT.size);
		break;
	case J_CREATE:
		file_put(to, "file", r->CREATE.path, r->CREATE.mode, NULL, NULL);
		break;
	case J_REMOVE:
		file_put(to, "file", r->REMOVE.path, 0, NULL, NULL);
		break;
	case J_RENAME:
		file_put(to, "file", r->RENAME.path, 0, NULL, NULL);
		file_put(to, "file_result", r->RENAME.to, 0, NULL, NULL);
		break;
	case J_LINK:
		file_put(to, "file", r->LINK.path, 0, NULL, NULL);
		file_put(to, "file_result", r->LINK.to, 0, NULL, NULL);
		break;
	case J_CHANGE:
		file_put(to, "file", r->CHANGE.path, 0, NULL, NULL);
		break;
	default:
		file_put(to, "file", r->MOUNT.path, 0, NULL, NULL);
	}
}

/* status 0: there is no response. */
static void http_put(struct exporter *x, FILE *to, struct jtext method, struct jtext url,
		     uint64_t status, uint64_t in, uint64_t out)
{
	outbound_put(x, to, url_host(url));
	fputs(",\"http_request\":{", to);
	text_member(to, "http_method", method);
	fputs(",\"url\":{", to);
	text_member(to, "url_string", url.n ? url : text_of("?"));
	fprintf(to, "},\"length\":%" PRIu64 "}", MIN(out, (uint64_t)INT64_MAX));
	if (status)
		fprintf(to, ",\"http_response\":{\"code\":%" PRIu64 ",\"length\":%" PRIu64 "}",
			MIN(status, 999u), MIN(in, (uint64_t)INT64_MAX));
	traffic_put(to, in, out);
}

static void network_class(struct exporter *x, FILE *to, const struct journal_entry *j)
{
	const union journal_record *r = j->record;
	struct host peer;

	switch (j->kind) {
	case J_CONNECT:
		outbound_put(x, to,
			     (struct host){ r->CONNECT.name, r->CONNECT.address, r->CONNECT.port });
		protocol_put(to, r->CONNECT.protocol, false);
		break;
	case J_CLOSE:
		outbound_put(x, to,
			     (struct host){ .address = r->CLOSE.address, .port = r->CLOSE.port });
		protocol_put(to, r->CLOSE.protocol, false);
		traffic_put(to, r->CLOSE.in, r->CLOSE.out);
		break;
	case J_INBOUND:
		peer = host_parse(r->INBOUND.peer);
		host_put(to, "src_endpoint", &peer);
		cell_put(x, to, "dst_endpoint", r->INBOUND.port);
		protocol_put(to, (struct jtext){ "", 0 }, true);
		break;
	case J_NAME:
		outbound_put(x, to, (struct host){ .name = text_of("resolver"), .port = 53 });
		fputs(",\"query\":{", to);
		text_member(to, "hostname", r->NAME.name.n ? r->NAME.name : text_of("?"));
		json_put_member(to, "type", r->NAME.type);
		fputc('}', to);
		break;
	case J_RESPONSE:
		http_put(x, to, r->RESPONSE.method, r->RESPONSE.url, r->RESPONSE.status,
			 r->RESPONSE.in, r->RESPONSE.out);
		break;
	default:
		http_put(x, to, r->REQUEST.method, r->REQUEST.url, r->REQUEST.status, r->REQUEST.in,
			 r->REQUEST.out);
	}
}

/* ---- all of it ---- */

static void unmapped_put(struct exporter *x, FILE *to, const struct journal_entry *j,
			 struct process *p)
{
	const struct journal_desc *d = &journal_kinds[j->kind];
	struct prompt *q = p ? process_prompt(&x->processes, p) : NULL;

	fprintf(to, ",\"unmapped\":{\"kind\":\"%s\"", d->name);
	for (unsigned i = 0; i < d->nfields; i++) {
		const char *at = (const char *)j->record + d->fields[i].offset;
		struct jtext text;
		uint64_t n;

		switch ((enum journal_type)d->fields[i].type) {
		case JT_NUMBER:
			memcpy(&n, at, sizeof(n));
			fprintf(to, ",\"%s\":%" PRIu64, d->fields[i].name, n);
			break;
		case JT_SIGNED:
			memcpy(&n, at, sizeof(n));
			fprintf(to, ",\"%s\":%" PRId64, d->fields[i].name, (int64_t)n);
			break;
		case JT_TEXT:
			memcpy(&text, at, sizeof(text));
			json_put_member(to, d->fields[i].name, text);
			break;
		case JT_WORDS:
			memcpy(&text, at, sizeof(text));
			json_put_list(to, d->fields[i].name, text);
			break;
		case JT_HASH:
			break;
		}
	}
	if (q)
		fprintf(to, ",\"open_prompt\":%" PRIu64, q->number);
	fputc('}', to);
}

int ocsf_put(struct exporter *x, const struct journal_entry *j, struct process *p, struct err *e)
{
	struct shape s = shape_of(j);
	FILE *to = x->mem;

	fprintf(to,
		"{\"activity_id\":%u,\"category_uid\":%u,\"class_uid\":%u,\"type_uid\":%u,"
		"\"severity_id\":%u,\"status_id\":%d,\"time\":%" PRId64,
		s.activity, s.class / 1000, s.class, s.class * 100u + s.activity, s.severity,
		s.failure ? 2 : 1, MAX(j->wall, 0) / 1000000);
	if (s.activity == OTHER)
		fprintf(to, ",\"activity_name\":\"%s\"", s.name);
	fprintf(to,
		",\"metadata\":{\"version\":\"" VERSION
		"\",\"profiles\":[\"host\"],\"product\":{\"name\":\"Vivarium\",\"vendor_name\":"
		"\"Vivarium\",\"version\":"
		"\"" VIV_VERSION "\"},\"sequence\":%" PRIu64,
		j->seq);
	json_put_member(to, "correlation_uid", text_of(x->cell));
	fprintf(to, "},\"device\":{\"type_id\":6,\"type\":\"Virtual\",");
	text_member(to, "uid", text_of(x->cell[0] ? x->cell : "?"));
	json_put_member(to, "name", text_of(x->name));
	fputc('}', to);
	actor_put(x, to, p, j->pid, s.class == PROCESS && j->kind != J_EXIT);
	switch (s.class) {
	case FILES:
		file_class(to, j);
		break;
	case PROCESS:
		fputs(",\"process\":{", to);
		process_object(to, p, p ? p->program : NULL, j->pid);
		fputc('}', to);
		if (j->kind == J_EXIT)
			fprintf(to, ",\"exit_code\":%" PRIu64,
				MIN(j->record->EXIT.code, (uint64_t)INT32_MAX));
		break;
	case API:
		fprintf(to, ",\"api\":{\"operation\":\"%s\"}", journal_kinds[j->kind].name);
		cell_put(x, to, "src_endpoint", 0);
		break;
	default:
		network_class(x, to, j);
	}
	unmapped_put(x, to, j, p);
	fputc('}', to);
	return export_line(x, e);
}
