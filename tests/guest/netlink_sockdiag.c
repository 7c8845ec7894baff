/* NETLINK_SOCK_DIAG: what ss asks. Only the program's own sockets are told. */
#include "net.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>

static unsigned ino_of(int fd)
{
	struct stat st;

	fstat(fd, &st);
	return (unsigned)st.st_ino;
}

/* How many messages are about ino; the last is kept in out. */
static int ask(int nl, const void *req, size_t len, size_t ino_at, unsigned ino, char *out, size_t size)
{
	struct {
		struct nlmsghdr h;
		char body[128];
	} q = { .h = { (unsigned)(NLMSG_HDRLEN + len), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 7, 0 } };
	static char buf[65536];
	int found = 0;

	memcpy(q.body, req, len);
	if (send(nl, &q, q.h.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		ssize_t n = recv(nl, buf, sizeof(buf), 0);

		if (n <= 0)
			return -2;
		for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			unsigned got;

			if (h->nlmsg_type == NLMSG_DONE)
				return found;
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			memcpy(&got, (char *)NLMSG_DATA(h) + ino_at, sizeof(got));
			if (got != ino)
				continue;
			found++;
			memcpy(out, NLMSG_DATA(h), size);
		}
	}
}

static void inet(int nl, const char *what, int fd, int family, int protocol)
{
	struct inet_diag_req_v2 q = { .sdiag_family = (uint8_t)family, .sdiag_protocol = (uint8_t)protocol, .idiag_states = ~0u };
	struct inet_diag_msg m = { 0 };
	int n = ask(nl, &q, sizeof(q), offsetof(struct inet_diag_msg, idiag_inode), ino_of(fd), (char *)&m, sizeof(m));

	printf("%s: %d", what, n);
	if (n == 1)
		printf(" family %d state %d port %d %d addr %x queues %u %u uid %u", m.idiag_family, m.idiag_state, ntohs(m.id.idiag_sport) == port_of(fd),
		       m.id.idiag_dport != 0, ntohl(m.id.idiag_src[0]), m.idiag_rqueue, m.idiag_wqueue, m.idiag_uid);
	printf("\n");
}

int main(void)
{
	int nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), l = bound4(SOCK_STREAM), u = bound4(SOCK_DGRAM), c = socket(AF_INET, SOCK_STREAM, 0),
	    sv[2];
	struct sockaddr_in to = loop4(port_of(l));
	struct unix_diag_req q = { .sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_NAME };
	struct unix_diag_msg m = { 0 };

	SHOW(nl >= 0);
	inet(nl, "bound", l, AF_INET, IPPROTO_TCP);
	SHOW(listen(l, 5));
	inet(nl, "listening", l, AF_INET, IPPROTO_TCP);
	inet(nl, "unused", c, AF_INET, IPPROTO_TCP);
	SHOW(connect(c, SA(&to), sizeof(to)));
	inet(nl, "one waits", l, AF_INET, IPPROTO_TCP);
	inet(nl, "connected", c, AF_INET, IPPROTO_TCP);
	inet(nl, "not of this family", c, AF_INET6, IPPROTO_TCP);
	inet(nl, "datagrams", u, AF_INET, IPPROTO_UDP);
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	printf("unix: %d", ask(nl, &q, sizeof(q), offsetof(struct unix_diag_msg, udiag_ino), ino_of(sv[0]), (char *)&m, sizeof(m)));
	printf(" type %d state %d\n", m.udiag_type, m.udiag_state);
	return 0;
}
