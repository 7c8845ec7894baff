/* Connections that the gate opens: it speaks HTTP with the client on one side and with the server
 *on the other, and asks the policy about every request.
 *
 *	open.c      the pair of ends: handshakes, bytes, back-pressure, the end
 *	request.c   what a request must be like; refusals
 *	hold.c      requests that wait for an answer of the operator
 *	redial.c    the server's connection once more, for a request that has waited for long
 *	h1.c        HTTP/1 on both sides, WebSockets
 *	h2.c        HTTP/2 on both sides
 *
 * A connection of the client has exactly one of the server, which is made first; then the client is
 * offered the protocol that the server has chosen. So both sides speak the same version, nothing is
 * translated, and a connection lives and ends as it would without the gate. */
#ifndef VIV_GATE_OPEN_H
#define VIV_GATE_OPEN_H

#include "gate/control.h"
#include "gate/dns.h"
#include "gate/http.h"
#include "gate/tls.h"

#define OPENED_MAX 2048

enum side { CLIENT, SERVER };

enum opened_state {
	OPENED_SERVER, /* TLS with the server is being set up */
	OPENED_CLIENT, /* with the client */
	OPENED_RUNS,
	OPENED_ENDS, /* what was put for the client is still sent to it */
};

struct opened;
struct exchange;

/* A version of HTTP. Every function may call opened_end() or opened_abort(); both only note it. */
struct protocol {
	/* Makes the session. */
	void (*begin)(struct opened *o);
	/* Takes some of what a side has sent: how many bytes. */
	size_t (*take)(struct opened *o, enum side from, const uint8_t *p, size_t n);
	/* May it be read from that side? */
	bool (*wants)(struct opened *o, enum side from);
	/* That side sends no more. Called once. */
	void (*ended)(struct opened *o, enum side from);
	/* Puts what is to be sent and was not put yet. */
	void (*pull)(struct opened *o);
	/* A request that was held can be decided now. */
	void (*decided)(struct opened *o, struct exchange *x);
	/* The policy has changed: every request is decided once more. */
	void (*review)(struct opened *o);
	/* The end of opened_redial(): there is a server again, or o->broken. */
	void (*redialed)(struct opened *o);
	void (*free)(struct opened *o);
};
extern const struct protocol h1_protocol, h2_protocol;

struct opened {
	struct list link;
	struct end ends[2];
	enum opened_state state;
	char name[DNS_NAME_MAX]; /* or the text of an address */
	bool is_name;
	struct ip addr;
	uint16_t port;
	bool tls;
	bool http2; /* the client offers it */
	bool approved; /* the operator has allowed the connection */
	char *program;
	uint32_t number; /* of the connection, for records */
	int32_t pid; /* that asked for it */
	uint64_t nrequests;
	bool told[2]; /* protocol->ended() was called */
	bool gone; /* the client has closed its end */
	bool dead; /* to be freed */
	unsigned holds; /* requests that wait for the operator */
	bool drop; /* the server's connection is of no use any more, but the client's is */
	enum { REDIAL_NOT, REDIAL_LOOKUP, REDIAL_CONNECT, REDIAL_TLS } redial;
	struct lookup *lookup;
	struct alarm redial_late;
	struct alarm late, again;
	/* The server cannot be used: the status and the reason of every answer. */
	unsigned broken_status;
	char broken[256];
	const struct protocol *protocol;
	void *session; /* the protocol's */
};

/* Takes server and client: connected, not blocking. hello: what the client's first message was. */
struct opened_options {
	const char *name; /* NULL: an address */
	const struct ip *addr;
	uint16_t port;
	const char *program;
	uint32_t number;
	int32_t pid;
	bool tls, http2, approved;
	int server, client;
};
/* False: too many; both descriptors are closed. */
bool opened_new(const struct opened_options *x);
/* The policy has changed: ends connections to hosts that it denies, and decides every request of
 * the others once more, also those that are under way, a stream for example. */
void opened_review(const struct policy *old);
/* May its name lead to this address, as the policy is now? */
bool opened_may_reach(const struct opened *o, const struct ip *a);
/* The gate ends: so do all of them. */
void opened_finish(void);
/* Nothing more is read; what was put for the client is sent, then it ends. */
void opened_end(struct opened *o);
/* The client must see that something is missing. */
void opened_abort(struct opened *o);

/* ---- exchange.c ---- */

/* Bytes of a body on their way, through a filter if there is one. */
struct pump {
	struct scrub *filter;
	struct buf rest; /* not taken by the filter yet */
	bool busy, end;
};
/* Puts more (only when all before is done) and adds what comes out, until out has limit bytes. 1:
 * all of it is there. 0: call pump_run() when there is room again. -1: it is damaged. */
int must_check pump_put(struct pump *p, const void *data, size_t n, bool end, struct buf *out,
			size_t limit, struct err *e);
int must_check pump_run(struct pump *p, struct buf *out, size_t limit, struct err *e);

/* What a journal has of a request (record.h). */
struct request_record {
	uint32_t connection;
	int32_t pid;
	uint64_t number; /* on the connection; 0: nothing is recorded */
	char method[METHOD_MAX + 1];
	char *url; /* nurl bytes */
	uint32_t nurl;
	bool sent; /* it was sent on, and its end is yet to be recorded */
	bool kept; /* the URL counts as kept */
	unsigned status;
	uint64_t in, out; /* bytes of the bodies */
	const struct rule *rule; /* that allows it; within exchange_request() only */
};

/* A request and its response; zeroed at the beginning. */
struct exchange {
	struct request_record record;
	struct secret_site site;
	bool guarded; /* what comes back may have to be changed */
	struct pump up, down;
	struct opened *o;
	/* hold.c */
	enum { HOLD_NOT, HOLD_ASKED, HOLD_ALLOWED, HOLD_DENIED } hold;
	struct ask ask;
	int64_t since; /* when it was asked */
	bool passed; /* it may be sent, or was */
	char *method, *target; /* of what may be sent; NULL: too much to remember */
};

struct refusal;
enum passage { REQUEST_REFUSED, REQUEST_PASSES, REQUEST_HELD };
/* Checks a request and makes it ready to be sent. Refused: r says why. Held: nothing of it was
 * changed; protocol->decided() follows, and this function is called again. A filter of its body
 * changes the length, which is then not among the fields any more. */
enum passage must_check exchange_request(struct exchange *x, struct opened *o, struct head *h,
					 bool has_body, struct refusal *r);
/* The same with the head of a response. False: it cannot be passed on. */
bool must_check exchange_response(struct exchange *x, struct head *h, bool has_body, struct err *e);
/* Of an interim response and of trailers. */
void exchange_fields(struct exchange *x, struct head *h);
/* The bytes of the server are those of another protocol from now on. */
bool must_check exchange_tunnel(struct exchange *x, struct err *e);
void trailers_check(struct head *h);
void exchange_fini(struct exchange *x);

/* ---- request.c ---- */

/* A request that is answered here. */
struct refusal {
	unsigned status;
	const char *code; /* for programs */
	char message[512], remedy[256];
	char rule[512]; /* the text of the rule; "": none */
	const char *brief; /* for the journal, without what the client said; NULL: the message has
			      nothing of that */
};

/* May it be sent? */
enum passage must_check request_check(struct exchange *x, struct opened *o, struct head *h,
				      struct refusal *r);
/* What the policy says about a request, of all ways to read its path the worst; q: what it was
 * asked, valid until the next call. False: the path cannot be read. */
bool must_check request_verdict(const struct exchange *x, const struct opened *o,
				const char *method, const char *target, struct decision *ret,
				struct net_question *q);
void refusal_set(struct refusal *r, unsigned status, const char *code, const char *fmt, ...)
	printf_like(4, 5);
/* The server's fault. */
void refusal_server(struct opened *o, struct refusal *r);
/* The head and the body of the answer. */
void refusal_write(const struct refusal *r, struct head *h, struct buf *body);

/* ---- hold.c ---- */

/* Asks the operator. False: it cannot be asked, and r says why. */
bool must_check hold_begin(struct exchange *x, struct opened *o, const struct net_question *q,
			   const struct rule *rule, struct refusal *r);
/* Nobody waits any more. decided: by the policy, so that there is nothing to be asked again. */
void hold_end(struct exchange *x, bool decided);
/* A request may be sent: what it is, for the time when the policy changes. */
void exchange_remember(struct exchange *x, const struct head *h);
void exchange_forget(struct exchange *x);
/* The policy has changed. Of one that is held: can it be decided now? Of one that was sent: must it
 * be ended? Then r says why. */
bool must_check exchange_review(struct exchange *x, const struct head *held, struct refusal *r);

/* ---- redial.c ---- */

/* Closes the server's connection; the client's stays. */
void opened_drop_server(struct opened *o);
/* Makes it once more. protocol->redialed() follows; it may be before the return. */
void opened_redial(struct opened *o);
/* While it is being made. */
void redial_run(struct opened *o);
void redial_fini(struct opened *o);
/* The server cannot be used: every request gets this answer. */
void server_broken(struct opened *o, unsigned status, const char *why);
void server_ready(struct watch *w, uint32_t events);

#endif
