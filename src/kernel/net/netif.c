/* Questions about interfaces by ioctl: SIOCGIFCONF and the SIOCGIF family. There is one interface,
 * lo; nobody may change it. */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>

#include "kernel/net/route.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/task.h"

#define LO_FLAGS 0x49 /* up, loopback, running */
#define LO_MTU 65536
#define ARPHRD_LOOPBACK 772

/* struct ifreq and struct ifconf as they lie in guest memory. */
struct linux_ifreq {
	char name[16];
	union {
		struct sockaddr_in in;
		int32_t i;
		int16_t flags;
		struct {
			uint16_t type;
			uint8_t mac[14];
		} hw;
		char raw[24];
	} u;
};
_Static_assert(sizeof(struct linux_ifreq) == 40, "ifreq");

struct linux_ifconf {
	int32_t len, pad;
	uint64_t buf;
};
_Static_assert(sizeof(struct linux_ifconf) == 16, "ifconf");

static void addr_set(struct linux_ifreq *q, uint32_t host_order)
{
	memset(&q->u, 0, sizeof(q->u));
	q->u.in.sin_family = AF_INET;
	q->u.in.sin_addr.s_addr = htonl(host_order);
}

static int64_t ifconf(struct task *t, uint64_t arg)
{
	struct linux_ifreq q = { .name = "lo" };
	struct linux_ifconf c;

	if (guest_get(t->tid, &c, arg) < 0)
		return -EFAULT;
	addr_set(&q, 0x7f000001);
	if (!c.buf) {
		c.len = sizeof(q);
	} else if (c.len < (int32_t)sizeof(q)) {
		c.len = 0;
	} else {
		if (guest_put(t->tid, c.buf, &q) < 0)
			return -EFAULT;
		c.len = sizeof(q);
	}
	return guest_put(t->tid, arg, &c);
}

/* Fills the answer: 0, -ENOTTY. */
static int ifreq_answer(struct linux_ifreq *q, unsigned cmd)
{
	switch (cmd) {
	case SIOCGIFFLAGS:
		q->u.flags = LO_FLAGS;
		return 0;
	case SIOCGIFADDR:
	case SIOCGIFDSTADDR:
		addr_set(q, 0x7f000001);
		return 0;
	case SIOCGIFNETMASK:
		addr_set(q, 0xff000000);
		return 0;
	case SIOCGIFBRDADDR:
		addr_set(q, 0);
		return 0;
	case SIOCGIFMTU:
		q->u.i = LO_MTU;
		return 0;
	case SIOCGIFMETRIC:
		q->u.i = 0;
		return 0;
	case SIOCGIFTXQLEN:
		q->u.i = 1000;
		return 0;
	case SIOCGIFINDEX:
		q->u.i = 1;
		return 0;
	case SIOCGIFHWADDR:
		memset(&q->u, 0, sizeof(q->u));
		q->u.hw.type = ARPHRD_LOOPBACK;
		return 0;
	case SIOCGIFMAP:
		memset(&q->u, 0, sizeof(q->u));
		return 0;
	}
	return -ENOTTY;
}

int64_t netif_ioctl(struct task *t, unsigned cmd, uint64_t arg)
{
	struct linux_ifreq q;
	int r;

	if (cmd == SIOCGIFCONF)
		return ifconf(t, arg);
	if (cmd < SIOCADDRT || cmd > SIOCDELDLCI)
		return cmd == SIOCETHTOOL ? -EOPNOTSUPP : -ENOTTY;
	if (guest_get(t->tid, &q, arg) < 0)
		return -EFAULT;
	q.name[sizeof(q.name) - 1] = 0;
	if (cmd == SIOCGIFNAME) {
		if (q.u.i != 1)
			return -ENODEV;
		memset(q.name, 0, sizeof(q.name));
		memcpy(q.name, "lo", 2);
		return guest_put(t->tid, arg, &q);
	}
	switch (cmd) {
	case SIOCADDRT:
	case SIOCDELRT:
	case SIOCSIFFLAGS:
	case SIOCSIFADDR:
	case SIOCSIFNETMASK:
	case SIOCSIFBRDADDR:
	case SIOCSIFMTU:
	case SIOCSIFNAME:
	case SIOCSIFTXQLEN:
	case SIOCSIFHWADDR:
		return -EPERM;
	}
	if (ifreq_answer(&(struct linux_ifreq){ 0 }, cmd) < 0)
		return -ENOTTY;
	if (strcmp(q.name, "lo") != 0)
		return -ENODEV;
	r = ifreq_answer(&q, cmd);
	return r < 0 ? r : guest_put(t->tid, arg, &q);
}
