/* Runners as the host's processes: signalling them, learning of their end. */
#ifndef VIV_HOST_CHILD_H
#define VIV_HOST_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/base.h"

/* siginfo is 128 bytes as Linux lays them out; si_code must be what the host allows to another
 * process (SI_QUEUE). */
int host_tgsigqueue(pid_t tgid, pid_t tid, int sig, const void *siginfo);
int host_sigqueue(pid_t pid, int sig, const void *siginfo);
int host_kill(pid_t pid, int sig);
/* Is tid a living thread of process tgid? A process is a thread of itself. */
bool host_is_thread(pid_t tgid, pid_t tid);

struct host_end {
	pid_t pid;
	int code; /* CLD_EXITED, CLD_KILLED, CLD_DUMPED, CLD_STOPPED, CLD_CONTINUED */
	int status; /* exit code or signal */
	struct rusage usage;
};
/* The next change of state of any child: 1, 0 when there is none, -ECHILD. */
int host_wait_any(struct host_end *out);
/* A descriptor that is readable after SIGCHLD (which is blocked from then on). */
int host_sigchld_fd(void);
void host_sigchld_drain(int fd);

/* Signal sets of a thread as the host keeps them. 0 or -errno. */
struct host_sigs {
	uint64_t blocked, ignored, caught;
};
int host_thread_sigs(int proc_fd, pid_t pid, pid_t tid, struct host_sigs *out);
/* The same for a quarter of the cost, true of sig (1 to 64) and the reserved signal; other signals
 * above 31 may be missing. */
int host_thread_sigs_of(int proc_fd, pid_t pid, pid_t tid, int sig, struct host_sigs *out);
/* Closes what it keeps open of the last threads that were asked for. */
void host_thread_sigs_forget(void);

#endif
