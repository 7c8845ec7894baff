/* The keeper's channels: what the other side said last is heard, whatever it was to be told
 * meanwhile. */
/* objects: src/keeper/channel.c src/host/fdmsg.c */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper/channel.h"
#include "tap.h"

static unsigned heard, gone;

static void on_message(struct channel *c, void *msg, int *fds, unsigned nfds)
{
	(void)c, (void)msg, (void)fds, (void)nfds;
	heard++;
}

static void on_gone(struct channel *c)
{
	gone++;
	channel_close(c);
}

static struct channel channel;

/* The other side; it has said n things. */
static int other_side(unsigned n)
{
	char msg[CHANNEL_BYTES] = { 0 };
	int fds[2];

	channel = (struct channel){ .in = on_message, .gone = on_gone };
	heard = gone = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0 ||
	    channel_init(&channel, fds[0], 8) < 0)
		return -1;
	while (n-- > 0)
		if (fdmsg_send(fds[1], msg, sizeof(msg), NULL, 0, MSG_DONTWAIT) < 0)
			return -1;
	return fds[1];
}

static void rounds(void)
{
	for (int i = 0; i < 20 && !gone; i++)
		sources_wait(clock_mono() + NSEC_PER_SEC);
}

int main(void)
{
	char msg[CHANNEL_BYTES] = { 0 };
	int other;

	if (sources_init() < 0)
		return 1;
	other = other_side(3);
	close(other);
	rounds();
	ok(heard == 3 && gone == 1, "it says three things and goes");

	other = other_side(3);
	close(other);
	ok(channel_send(&channel, msg, NULL, 0), "something is to be told to one that is gone");
	rounds();
	eq(heard, 3, "what it said before is heard all the same");
	eq(gone, 1, "and then that it is gone");

	other = other_side(40);
	close(other);
	ok(channel_send(&channel, msg, NULL, 0), "the same with more than one round reads");
	rounds();
	eq(heard, 40, "all of it is heard");

	other = other_side(3);
	ok(channel_send(&channel, msg, NULL, 0), "one that goes without reading what it was told");
	close(other);
	rounds();
	ok(heard == 3 && gone == 1, "is heard to the end as well");

	other = other_side(2);
	shutdown(other, SHUT_RD);
	ok(channel_send(&channel, msg, NULL, 0), "one that does not listen any more");
	rounds();
	ok(heard == 2 && gone == 1, "is heard once, and let go");
	close(other);
	return tap_end();
}
