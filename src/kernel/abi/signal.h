/* Signals as they lie in guest memory (x86-64). */
#ifndef VIV_KERNEL_ABI_SIGNAL_H
#define VIV_KERNEL_ABI_SIGNAL_H

#include <stdint.h>

#define LINUX_NSIG 64
#define SIGBIT(sig) (1UL << ((sig)-1))

struct linux_siginfo {
	int32_t signo, err, code, pad;
	union {
		uint8_t payload[32]; /* all that Linux itself carries */
		uint8_t raw[112];
		struct {
			int32_t pid;
			uint32_t uid;
			uint64_t value;
		} rt; /* kill, sigqueue */
		struct {
			int32_t pid;
			uint32_t uid;
			int32_t status, pad2;
			int64_t utime, stime;
		} chld;
		struct {
			int32_t tid, overrun;
			uint64_t value;
			/* Linux's si_sys_private: which of the timer's signals it is */
			uint32_t seq;
		} timer;
		struct {
			uint64_t addr;
			int16_t lsb;
		} fault;
		struct {
			int64_t band;
			int32_t fd;
		} poll;
	} u;
};
_Static_assert(sizeof(struct linux_siginfo) == 128, "siginfo");

struct linux_sigaction {
	uint64_t handler, flags, restorer, mask;
};
_Static_assert(sizeof(struct linux_sigaction) == 32, "sigaction");

#define LINUX_SIG_DFL 0UL
#define LINUX_SIG_IGN 1UL

#endif
