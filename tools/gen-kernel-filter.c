/* Writes the kernel's own seccomp filter as a C array for host/filter.c, from the lists that
 * tools/gen-seccomp collected. It runs at build time with libseccomp, which arranges the calls
 * as a tree: installing a plain list costs half a millisecond, because the host tries every call
 * number on the filter once.
 *
 * Three answers: what the kernel's code names is allowed, ioctl for named commands only, recvmsg on
 * the control channel and the gate's only, sending without an address, a few options of sockets,
 * clone for a thread of its own only, kcmp for memory only, no memory becomes executable, no file
 * gets a set-id bit, openat2 takes its arguments from memory that does not change (host/openhow.h),
 * and huge pages stay the host's. What no mistake of ours would call,
 * and a captured kernel would want, kills; these come first, so that no comment can allow them. The
 * rest is trapped, and host/filter.c says which call it was. */
#include <linux/fs.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "wire/bootspec.h"
#include "host/openhow.h"
#include "host/sockopt.h"
#include "host/worker.h"
#include "genfilter.h"

/* Newer than the headers of Debian 12. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464
#endif
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

/* For TCGETS2 and TCSETS2, which need its size; glibc does not have it. */
struct termios2 {
	unsigned flags[4];
	unsigned char line, cc[19];
	unsigned speeds[2];
};

/* clang-format off */
static const int deadly[] = {
	/* processes and programs */
	NR(clone3), NR(fork), NR(vfork), NR(execve), NR(execveat), NR(ptrace), NR(process_madvise),
	NR(personality),
	/* the network */
	NR(socket), NR(socketpair), NR(connect), NR(bind), NR(listen), NR(accept), NR(accept4),
	/* mounts, namespaces, ids */
	NR(mount), NR(umount2), NR(pivot_root), NR(chroot), NR(fsopen), NR(fsconfig), NR(fsmount), NR(fspick),
	NR(open_tree), NR(move_mount), NR(mount_setattr), NR(open_by_handle_at), NR(fanotify_init), NR(unshare), NR(setns),
	NR(capset), NR(setuid), NR(setgid), NR(setreuid), NR(setregid), NR(setresuid), NR(setresgid), NR(setfsuid),
	NR(setfsgid), NR(setgroups), NR(sethostname), NR(setdomainname),
	/* the inside of the host's kernel */
	NR(bpf), NR(perf_event_open), NR(userfaultfd), NR(io_uring_setup), NR(io_uring_enter), NR(io_uring_register),
	NR(keyctl), NR(add_key), NR(request_key), NR(init_module), NR(finit_module), NR(delete_module), NR(kexec_load),
	NR(kexec_file_load), NR(reboot), NR(swapon), NR(swapoff), NR(iopl), NR(ioperm), NR(modify_ldt), NR(syslog),
	NR(settimeofday), NR(clock_settime), NR(adjtimex), NR(acct), NR(quotactl),
};

static const int allowed[] = {
#define ALLOW(name) NR(name),
#define IOCTL(name)
#include "kernel_seccomp.h"
#undef ALLOW
#undef IOCTL
#ifdef SANITIZED
	NR(sigaltstack), NR(open), NR(sched_yield), NR(readlink), NR(rt_sigaction), NR(rt_sigprocmask), NR(tgkill),
#endif
};

static const unsigned long ioctls[] = {
#define ALLOW(name)
#define IOCTL(name) name,
#include "kernel_seccomp.h"
#undef ALLOW
#undef IOCTL
};
/* clang-format on */

static const struct {
	int nr, level, opt;
} sockopts[] = {
#define X(level, opt) { NR(setsockopt), level, opt },
	SOCKOPTS_SET(X)
#undef X
#define X(level, opt) { NR(getsockopt), level, opt },
		SOCKOPTS_GET(X)
#undef X
};

static bool is_deadly(int nr)
{
	for (size_t i = 0; i < LEN(deadly); i++)
		if (deadly[i] == nr)
			return true;
	return false;
}

static bool is_allowed(int nr)
{
	for (size_t i = 0; i < LEN(allowed); i++)
		if (allowed[i] == nr)
			return true;
	return false;
}

/* Set-id bits: a host directory that was granted belongs to somebody, and files with such a bit
 * would run with his rights. What guests set is in the records of the cell's disk, or not kept.
 * Which argument the mode is: */
static const struct {
	int nr;
	unsigned arg;
} with_mode[] = {
	{ NR(open), 2 },    { NR(openat), 3 },	 { NR(creat), 1 },     { NR(mkdir), 1 },
	{ NR(mkdirat), 2 }, { NR(mknod), 1 },	 { NR(mknodat), 2 },   { NR(chmod), 1 },
	{ NR(fchmod), 1 },  { NR(fchmodat), 2 }, { NR(fchmodat2), 2 },
};

static void rules_modes(void)
{
	for (size_t i = 0; i < LEN(with_mode); i++)
		if (is_allowed(with_mode[i].nr))
			check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, with_mode[i].nr, 1,
					       SCMP_CMP(with_mode[i].arg, SCMP_CMP_MASKED_EQ, 06000,
							0)),
			      "call", with_mode[i].nr);
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(openat2), 2,
			       SCMP_A2(SCMP_CMP_MASKED_EQ,
				       ~(OPENHOW_END - OPENHOW_BASE - OPENHOW_STEP), OPENHOW_BASE),
			       SCMP_A3(SCMP_CMP_EQ, OPENHOW_SIZE)),
	      "call", NR(openat2));
}

/* Nothing executable, nothing below OPENHOW_END is touched, no huge pages. */
static void rules_memory(void)
{
	/* Not MADV_REMOVE: the journal's ring is a file, and its reader needs all of it. */
	static const int advice[] = { MADV_NORMAL,     MADV_DONTNEED, MADV_FREE,  MADV_HUGEPAGE,
				      MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP };
	const struct scmp_arg_cmp above = SCMP_A0(SCMP_CMP_GE, OPENHOW_END),
				  data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(mprotect), 2, above, data), "call",
	      NR(mprotect));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(mmap), 3, above, data,
			       SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, 0)),
	      "call", NR(mmap));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(mmap), 3, SCMP_A0(SCMP_CMP_EQ, 0), data,
			       SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB | MAP_FIXED, 0)),
	      "call", NR(mmap));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(munmap), 1, above), "call", NR(munmap));
	for (size_t i = 0; i < LEN(advice); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(madvise), 2, above,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffff,
					       (scmp_datum_t)advice[i])),
		      "call", NR(madvise));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(memfd_create), 1,
			       SCMP_A1(SCMP_CMP_MASKED_EQ, MFD_HUGETLB, 0)),
	      "call", NR(memfd_create));
}

/* Allowed in some forms only, by the rules for it. */
static bool is_special(int nr)
{
	static const int special[] = { NR(ioctl),	 NR(mmap),    NR(mprotect),
				       NR(munmap),	 NR(madvise), NR(recvmsg),
				       NR(memfd_create), NR(openat2), NR(setsockopt),
				       NR(getsockopt),	 NR(sendto),  NR(sendmsg) };

	for (size_t i = 0; i < LEN(special); i++)
		if (special[i] == nr)
			return true;
	for (size_t i = 0; i < LEN(with_mode); i++)
		if (with_mode[i].nr == nr)
			return true;
	return false;
}

/* A connection of the cell stays the one that the gate made: nothing is sent with an address, and
 * a few options are enough. */
static void rules_sockets(void)
{
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(sendto), 2,
			       SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0),
			       SCMP_A4(SCMP_CMP_EQ, 0)),
	      "call", NR(sendto));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(sendmsg), 1,
			       SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0)),
	      "call", NR(sendmsg));
	for (size_t i = 0; i < LEN(sockopts); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, sockopts[i].nr, 2,
				       SCMP_A1(SCMP_CMP_EQ, (unsigned)sockopts[i].level),
				       SCMP_A2(SCMP_CMP_EQ, (unsigned)sockopts[i].opt)),
		      "option", sockopts[i].opt);
}

static void rules(void)
{
	for (size_t i = 0; i < LEN(deadly); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, deadly[i], 0), "call",
		      deadly[i]);
	check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, NR(clone), 1,
			       SCMP_A0(SCMP_CMP_NE, WORKER_CLONE_FLAGS)),
	      "call", NR(clone));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(clone), 1,
			       SCMP_A0(SCMP_CMP_EQ, WORKER_CLONE_FLAGS)),
	      "call", NR(clone));
	/* Whether two runners share memory; nothing else of what they have is compared. */
	check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, NR(kcmp), 1,
			       SCMP_A2(SCMP_CMP_NE, KCMP_VM)),
	      "call", NR(kcmp));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(kcmp), 1, SCMP_A2(SCMP_CMP_EQ, KCMP_VM)),
	      "call", NR(kcmp));
	rules_memory();
	rules_modes();
	rules_sockets();
	for (size_t i = 0; i < LEN(ioctls); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(ioctl), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, ioctls[i])),
		      "ioctl", (long)ioctls[i]);
	/* Descriptors come from the control channel and the gate's alone. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(recvmsg), 1,
			       SCMP_A0(SCMP_CMP_EQ, FD_CONTROL)),
	      "call", NR(recvmsg));
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, NR(recvmsg), 1, SCMP_A0(SCMP_CMP_EQ, FD_GATE)),
	      "call", NR(recvmsg));
	for (size_t i = 0; i < LEN(allowed); i++)
		if (!is_deadly(allowed[i]) && !is_special(allowed[i]))
			check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0), "call",
			      allowed[i]);
}

int main(void)
{
	filter_begin("gen-kernel-filter");
	rules();
	return filter_write();
}
