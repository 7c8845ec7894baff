/* The last stage of isolation: the seccomp filter of the kernel itself.
 *
 * The program is made at build time (tools/gen-kernel-filter.c says what it allows, traps and
 * kills for). A trapped call is not made, and ends the kernel with a message that names it, so
 * that a report is useful. Allowed calls without argument checks are answered from the host's
 * bitmap and cost nothing. Left out: paths and pointers, which a filter cannot see; namespaces
 * and the empty root are for those. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "host/isolate.h"

static const struct sock_filter program[] = {
#include "kernel_filter.h"
};

static void denied(int sig, siginfo_t *si, void *context)
{
	struct ctl_msg m = { .type = CTL_FAIL, .a = 125 };

	(void)sig;
	(void)context;
	snprintf(m.text, sizeof(m.text),
		 "the cell's kernel made system call %d, which it is not allowed (at %p)" REMEDY
		 "please "
		 "report this",
		 si->si_syscall, si->si_call_addr);
	(void)!sendto(FD_CONTROL, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	_exit(125);
}

/* The terminal of the caller (never TIOCSTI, which would type on it), queues, and the
 * notifications:
 * #ioctls: TCGETS TCSETS TCGETS2 TCSETS2 TCGETA TCSETA TCXONC TCFLSH TIOCGWINSZ TIOCSWINSZ
 * #ioctls: TIOCGETD TIOCOUTQ FIONREAD FIONBIO FICLONE SECCOMP_IOCTL_NOTIF_RECV
 * #ioctls: SECCOMP_IOCTL_NOTIF_SEND SECCOMP_IOCTL_NOTIF_ID_VALID SECCOMP_IOCTL_NOTIF_ADDFD
 * #ioctls: SECCOMP_IOCTL_NOTIF_SET_FLAGS
 * #syscalls: sendto exit_group ioctl */
int filter_install(void)
{
	struct sock_fprog prog = { .len = ARRAY_LEN(program),
				   .filter = (struct sock_filter *)program };
	struct sigaction sa = { .sa_sigaction = denied, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGSYS, &sa, NULL) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return -errno;
	return 0;
}
