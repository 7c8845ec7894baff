/* The cell's network: the channel between its kernel and viv-gate, and the gates that serve it.
 *
 * The kernel's end of the channel is there from the start. The other end stays with the keeper,
 * which lends it to a gate: one is started when there is something to read, so that a cell which
 * never uses its network costs nothing, and another one when it has died. Before that the kernel is
 * told that what it asked for is lost. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/gateca.h"
#include "keeper/keeper.h"
#include "policy/policy.h"
#include "wire/gate.h"

#define GATE_FD_CHANNEL 3
#define GATE_FD_SETTINGS 4
#define QUICK_NS (NSEC_PER_SEC / 10) /* a gate that lasts no longer has failed */
#define QUICK_MAX 10 /* such gates in a row: there is no other */

static struct source channel = { .fd = -1 }; /* readable: the cell wants a gate */
static struct source child = { .fd = -1 }; /* the pidfd of the gate */
static pid_t gate_pid;
static int64_t last_start;
static unsigned quick;

/* ---- settings ---- */

/* The host's servers, as resolv.conf(5) has them. */
static void servers_add(struct buf *to)
{
	FILE *f = fopen("/etc/resolv.conf", "re");
	char line[512], addr[128], text[160];

	while (f && fgets(line, sizeof(line), f)) {
		struct ip a;

		if (sscanf(line, "nameserver %127s", addr) != 1 || !ip_parse(addr, &a))
			continue;
		snprintf(text, sizeof(text), "server %s\n", addr);
		buf_add_text(to, text);
	}
	if (f)
		fclose(f);
}

/* Where certificates of authorities are that the gate believes: the host's, which it finds itself
 * unless SSL_CERT_FILE names another file, and those of VIV_CA_FILE. */
static void trust_add(struct buf *to)
{
	static const char *const names[] = { "SSL_CERT_FILE", "VIV_CA_FILE" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = getenv(names[i]);

		/* A line of the settings has words. */
		if (!path || path[0] != '/' || strpbrk(path, " \n"))
			continue;
		buf_add_text(to, i ? "trust " : "bundle ");
		buf_add_text(to, path);
		buf_add_text(to, "\n");
	}
}

/* A memory file with what gate/settings.c reads; -1. */
static int settings_write(void)
{
	struct buf text = { 0 };
	int fd = memfd_create("gate", MFD_CLOEXEC);

	servers_add(&text);
	trust_add(&text);
	gate_ca_add(&text);
	buf_add_text(&text, "\n");
	for (char **rule = keeper.o->policy; *rule; rule++) {
		buf_add_text(&text, *rule);
		buf_add_text(&text, "\n");
	}
	if (fd >= 0 &&
	    (write(fd, text.p, text.len) != (ssize_t)text.len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		fd = -1;
	}
	buf_free(&text);
	return fd;
}

/* ---- the gate ---- */

static _Noreturn void gate_exec(int program, int text)
{
	static char name[] = "viv-gate";
	char *argv[] = { name, NULL }, *envp[] = { NULL };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	program = fcntl(program, F_DUPFD_CLOEXEC, 10);
	text = fcntl(text, F_DUPFD_CLOEXEC, 10);
	if (program >= 0 && text >= 0 && dup2(channel.fd, GATE_FD_CHANNEL) >= 0 &&
	    dup2(text, GATE_FD_SETTINGS) >= 0 &&
	    syscall(SYS_close_range, GATE_FD_SETTINGS + 1, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		fexecve(program, argv, envp);
	_exit(126);
}

static void gate_ended(struct source *s, uint32_t events)
{
	struct gate_msg m = { .type = GATE_LOST };

	(void)events;
	source_close(s);
	while (waitpid(gate_pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)!send(channel.fd, &m, GATE_HEAD, MSG_NOSIGNAL | MSG_DONTWAIT);
	source_change(&channel, EPOLLIN);
}

static void gate_wanted(struct source *s, uint32_t events)
{
	struct err e = { 0 };
	int program, text, pidfd;
	int64_t now = clock_mono();

	(void)events;
	source_change(s, 0);
	quick = now - last_start < QUICK_NS ? quick + 1 : 0;
	last_start = now;
	if (quick == QUICK_MAX) {
		text_tell(false, "viv-gate ends again and again; the cell has no network", 64);
		return;
	}
	program = program_open("viv-gate", &e);
	text = settings_write();
	gate_pid = program >= 0 && text >= 0 ? fork() : -1;
	if (gate_pid == 0)
		gate_exec(program, text);
	if (program >= 0)
		close(program);
	if (text >= 0)
		close(text);
	pidfd = gate_pid > 0 ? (int)syscall(SYS_pidfd_open, gate_pid, 0) : -1;
	if (pidfd < 0 || source_add(&child, pidfd, EPOLLIN, gate_ended) < 0)
		text_tell(false, "cannot start viv-gate", 64);
}

/* Before the cell starts: its files have the certificate. */
static int ca_prepare(char **rules, struct err *e)
{
	struct policy p;
	int ret = 0;

	policy_init(&p);
	for (char **rule = rules; ret == 0 && *rule; rule++)
		ret = policy_parse(&p, *rule, strlen(*rule), "policy", 0, 0, e);
	if (ret == 0 && policy_opens(&p))
		ret = gate_ca_make(e);
	policy_fini(&p);
	return ret;
}

int gate_prepare(const struct run_options *o, int *ret_kernel_end, struct err *e)
{
	int pair[2];

	if (!o->policy || !o->policy[0])
		return 0;
	if (ca_prepare(o->policy, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s", strerror(errno));
	channel.fd = pair[0];
	*ret_kernel_end = pair[1];
	return 0;
}

int gate_follow(struct err *e)
{
	int fd = channel.fd;

	if (fd < 0)
		return 0;
	channel.fd = -1;
	if (source_add(&channel, fd, EPOLLIN, gate_wanted) < 0)
		return err_set(e, ERR_FAILED, "cannot watch the cell's network");
	return 0;
}
