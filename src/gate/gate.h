/* viv-gate: the one process of a cell that can open sockets on the host.
 *
 * Started by the keeper of a cell that is granted any network, when the cell first uses it. It
 * reads its settings (settings.c), locks itself in (isolate.c), and serves the kernel at the other
 * end of its channel until that is closed (wire/gate.h). One thread, one loop (loop.c); nothing
 * blocks.
 *
 *   channel.c   messages of the kernel, checked and handed on
 *   control.c   messages of the keeper: new settings, answers; and what it is told
 *   connect.c   a connection: decided by the policy, made, looked at (hello.c), handed over
 *   udp.c       datagrams, which pass through the gate
 *   resolve.c   questions for names (dns.c), as datagrams and in streams (dnstcp.c)
 *   lookup.c    addresses of names, by way of c-ares
 *   names.c     which address stands for which name in this cell
 *   secret.h    secrets: values in requests, and out of responses
 *   record.h    what of this is in the cell's journal
 *
 * Bytes from the kernel and from every server are hostile. Breaking the gate gives the network of
 * the host as an ordinary user has it, no file and no other cell. Every call of the host that is
 * made after the start has to be named in a comment "#syscalls:" at the function that makes it, and
 * every option of sockets in one with "#sockopts:"; what is not named ends the gate. */
#ifndef VIV_GATE_GATE_H
#define VIV_GATE_GATE_H

#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/list.h"
#include "gate/secret.h"
#include "policy/policy.h"
#include "wire/gate.h"

/* ---- settings.c ---- */

#define SETTINGS_SERVERS_MAX 8
#define SETTINGS_HOSTS_MAX 256
#define SETTINGS_SEARCH_MAX 6

struct settings {
	struct policy policy;
	struct {
		struct ip addr;
		uint16_t port;
	} servers[SETTINGS_SERVERS_MAX];
	unsigned nservers;
	struct {
		char name[254];
		struct ip addr;
	} * hosts; /* --add-host: answers that no server is asked for */
	unsigned nhosts;
	struct secrets *secrets; /* NULL: none */
	char search[SETTINGS_SEARCH_MAX]
		   [254]; /* --dns-search: domains that the cell's clients try */
	unsigned nsearch;
};
/* Those in force. They may change whenever the loop runs: no pointer into them is kept. */
extern struct settings settings;

/* Reads the settings as the keeper wrote them: lines "server ADDRESS [PORT]", "host NAME ADDRESS",
 * "secret JSON" (secrets_add), "ca CERTIFICATE KEY" (ca.h), "bundle FILE" and "trust FILE" (tls.h),
 * "search DOMAIN", an empty line, and the policy. */
int must_check settings_read(int fd, struct settings *ret, struct err *e);
/* The same for those in force, while the gate runs; on failure they stay as they are. The CA and
 * what is trusted are for the gate's life. */
int must_check settings_change(int fd, struct err *e);

/* ---- isolate.c ---- */

/* Locks the process in, for good: no files from here on. */
int must_check isolate_enter(struct err *e);

/* ---- loop.c ---- */

/* What the loop watches; embedded. ready() may free its owner. */
struct watch {
	int fd; /* -1: none */
	uint32_t events; /* that it is armed for; 0: it is not in the set */
	void (*ready)(struct watch *w, uint32_t events);
};

/* A moment; embedded. run() may free its owner. */
struct alarm {
	int64_t at; /* 0: not set */
	void (*run)(struct alarm *a);
	struct list link;
};

void loop_init(void);
void loop_run(void); /* until loop_end */
void loop_end(void);
void watch_set(struct watch *w, uint32_t events);
/* Forgets it and closes its descriptor. */
void watch_close(struct watch *w);
void alarm_set(struct alarm *a, int64_t ms);
void alarm_clear(struct alarm *a);
int64_t now_ms(void);

/* ---- channel.c ---- */

void channel_open(int fd);
/* fd: -1, or one that is sent along and stays the caller's. False: it cannot be sent, and the gate
 * is ending. */
bool channel_send(struct gate_msg *m, int fd);
void channel_fail(uint32_t id, int err, const char *fmt, ...) printf_like(3, 4);
/* A refusal that no GATE_FAIL tells, for the cell's list of them. Too many in a row are dropped. */
void channel_note(const char *fmt, ...) printf_like(1, 2);

/* ---- connect.c ---- */

void connect_begin(const struct gate_msg *m);
void connect_first(const struct gate_msg *m);
/* Returns false if there is none with this id. */
bool connect_cancel(uint32_t id);
/* The gate ends: what is under way is recorded. */
void connect_end(void);
/* A socket for TCP with an address, -errno. */
int address_socket(const struct ip *a);
/* Connects a socket of a's family: 0, -errno. */
int address_connect(int fd, const struct ip *a, uint16_t port);
/* The policy has changed: ends connections that it denies. old: the one before. */
void connect_review(const struct policy *old);

/* ---- udp.c ---- */

void udp_begin(const struct gate_msg *m);
bool udp_cancel(uint32_t id);
void udp_review(void);

/* ---- resolve.c ---- */

void resolve_question(const struct gate_msg *m);

/* ---- dnstcp.c ---- */

/* A connection to the resolver. */
void stream_begin(const struct gate_msg *m);

/* ---- lookup.c ---- */

int must_check lookup_init(struct err *e);
/* The servers of the settings are asked from now on. */
int must_check lookup_servers(struct err *e);

struct lookup;
/* The addresses of a name, in the order in which they are tried. fn is called once, not before the
 * return, unless lookup_cancel() comes first. why: NULL, or why there are none. */
typedef void lookup_fn(void *arg, const struct ip *addrs, unsigned n, uint32_t ttl, bool exists,
		       const char *why);
struct lookup *lookup_new(const char *name, bool v4, bool v6, lookup_fn *fn, void *arg);
void lookup_cancel(struct lookup *l);
/* The answer of a server as it is, to a question of another type; NULL: there is none. False: too
 * many are asked at once. fn is called once; it may be before the return. */
typedef void raw_fn(void *arg, const uint8_t *p, size_t n);
bool lookup_raw(const char *name, uint16_t type, raw_fn *fn, void *arg);

/* ---- names.c ---- */

#define NAMES_MAX 65536

/* The address that stands for a name from now on: real if no other name has it, else one of
 * 198.18.0.0/15 or of fd7a:7669:7600::/64; real NULL: one of these. NULL: there are too many. */
const struct ip *names_bind(const char *name, const struct ip *real, bool v6);
/* At the start: what the gate before this one has bound. */
void names_restore(void);
/* The name that an address stands for; NULL: none. */
const char *names_find(const struct ip *a);
/* Does any address stand for this name? */
bool names_has(const char *name);
/* A number that nobody outside can foresee. */
uint32_t names_hash(const char *name);
/* Is it the address of the cell's resolver? */
bool names_is_resolver(const struct ip *a);

#endif
