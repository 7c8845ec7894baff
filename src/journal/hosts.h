/* Which hosts a cell was in contact with: connections, what became of them, bytes each way,
 * requests, and names that were looked up.
 *
 * The gate knows for whom a connection is, the kernel what went over it: CLOSE has the number of
 * its CONNECT. Without one, as older journals have it, it is matched with the CONNECT of the same
 * port and address, else of the same process and port, else it counts for its address. */
#ifndef VIV_JOURNAL_HOSTS_H
#define VIV_JOURNAL_HOSTS_H

#include "journal/journal.h"
#include "journal/tally.h"

#define HOSTS_OPEN 1024 /* connections that are open at a time; the oldest is forgotten */
#define HOSTS_NUMBERS 8192 /* connections whose number is known to requests */

/* counts[] of an item; its texts are name or address, port, protocol */
enum host_count {
	HOST_ALLOWED,
	HOST_DENIED,
	HOST_FAILED,
	HOST_IN,
	HOST_OUT,
	HOST_REQUESTS,
	HOST_REQUESTS_DENIED,
	HOST_LOOKUPS, /* of names: an item without a port */
	HOST_AUDITED, /* of HOST_ALLOWED: only a rule that says audit lets them through */
};

struct host_open {
	uint64_t number;
	int32_t pid;
	uint32_t port;
	uint64_t address; /* a hash */
	uint32_t host;
};

struct host_number {
	uint64_t number;
	uint32_t host; /* from 1 on; 0: free */
};

struct hosts {
	struct tally tally;
	struct host_open open[HOSTS_OPEN]; /* the oldest first */
	size_t nopen;
	struct host_number *numbers;
};

void hosts_init(struct hosts *t);
void hosts_fini(struct hosts *t);
/* Does a decision let something through? */
bool decision_allows(struct jtext decision);
/* NAME, CONNECT, CLOSE, REQUEST; START, from which on connections have new numbers. Returns the
 * item that it counts for, from 1 on; 0: none. */
size_t hosts_follow(struct hosts *t, const struct journal_entry *e);

#endif
