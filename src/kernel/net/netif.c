/* Questions about interfaces (iface.h) by ioctl: SIOCGIFCONF and the SIOCGIF family. */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>

#include "kernel/net/iface.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/task.h"

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

static void addr_set(struct linux_ifreq *q, const struct ipaddr *a)
{
	memset(&q->u, 0, sizeof(q->u));
	q->u.in.sin_family = AF_INET;
	memcpy(&q->u.in.sin_addr, a->b + 12, 4);
}

static int64_t ifconf(struct task *t, uint64_t arg)
{
	struct linux_ifconf c;
	const struct iface *d;
	int32_t room, len = 0;

	if (guest_get(t->tid, &c, arg) < 0)
		return -EFAULT;
	room = c.buf ? c.len : INT32_MAX;
	for (unsigned i = 0; (d = iface_at(i)); i++) {
		struct linux_ifreq q = { 0 };

		if (room - len < (int32_t)sizeof(q))
			break;
		memcpy(q.name, d->name, sizeof(q.name));
		addr_set(&q, &d->four);
		if (c.buf && guest_put(t->tid, c.buf + (uint32_t)len, &q) < 0)
			return -EFAULT;
		len += (int32_t)sizeof(q);
	}
	c.len = len;
	return guest_put(t->tid, arg, &c);
}

/* Fills the answer: 0, -ENOTTY. */
static int ifreq_answer(struct linux_ifreq *q, unsigned cmd, const struct iface *d)
{
	struct ipaddr mask = ip_any4;

	switch (cmd) {
	case SIOCGIFFLAGS:
		q->u.flags = (int16_t)d->flags;
		return 0;
	case SIOCGIFADDR:
	case SIOCGIFDSTADDR:
		addr_set(q, &d->four);
		return 0;
	case SIOCGIFNETMASK:
		memset(mask.b + 12, 0xff, d->prefix4 / 8);
		addr_set(q, &mask);
		return 0;
	case SIOCGIFBRDADDR:
		addr_set(q, &d->bcast);
		return 0;
	case SIOCGIFMTU:
		q->u.i = (int32_t)d->mtu;
		return 0;
	case SIOCGIFMETRIC:
		q->u.i = 0;
		return 0;
	case SIOCGIFTXQLEN:
		q->u.i = 1000;
		return 0;
	case SIOCGIFINDEX:
		q->u.i = d->index;
		return 0;
	case SIOCGIFHWADDR:
		memset(&q->u, 0, sizeof(q->u));
		q->u.hw.type = d->type;
		memcpy(q->u.hw.mac, d->mac, sizeof(d->mac));
		return 0;
	case SIOCGIFMAP:
		memset(&q->u, 0, sizeof(q->u));
		return 0;
	}
	return -ENOTTY;
}

int64_t netif_ioctl(struct task *t, unsigned cmd, uint64_t arg)
{
	const struct iface *d;
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
		d = iface_by_index(q.u.i);
		if (!d)
			return -ENODEV;
		memcpy(q.name, d->name, sizeof(q.name));
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
	if (ifreq_answer(&(struct linux_ifreq){ 0 }, cmd, iface_at(0)) < 0)
		return -ENOTTY;
	d = iface_by_name(q.name, sizeof(q.name));
	if (!d)
		return -ENODEV;
	r = ifreq_answer(&q, cmd, d);
	return r < 0 ? r : guest_put(t->tid, arg, &q);
}
