/* Route messages by hand: a dump's end, errors, acknowledgements, names of the socket. */
#include "net.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static int fd;
static unsigned seq;

static void ask(const char *what, int type, int flags, size_t len)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg m;
	} q = { .h = { .nlmsg_len = (unsigned)len, .nlmsg_type = (unsigned short)type, .nlmsg_flags = (unsigned short)flags,
		       .nlmsg_seq = ++seq } };
	static char buf[65536];
	int links = 0, done = 0;

	q.m.ifi_index = type == RTM_GETLINK && !(flags & NLM_F_DUMP) ? (what[0] == '!' ? 4711 : 1) : 0;
	printf("%s: sent %d\n", what, (int)send(fd, &q, sizeof(q), 0));
	while (!done) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, 200) != 1)
			break;
		int n = (int)recv(fd, buf, sizeof(buf), 0);
		if (n < 0) {
			printf("recv: %s\n", ename(errno));
			return;
		}
		for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, (unsigned)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_seq != seq)
				printf("wrong seq\n");
			if (h->nlmsg_type == NLMSG_DONE) {
				printf("done multi %d\n", !!(h->nlmsg_flags & NLM_F_MULTI));
				done = 1;
			} else if (h->nlmsg_type == NLMSG_ERROR) {
				printf("error %s\n", ename(-((struct nlmsgerr *)NLMSG_DATA(h))->error));
				done = 1;
			} else if (h->nlmsg_type == RTM_NEWLINK) {
				struct ifinfomsg *m = NLMSG_DATA(h);
				if (m->ifi_index == 1)
					printf("link 1 flags %x type %d\n", m->ifi_flags, m->ifi_type);
				links++;
			}
		}
	}
	printf("links %d\n", links > 0);
}

int main(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK }, b;
	socklen_t len = sizeof(b);

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	SHOW(bind(fd, SA(&a), sizeof(a)));
	SHOW(getsockname(fd, SA(&b), &len));
	SHOW(len == sizeof(b) && b.nl_pid == (unsigned)getpid());
	ask("dump", RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 32);
	ask("one", RTM_GETLINK, NLM_F_REQUEST, 32);
	ask("!none", RTM_GETLINK, NLM_F_REQUEST, 32);
	ask("noop", NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK, 32);
	ask("short", RTM_GETLINK, NLM_F_REQUEST, 8);
	SHOW(socket(AF_NETLINK, SOCK_STREAM, NETLINK_ROUTE));
	SHOW(listen(fd, 1));
	SHOW(accept(fd, NULL, NULL));
	int s[2];
	SHOW(socketpair(AF_NETLINK, SOCK_RAW, 0, s));
	SHOW(bind(socket(AF_NETLINK, SOCK_RAW, 0), SA(&b), sizeof(b)));
	return 0;
}
