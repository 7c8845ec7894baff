/* Families between processes and about memory: System V objects, POSIX queues, many messages at
 * once, signal descriptors, other processes' memory, locked memory. */
#include "diff.h"

#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define KEY 0x1234abcd

static const struct sym get_flags[] = { S(IPC_CREAT), S(IPC_EXCL), S(0400), S(0200), S(0600), S(0060), S(0006) };
static const struct sym cmds[] = { S(IPC_STAT), S(IPC_STAT), S(IPC_SET), S(IPC_RMID), S(77), S(-1) };

static void fam_shm(void)
{
	static const struct sym sizes[] = { S(0), S(1), S(4096), S(5000), S(-1) };
	static const struct sym at[] = { S(0), S(SHM_RDONLY), S(SHM_RND), S(SHM_REMAP), S(SHM_EXEC), S(0x10) };
	char text[200], *p;
	struct shmid_ds ds;
	int id = -1, made = shmget(IPC_PRIVATE, 8192, IPC_CREAT | 0600);

	for (int i = 0; i < 5; i++) {
		const struct sym *s = pick(sizes), *c = pick(cmds), *a = pick(at);
		long f = pick_flags(get_flags, COUNT(get_flags), 30, text, sizeof(text));
		int which = chance(60) ? made : chance(50) ? id : 999999;

		memset(&ds, 0, sizeof(ds));
		switch (rnd(3)) {
		case 0:
			call("shmget(%s, %s, %s)", chance(50) ? "KEY" : "PRIVATE", s->name, text);
			id = shmget(chance(50) ? KEY : IPC_PRIVATE, (size_t)s->v, (int)f);
			res_sign(id);
			break;
		case 1:
			call("shmctl(%s, %s)", which == made ? "made" : which == id ? "id" : "none", c->name);
			ds.shm_perm.mode = 0640;
			res(shmctl(which, (int)c->v, chance(5) ? BAD_PTR : &ds));
			if (c->v == IPC_STAT)
				note(" %o size %zu n %lu", ds.shm_perm.mode, ds.shm_segsz, (unsigned long)ds.shm_nattch);
			break;
		default:
			call("shmat(%s, %s)", which == made ? "made" : which == id ? "id" : "none", a->name);
			p = shmat(which, chance(80) ? NULL : (void *)0x12345, (int)a->v);
			res_sign((long)p);
			if (p != (void *)-1) {
				call("shmdt");
				res(shmdt(p + (chance(10) ? 4096 : 0)));
			}
			break;
		}
	}
	shmctl(made, IPC_RMID, NULL);
	shmctl(shmget(KEY, 0, 0), IPC_RMID, NULL);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
}

static void fam_sem(void)
{
	static const struct sym counts[] = { S(0), S(1), S(3), S(32001), S(-1) };
	static const struct sym ctl[] = { S(GETVAL), S(SETVAL), S(GETALL), S(SETALL), S(GETPID), S(GETNCNT), S(GETZCNT), S(IPC_STAT), S(IPC_SET), S(99) };
	static const struct sym nums[] = { S(0), S(1), S(2), S(3), S(-1) };
	static const struct sym vals[] = { S(0), S(1), S(5), S(32767), S(32768), S(-1) };
	char text[200];
	int id = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600), other = -1;

	for (int i = 0; i < 6; i++) {
		const struct sym *n = pick(counts), *c = pick(ctl), *k = pick(nums), *v = pick(vals);
		long f = pick_flags(get_flags, COUNT(get_flags), 30, text, sizeof(text));
		unsigned short all[3] = { 1, 2, (unsigned short)v->v };
		struct semid_ds ds = { 0 };
		struct sembuf op[3];
		struct timespec ts = { chance(10) ? -1 : 0, 1000 };
		size_t ops = rnd(4);

		switch (rnd(4)) {
		case 0:
			call("semget(%s, %s)", n->name, text);
			if (other >= 0)
				semctl(other, 0, IPC_RMID);
			other = semget(chance(50) ? KEY : IPC_PRIVATE, (int)n->v, (int)f);
			res_sign(other);
			break;
		case 1:
		case 2:
			call("semctl(%s, %s, %s)", k->name, c->name, v->name);
			if (c->v == SETVAL)
				res(semctl(id, (int)k->v, SETVAL, (int)v->v));
			else if (c->v == GETPID)
				res_sign(semctl(id, (int)k->v, GETPID));
			else
				res(semctl(id, (int)k->v, (int)c->v, c->v == IPC_STAT || c->v == IPC_SET ? (void *)&ds : (void *)all));
			if (c->v == GETALL)
				note(" %u %u %u", all[0], all[1], all[2]);
			if (c->v == IPC_STAT)
				note(" %o n %lu", ds.sem_perm.mode, (unsigned long)ds.sem_nsems);
			break;
		default:
			call("semtimedop(%ld:", (long)ts.tv_sec);
			for (size_t m = 0; m < 3; m++) {
				op[m] = (struct sembuf){ (unsigned short)rnd(4), (short)((int)rnd(7) - 3), (short)(chance(50) ? IPC_NOWAIT : 0) };
				if (m < ops)
					note(" %u%+d%s", op[m].sem_num, op[m].sem_op, op[m].sem_flg ? "n" : "");
			}
			note(")");
			res(semtimedop(id, op, ops, &ts));
			break;
		}
	}
	semctl(id, 0, IPC_RMID);
	if (other >= 0)
		semctl(other, 0, IPC_RMID);
}

static void fam_msg(void)
{
	static const struct sym sizes[] = { S(0), S(1), S(100), S(8192), S(8193), S(-1) };
	static const struct sym types[] = { S(0), S(1), S(2), S(3), S(-1), S(-2), S(-3) };
	static const struct sym flags[] = { S(0), S(MSG_NOERROR), S(MSG_EXCEPT), S(MSG_COPY), S(MSG_NOERROR | MSG_EXCEPT) };
	static struct {
		long type;
		char text[9000];
	} m;
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

	for (int i = 0; i < 8; i++) {
		const struct sym *s = pick(sizes), *t = pick(types), *f = pick(flags), *c = pick(cmds);
		struct msqid_ds ds = { 0 };

		switch (rnd(5)) {
		case 0:
		case 1:
			m.type = t->v;
			call("msgsnd(%s, %s)", t->name, s->name);
			res(msgsnd(id, &m, (size_t)s->v, IPC_NOWAIT));
			break;
		case 2:
		case 3:
			call("msgrcv(%s, %s, %s)", s->name, t->name, f->name);
			m.type = 99;
			if (res(msgrcv(id, &m, (size_t)s->v, t->v, (int)f->v | IPC_NOWAIT)) >= 0)
				note(" type %ld", m.type);
			break;
		default:
			if (c->v == IPC_RMID && chance(80))
				break;
			call("msgctl(%s)", c->name);
			ds.msg_perm.mode = 0600;
			ds.msg_qbytes = 16384;
			res(msgctl(id, (int)c->v, &ds));
			if (c->v == IPC_STAT)
				note(" %o n %lu bytes %lu of %lu", ds.msg_perm.mode, (unsigned long)ds.msg_qnum, (unsigned long)ds.__msg_cbytes,
				     (unsigned long)ds.msg_qbytes);
			break;
		}
	}
	msgctl(id, IPC_RMID, NULL);
}

static void fam_mqueue(void)
{
	static const char *const names[] = { "/vivdiff", "/vivdiff", "/vivdiff", "vivdiff", "/", "", "/a/b", "/vivdiff2" };
	static const struct sym oflags[] = { S(O_CREAT), S(O_EXCL), S(O_RDWR), S(O_WRONLY), S(O_CLOEXEC) };
	static const struct sym lens[] = { S(0), S(1), S(64), S(65), S(8192) };
	static const struct sym prios[] = { S(0), S(1), S(32767), S(32768), S(-1) };
	static char buf[9000];
	char text[200];
	int q = -1;

	mq_unlink("/vivdiff");
	for (int i = 0; i < 8; i++) {
		const char *name = names[rnd(COUNT(names))];
		const struct sym *l = pick(lens), *p = pick(prios);
		long f = pick_flags(oflags, COUNT(oflags), 40, text, sizeof(text)) | O_NONBLOCK;
		struct mq_attr at = { .mq_maxmsg = (long)rnd(4), .mq_msgsize = chance(80) ? 64 : chance(50) ? 0 : -1 };
		unsigned prio = 77;
		bool attr = chance(80);

		switch (rnd(6)) {
		case 0:
		case 1:
			call("mq_open(%s, %s, %ld %ld %d)", name, text, at.mq_maxmsg, at.mq_msgsize, attr);
			if (q >= 0)
				close(q);
			q = (int)sys(SYS_mq_open, name[0] == '/' ? name + 1 : name, f, 0600, attr ? &at : NULL);
			res_sign(q);
			break;
		case 2:
			call("mq_timedsend(%s, %s)", l->name, p->name);
			res(sys(SYS_mq_timedsend, q, buf, l->v, p->v, NULL));
			break;
		case 3:
			call("mq_timedreceive(%s)", l->name);
			if (res(sys(SYS_mq_timedreceive, q, buf, l->v, &prio, NULL)) >= 0)
				note(" prio %u", prio);
			break;
		case 4:
			call("mq_getsetattr");
			memset(&at, 0, sizeof(at));
			res(sys(SYS_mq_getsetattr, q, NULL, &at));
			note(" %ld %ld %ld %ld", at.mq_flags, at.mq_maxmsg, at.mq_msgsize, at.mq_curmsgs);
			break;
		default:
			call("mq_unlink(%s)", name);
			res(sys(SYS_mq_unlink, name[0] == '/' ? name + 1 : name));
			break;
		}
	}
	mq_unlink("/vivdiff");
	mq_unlink("/vivdiff2");
}

static void fam_mmsg(void)
{
	static const struct sym times[] = { S(-2), S(0), S(-1), S(1000000000) };
	int sv[2];
	char data[64] = "0123456789", got[4][16];

	if (socketpair(AF_UNIX, chance(50) ? SOCK_DGRAM : SOCK_SEQPACKET, 0, sv))
		return;
	for (int i = 0; i < 6; i++) {
		struct mmsghdr m[4] = { 0 };
		struct iovec v[4];
		unsigned n = (unsigned)rnd(5), bad = (unsigned)rnd(8);
		const struct sym *t = pick(times);
		struct timespec ts = { 0, t->v };

		for (unsigned k = 0; k < 4; k++) {
			v[k] = (struct iovec){ data, k * 3 };
			m[k].msg_hdr.msg_iov = k == bad ? BAD_PTR : &v[k];
			m[k].msg_hdr.msg_iovlen = 1;
			m[k].msg_len = 99;
		}
		if (chance(50)) {
			call("sendmmsg(%u, bad %u)", n, bad);
			res(sys(SYS_sendmmsg, sv[0], chance(4) ? (void *)8 : m, n, MSG_DONTWAIT));
		} else {
			memset(got, 0, sizeof(got));
			for (unsigned k = 0; k < 4; k++)
				v[k] = (struct iovec){ got[k], 5 };
			call("recvmmsg(%u, bad %u, %s)", n, bad, t->name);
			res(sys(SYS_recvmmsg, sv[1], m, n, MSG_DONTWAIT | (chance(30) ? MSG_WAITFORONE : 0) | (chance(20) ? MSG_TRUNC : 0),
				t->v == -2 ? NULL : &ts));
			digest(got, sizeof(got));
		}
		for (unsigned k = 0; k < 4; k++)
			note(" %u/%x", m[k].msg_len, m[k].msg_hdr.msg_flags);
	}
}

static void fam_signalfd(void)
{
	static const struct sym sigs[] = { S(SIGUSR1), S(SIGUSR2), S(SIGCHLD), S(34), S(40), S(SIGKILL) };
	static const struct sym flags[] = { S(0), S(SFD_NONBLOCK), S(SFD_CLOEXEC), S(1) };
	sigset_t set, all;
	uint64_t seen = 0; /* by the descriptor: whose signals come to it */
	bool early = false; /* one was sent before it looked */
	int fd = -1;

	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 7; i++) {
		const struct sym *s = pick(sigs), *s2 = pick(sigs), *f = pick(flags);
		struct signalfd_siginfo si[3];
		long n, size;

		switch (rnd(4)) {
		case 0:
			sigemptyset(&set);
			sigaddset(&set, (int)s->v);
			sigaddset(&set, (int)s2->v);
			call("signalfd4(%s, %s %s, %s)", fd < 0 ? "new" : "old", s->name, s2->name, f->name);
			n = sys(SYS_signalfd4, fd, &set, chance(95) ? 8 : 7, f->v | (fd < 0 ? SFD_NONBLOCK : 0));
			res(n);
			if (n >= 0) {
				fd = (int)n;
				seen |= 1ull << s->v | 1ull << s2->v;
			}
			break;
		case 1:
			if (s->v == SIGKILL)
				break;
			early |= !(seen >> s->v & 1);
			call("raise(%s)", s->name);
			res(kill(getpid(), (int)s->v));
			break;
		default:
			if (fd < 0)
				break;
			size = (long)rnd(3) * 128 + (chance(15) ? 127 : 0);
			call("read(signalfd%s, %ld)", early ? " early" : "", size);
			n = res(read(fd, si, (size_t)size));
			for (long k = 0; k < n / 128; k++)
				note(" %u:%d:%d", si[k].ssi_signo, si[k].ssi_code, si[k].ssi_pid == (uint32_t)getpid());
			break;
		}
	}
}

static void fam_procvm(void)
{
	static char a[10000], b[10000];
	pid_t who = chance(85) ? getpid() : chance(50) ? 99999999 : -1;

	memset(a, 'a', sizeof(a));
	for (int i = 0; i < 3; i++) {
		struct iovec l[3], r[3];
		unsigned long ln = rnd(4), rn = rnd(4), flags = chance(5);
		bool write = chance(50);

		memset(b, 'b', sizeof(b));
		call("process_vm_%s(%s, {", write ? "writev" : "readv", who == getpid() ? "self" : "none");
		for (int k = 0; k < 3; k++) {
			l[k] = (struct iovec){ chance(6) ? BAD_PTR : (void *)(a + k * 3000), rnd(2900) };
			r[k] = (struct iovec){ chance(6) ? BAD_PTR : (void *)(b + k * 3000), rnd(2900) };
			if ((unsigned long)k < ln)
				note(" %zu%s", l[k].iov_len, l[k].iov_base == BAD_PTR ? "!" : "");
		}
		note("}, {");
		for (unsigned long k = 0; k < rn; k++)
			note(" %zu%s", r[k].iov_len, r[k].iov_base == BAD_PTR ? "!" : "");
		note("}, %lu)", flags);
		res(sys(write ? SYS_process_vm_writev : SYS_process_vm_readv, who, l, ln, r, rn, flags));
		digest(a, sizeof(a));
		digest(b, sizeof(b));
	}
}

static void fam_memlock(void)
{
	static const struct sym flags[] = { S(MCL_CURRENT), S(MCL_FUTURE), S(MCL_ONFAULT), S(8), S(0) };
	static const struct sym personas[] = { S(0xffffffff), S(0), S(ADDR_NO_RANDOMIZE), S(PER_LINUX32), S(READ_IMPLIES_EXEC), S(0x1234) };
	static const struct sym who[] = { S(RUSAGE_SELF), S(RUSAGE_CHILDREN), S(RUSAGE_THREAD), S(5), S(-2) };
	char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char vec[16] = { 0 };
	struct rusage ru;

	munmap(p + 5 * 4096, 4096);
	for (int i = 0; i < 4; i++) {
		const struct sym *f = pick(flags), *q = pick(personas), *w = pick(who);
		long at = (long)rnd(8), len = (long)rnd(5) * 4096 - (chance(20) ? 100 : 0), odd = chance(15) ? 7 : 0;

		switch (rnd(7)) {
		case 0:
			call("mlock(%ld+%ld, %ld)", at, odd, len);
			res(sys(SYS_mlock, p + at * 4096 + odd, len));
			break;
		case 1:
			call("mlock2(%ld, %ld, %s)", at, len, f->name);
			res(sys(SYS_mlock2, p + at * 4096, len, f->v));
			break;
		case 2:
			call("munlock(%ld+%ld, %ld)", at, odd, len);
			res(sys(SYS_munlock, p + at * 4096 + odd, len));
			break;
		case 3:
			call("munlockall");
			res(sys(SYS_munlockall));
			break;
		case 4:
			call("mincore(%ld+%ld, %ld)", at, odd, len);
			res(sys(SYS_mincore, p + at * 4096 + odd, len, chance(10) ? BAD_PTR : vec));
			break;
		case 5:
			call("personality(%s)", q->name);
			res(sys(SYS_personality, q->v));
			break;
		default:
			call("getrusage(%s)", w->name);
			res(sys(SYS_getrusage, w->v, chance(10) ? BAD_PTR : &ru));
			break;
		}
	}
}

const struct family ipc_families[] = {
	{ "shm", fam_shm, OWN, 60 },	     { "sem", fam_sem, OWN, 60 },	{ "msg", fam_msg, OWN, 60 },
	{ "mqueue", fam_mqueue, OWN, 60 },   { "mmsg", fam_mmsg, 0, 60 },	{ "signalfd", fam_signalfd, OWN, 60 },
	{ "procvm", fam_procvm, OWN, 60 },   { "memlock", fam_memlock, OWN, 60 }, { NULL, NULL, 0, 0 },
};
