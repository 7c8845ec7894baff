/* See disk_kernel.h. */
#include "keeper/disk_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/keeper.h"

int disk_kernel_start(struct rootfs *p, const struct run_tell *what, struct disk_kernel *t,
		      struct err *e)
{
	static char name[] = "tell";
	static char *argv[] = { name, NULL };
	struct run_options o = { .tell = *what,
				 .timeout_ns = what->most_ns,
				 .workdir = "/",
				 .hostname = "cell",
				 .argv = argv };
	int pipefd[2], status;

	/* It may get TERM, as everywhere else. */
	o.env = calloc(1, sizeof(*o.env));
	if (!o.env)
		return err_set(e, ERR_FAILED, "out of memory");
	t->failure = mmap(NULL, sizeof(*t->failure), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->failure == MAP_FAILED || pipe2(pipefd, O_CLOEXEC) < 0) {
		err_set(e, ERR_FAILED, "no pipe: %s", strerror(errno));
		if (t->failure != MAP_FAILED)
			munmap(t->failure, sizeof(*t->failure));
		free(o.env);
		return -1;
	}
	fflush(NULL);
	t->pid = fork();
	if (t->pid != 0)
		free(o.env);
	if (t->pid < 0) {
		close(pipefd[0]);
		close(pipefd[1]);
		munmap(t->failure, sizeof(*t->failure));
		return err_set(e, ERR_FAILED, "cannot fork: %s", strerror(errno));
	}
	if (t->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipefd[0]);
		/* A keeper that is about to start a cell is another one: who waits for that is not
		 * told of this. */
		if (keeper.ready >= 0)
			close(keeper.ready);
		keeper = (struct keeper){ .ready = -1 };
		o.tell.out = pipefd[1];
		status = run_cell(&o, p, t->failure);
		if (status >= 0)
			*t->failure = keeper.failure;
		_exit(status < 0 ? err_exit_guest(t->failure) : status);
	}
	close(pipefd[1]);
	t->fd = pipefd[0];
	return 0;
}

int disk_kernel_stop(struct disk_kernel *t)
{
	kill(t->pid, SIGKILL);
	return disk_kernel_end(t, NULL);
}

int disk_kernel_end(struct disk_kernel *t, struct err *e)
{
	struct err *said = t->failure;
	int status = SIGKILL;

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OWN;
	if (e && status && said->kind) {
		/* It may have been killed in the middle of a text. */
		*e = *said;
		e->message[sizeof(e->message) - 1] = e->cause[sizeof(e->cause) - 1] =
			e->remedy[sizeof(e->remedy) - 1] = '\0';
	} else if (e && status) {
		err_set(e, ERR_FAILED, "the kernel that reads it ended with status %d", status);
	}
	munmap(said, sizeof(*said));
	return status;
}
