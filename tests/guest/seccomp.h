/*
 * For programs that install seccomp filters. Filters are made of rules "call -> answer", everything
 * else is allowed.
 */
#ifndef GUEST_SECCOMP_H
#define GUEST_SECCOMP_H

#include "guest.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

struct rule {
	int nr;
	uint32_t answer;
};

static inline int filter_rules(unsigned op_flags, const struct rule *r, size_t n, uint32_t otherwise)
{
	struct sock_filter f[2 * 64 + 2];
	size_t at = 0;

	f[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n && i < 64; i++) {
		f[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r[i].nr, 0, 1);
		f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, r[i].answer);
	}
	f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	struct sock_fprog prog = { .len = (unsigned short)at, .filter = f };
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, op_flags, &prog);
}

#define FILTER(flags, ...)                                                                          \
	filter_rules(flags, (struct rule[]){ __VA_ARGS__ },                                         \
		     sizeof((struct rule[]){ __VA_ARGS__ }) / sizeof(struct rule), SECCOMP_RET_ALLOW)

static inline void no_new_privs(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		perror("no_new_privs");
}

/* In a child, so that the filter ends with it. */
#define IN_CHILD(what, ...)                                                                         \
	do {                                                                                        \
		fflush(stdout);                                                                     \
		pid_t pid_ = xfork();                                                               \
		if (pid_ == 0) {                                                                    \
			prctl(PR_SET_DUMPABLE, 0);                                                  \
			no_new_privs();                                                             \
			__VA_ARGS__;                                                                \
			fflush(stdout);                                                             \
			_exit(0);                                                                   \
		}                                                                                   \
		show_status(what, xwait(pid_));                                                     \
	} while (0)

#endif
