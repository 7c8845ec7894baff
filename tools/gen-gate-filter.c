/* Writes the seccomp filter of viv-gate as a C array for gate/isolate.c, from the lists that
 * tools/gen-seccomp collected of the gate's sources. It runs at build time.
 *
 * A gate is there to use the host's network, so the rules are about what kind of use: sockets of
 * IPv4 and IPv6 for TCP and UDP, and nothing else of the network. It shares the host's network
 * namespace, where programs of the host listen at abstract addresses of AF_UNIX: it can make no
 * socket of AF_UNIX but a pair, and none of a kind that can be sent anywhere. It listens nowhere.
 * Descriptors come and go by the channels alone, socket options are those that the sources name
 * ("#sockopts: LEVEL.NAME"); no memory becomes executable. Files give ENOENT without being
 * looked for, as libraries like to try. What a captured gate would want kills, and comes first, so
 * that no comment can allow it. The rest is trapped, and gate/isolate.c says which call it was. */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "wire/gate.h"
#include "genfilter.h"

/* clang-format off */
static const int deadly[] = {
	/* processes and programs */
	NR(clone), NR(clone3), NR(fork), NR(vfork), NR(execve), NR(execveat), NR(ptrace), NR(process_madvise),
	NR(process_vm_readv), NR(process_vm_writev), NR(pidfd_open), NR(pidfd_getfd), NR(pidfd_send_signal), NR(kcmp),
	NR(personality), NR(seccomp), NR(kill), NR(setpgid), NR(setsid),
	/* the network: it asks others and serves nobody */
	NR(bind), NR(listen), NR(accept), NR(accept4),
	/* mounts, namespaces, ids */
	NR(mount), NR(umount2), NR(pivot_root), NR(chroot), NR(fsopen), NR(fsconfig), NR(fsmount), NR(fspick),
	NR(open_tree), NR(move_mount), NR(mount_setattr), NR(name_to_handle_at), NR(open_by_handle_at), NR(fanotify_init),
	NR(unshare), NR(setns), NR(capset), NR(setuid), NR(setgid), NR(setreuid), NR(setregid), NR(setresuid),
	NR(setresgid), NR(setfsuid), NR(setfsgid), NR(setgroups), NR(sethostname), NR(setdomainname),
	/* the inside of the host's kernel */
	NR(bpf), NR(perf_event_open), NR(userfaultfd), NR(io_uring_setup), NR(io_uring_enter), NR(io_uring_register),
	NR(keyctl), NR(add_key), NR(request_key), NR(init_module), NR(finit_module), NR(delete_module), NR(kexec_load),
	NR(kexec_file_load), NR(reboot), NR(swapon), NR(swapoff), NR(iopl), NR(ioperm), NR(modify_ldt), NR(syslog),
	NR(settimeofday), NR(clock_settime), NR(adjtimex), NR(acct), NR(quotactl), NR(memfd_create), NR(memfd_secret),
	NR(shmget), NR(shmat), NR(msgget), NR(semget), NR(mq_open),
};

/* Not made: the answer is that there is no such file. */
static const int files[] = {
	NR(open), NR(openat), NR(openat2), NR(creat), NR(access), NR(faccessat), NR(faccessat2), NR(stat), NR(lstat),
	NR(newfstatat), NR(statx), NR(readlink), NR(readlinkat), NR(chdir), NR(getcwd), NR(unlink), NR(unlinkat),
	NR(mkdir), NR(mkdirat), NR(rename), NR(renameat), NR(renameat2), NR(inotify_add_watch),
};

static const int allowed[] = {
#define ALLOW(name) NR(name),
#define IOCTL(name)
#define SOCKOPT(level, name)
#include "gate_seccomp.h"
#undef ALLOW
#undef IOCTL
#undef SOCKOPT
#ifdef SANITIZED
	NR(sigaltstack), NR(sched_yield), NR(rt_sigaction), NR(rt_sigprocmask), NR(tgkill), NR(munmap), NR(madvise),
#endif
};

static const unsigned long ioctls[] = {
	FIONREAD,
#define ALLOW(name)
#define IOCTL(name) name,
#define SOCKOPT(level, name)
#include "gate_seccomp.h"
#undef ALLOW
#undef IOCTL
#undef SOCKOPT
};

static const struct { int level, name; } sockopts[] = {
#define ALLOW(name)
#define IOCTL(name)
#define SOCKOPT(level, name) { level, name },
#include "gate_seccomp.h"
#undef ALLOW
#undef IOCTL
#undef SOCKOPT
};
/* clang-format on */

static void allow(int nr, unsigned n, const struct scmp_arg_cmp *args)
{
	check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, n, args), "call", nr);
}

/* An argument that the host reads as an int: the upper half does not count. */
static struct scmp_arg_cmp int_is(unsigned arg, int value)
{
	return SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffUL, (unsigned)value);
}

static bool is_in(int nr, const int *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == nr)
			return true;
	return false;
}

/* Streams and datagrams of the two families, with their own protocol; pairs that stay pairs: one of
 * datagrams could be sent to any address. */
static void rules_sockets(void)
{
	static const struct {
		int family, type, protocol;
	} kinds[] = {
		{ AF_INET, SOCK_STREAM, 0 },  { AF_INET, SOCK_STREAM, IPPROTO_TCP },
		{ AF_INET, SOCK_DGRAM, 0 },   { AF_INET, SOCK_DGRAM, IPPROTO_UDP },
		{ AF_INET6, SOCK_STREAM, 0 }, { AF_INET6, SOCK_STREAM, IPPROTO_TCP },
		{ AF_INET6, SOCK_DGRAM, 0 },  { AF_INET6, SOCK_DGRAM, IPPROTO_UDP },
	};
	static const int pairs[] = { SOCK_STREAM, SOCK_SEQPACKET };
	static const int modes[] = { 0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC };

	for (size_t m = 0; m < LEN(modes); m++) {
		for (size_t i = 0; i < LEN(kinds); i++)
			allow(NR(socket), 3,
			      (struct scmp_arg_cmp[]){ int_is(0, kinds[i].family),
						       int_is(1, kinds[i].type | modes[m]),
						       int_is(2, kinds[i].protocol) });
		for (size_t i = 0; i < LEN(pairs); i++)
			allow(NR(socketpair), 3,
			      (struct scmp_arg_cmp[]){ int_is(0, AF_UNIX),
						       int_is(1, pairs[i] | modes[m]),
						       int_is(2, 0) });
	}
	/* Descriptors are passed over the channels alone. */
	for (int fd = GATE_FD_CHANNEL; fd <= GATE_FD_CONTROL; fd++) {
		if (fd == GATE_FD_SETTINGS)
			continue;
		allow(NR(sendmsg), 1, (struct scmp_arg_cmp[]){ int_is(0, fd) });
		allow(NR(recvmsg), 1, (struct scmp_arg_cmp[]){ int_is(0, fd) });
	}
	for (size_t i = 0; i < LEN(sockopts); i++) {
		const struct scmp_arg_cmp args[] = { int_is(1, sockopts[i].level),
						     int_is(2, sockopts[i].name) };

		allow(NR(setsockopt), 2, args);
		allow(NR(getsockopt), 2, args);
	}
}

static void rules_descriptors(void)
{
	static const int commands[] = { F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC };

	for (size_t i = 0; i < LEN(commands); i++)
		allow(NR(fcntl), 1, (struct scmp_arg_cmp[]){ int_is(1, commands[i]) });
	allow(NR(fcntl), 2,
	      (struct scmp_arg_cmp[]){ int_is(1, F_SETFL),
				       SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0) });
	for (size_t i = 0; i < LEN(ioctls); i++)
		allow(NR(ioctl), 1, (struct scmp_arg_cmp[]){ int_is(1, (int)ioctls[i]) });
}

static void rules_memory(void)
{
	static const int advice[] = { MADV_NORMAL,   MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
				      MADV_DONTNEED, MADV_FREE,	  MADV_HUGEPAGE,   MADV_NOHUGEPAGE,
				      MADV_DONTDUMP, MADV_DODUMP };
	const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	allow(NR(mprotect), 1, &data);
	/* Its own memory, nothing that others share. */
	allow(NR(mmap), 2,
	      (struct scmp_arg_cmp[]){ data, SCMP_A3(SCMP_CMP_MASKED_EQ,
						     MAP_ANONYMOUS | MAP_PRIVATE | MAP_HUGETLB,
						     MAP_ANONYMOUS | MAP_PRIVATE) });
	/* Not MADV_REMOVE: the journal's ring is a file, and its reader needs all of it. */
	for (size_t i = 0; i < LEN(advice); i++)
		allow(NR(madvise), 1, (struct scmp_arg_cmp[]){ int_is(2, advice[i]) });
}

static void rules(void)
{
	static const int special[] = { NR(socket),     NR(socketpair), NR(sendmsg), NR(recvmsg),
				       NR(setsockopt), NR(getsockopt), NR(fcntl),   NR(ioctl),
				       NR(mmap),       NR(mprotect),   NR(madvise) };

	for (size_t i = 0; i < LEN(deadly); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, deadly[i], 0), "call",
		      deadly[i]);
	rules_sockets();
	rules_descriptors();
	rules_memory();
	for (size_t i = 0; i < LEN(files); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOENT), files[i], 0), "call", files[i]);
	for (size_t i = 0; i < LEN(allowed); i++)
		if (!is_in(allowed[i], deadly, LEN(deadly)) &&
		    !is_in(allowed[i], files, LEN(files)) &&
		    !is_in(allowed[i], special, LEN(special)))
			allow(allowed[i], 0, NULL);
}

int main(void)
{
	filter_begin("gen-gate-filter");
	rules();
	return filter_write();
}
