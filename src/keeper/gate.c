/* The cell's network: the channel between its kernel and viv-gate, and the gates that serve it.
 *
 * The kernel's end of the channel is there from the start, whether or not the cell is granted a
 * network: it may be later. The other end stays with the keeper,
 * which lends it to a gate: one is started when there is something to read, so that a cell which
 * never uses its network costs nothing, and another one when it has died. Before that the kernel is
 * told that what it asked for is lost. Gates that fail one after the other are not started for
 * ever: after some there is a pause, in which the cell has no network, then another try.
 *
 * A gate is made as a kernel is (host/isolate.h): it has its own namespaces but the network's, and,
 * if we are root, a uid of its own. It is not in the cell's cgroup but in ours: what the guest uses
 * up must not end it, and its own memory is bounded by a limit of its process (gate/isolate.c). It
 * dies with us, as the kernel does, and is killed when the cell ends. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "host/isolate.h"
#include "keeper/gate.h"
#include "keeper/gateca.h"
#include "keeper/gatenames.h"
#include "keeper/journal.h"
#include "keeper/secrets.h"
#include "policy/policy.h"
#include "wire/gate.h"

#define LONG_NS (60 * NSEC_PER_SEC) /* a gate that lasts as long has not failed at once */
#define QUICK_MAX 10 /* others in a row: then there is none for a while */
#define PAUSE_MIN 10u /* seconds, doubled each time */
#define PAUSE_MAX 320u
#define LAST_MS 500 /* for its last records */
#define LINES_MAX 20 /* that a gate may write to its standard error */

static struct source channel = { .fd = -1 }; /* readable: the cell wants a gate */
static struct source child = { .fd = -1 }; /* the pidfd of the gate */
static struct source said = { .fd = -1 }; /* its standard error */
static struct source pausing = { .fd = -1 }; /* a timer: no gate is started before */
static pid_t gate_pid;
static int64_t last_start;
static unsigned quick, lines, pause_s = PAUSE_MIN;
static int bound = -1; /* a memory file that each gate reads and adds to */
static bool granted; /* the cell has a network, and the channel is watched */
static bool lost; /* the kernel has yet to hear that a gate is gone */
static bool waits; /* for a journal that cannot be written */

/* ---- settings ---- */

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

/* The addresses of this host. Those of loopback are special in any case, as a range. */
static bool own_add(struct buf *to)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		char addr[INET6_ADDRSTRLEN], line[80];
		const void *at = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if (family == AF_INET6)
			at = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr;
		if ((family != AF_INET && family != AF_INET6) ||
		    !inet_ntop(family, at, addr, sizeof(addr)) || !strncmp(addr, "127.", 4) ||
		    !strcmp(addr, "::1"))
			continue;
		snprintf(line, sizeof(line), "own %s\n", addr);
		buf_add_text(to, line);
	}
	freeifaddrs(all);
	return true;
}

int gate_settings_write(char *const *rules)
{
	struct buf text = { 0 };
	int fd = memfd_create("gate", MFD_CLOEXEC);
	bool whole = own_add(&text);

	gate_names_add(keeper.o, &text);
	trust_add(&text);
	gate_ca_add(&text);
	secrets_write(&text);
	buf_add_text(&text, "\n");
	for (; *rules; rules++) {
		buf_add_text(&text, *rules);
		buf_add_text(&text, "\n");
	}
	if (fd >= 0 && (!whole || write(fd, text.p, text.len) != (ssize_t)text.len ||
			lseek(fd, 0, SEEK_SET))) {
		close(fd);
		fd = -1;
	}
	buf_free(&text);
	return fd;
}

/* ---- the gate ---- */

/* A warning, shown to who sits at the terminal and kept as an event. */
static void gate_tell(const char *text, size_t n)
{
	char line[400];

	if (!keeper.o->quiet)
		text_tell(false, text, n);
	text_clean(text, n, line, sizeof(line));
	event_add(KEEP_EV_LOG, NULL, 0, 0, line);
}

/* What the gate writes to its standard error: lines, a few of each gate. It may be a captured one,
 * so it has no terminal. */
static void gate_said(struct source *s, uint32_t events)
{
	char text[512], *line = text;
	ssize_t n = read(s->fd, text, sizeof(text) - 1);

	(void)events;
	text[MAX(n, 0)] = '\0';
	while (n > 0 && *line && lines < LINES_MAX) {
		size_t len = strcspn(line, "\n");
		size_t head = !strncmp(line, "viv: ", 5) ? 5 : 0;

		if (len > head) {
			gate_tell(line + head, len - head);
			lines++;
		}
		line += len + (line[len] == '\n');
	}
	if ((n < 0 && errno != EAGAIN && errno != EINTR) || n == 0 || lines >= LINES_MAX)
		source_close(s);
}

/* When there is no gate, the channel is watched; it says nothing else meanwhile. */
static void channel_watch(void)
{
	source_change(&channel, child.fd >= 0 || waits ? 0 : EPOLLIN | (lost ? EPOLLOUT : 0u));
}

void gate_retry(void)
{
	waits = false;
	channel_watch();
}

/* The kernel has to hear of each gate that is gone, or it waits for ever for what it asked. */
static void lost_tell(void)
{
	struct gate_msg m = { .type = GATE_LOST };

	if (lost && send(channel.fd, &m, GATE_HEAD, MSG_NOSIGNAL | MSG_DONTWAIT) == GATE_HEAD)
		lost = false;
}

static void pause_over(struct source *s, uint32_t events)
{
	(void)events;
	source_close(s);
	quick = 0;
}

/* Too many gates have failed: for a while there is none, and whatever is asked is lost at once. */
static void pause_begin(void)
{
	struct itimerspec t = { .it_value.tv_sec = pause_s };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	char text[96];

	snprintf(text, sizeof(text),
		 "viv-gate ends again and again; the cell has no network for %u seconds", pause_s);
	gate_tell(text, sizeof(text));
	pause_s = MIN(pause_s * 2, PAUSE_MAX);
	if (fd >= 0 && (timerfd_settime(fd, 0, &t, NULL) < 0 ||
			source_add(&pausing, fd, EPOLLIN, pause_over) < 0))
		close(fd);
}

static void gate_failed(void)
{
	if (++quick >= QUICK_MAX && pausing.fd < 0)
		pause_begin();
	lost = true;
	lost_tell();
	channel_watch();
}

static void gate_ended(struct source *s, uint32_t events)
{
	int64_t lasted = clock_mono() - last_start;

	(void)events;
	source_close(s);
	/* What it said last. */
	if (said.fd >= 0)
		gate_said(&said, EPOLLIN);
	source_close(&said);
	while (waitpid(gate_pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (lasted >= LONG_NS)
		quick = 0, pause_s = PAUSE_MIN;
	gatectl_last();
	journal_gate_end();
	gatectl_gone();
	gate_failed();
}

/* Its descriptors (wire/gate.h); borrowed. 0 or -errno. */
static int gate_spawn(int program, int null, int text, int control, int err_pipe, const int ring[2])
{
	int fds[] = { null, null, err_pipe, channel.fd, text, control, bound, ring[0], ring[1] };
	struct isolate_spawn spawn = { .program_fd = program,
				       .gate = true,
				       .fds = fds,
				       .nfds = ARRAY_LEN(fds),
				       .control = STDERR_FILENO,
				       .cgroup_fd = -1 };
	struct isolated gate;
	int err;

	isolate_ids(&spawn.uid, &spawn.gid);
	err = isolate_spawn(&spawn, &gate);
	if (err)
		return err;
	gate_pid = gate.pid;
	return source_add(&child, gate.pidfd, EPOLLIN, gate_ended);
}

static void close_all(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Started or not: what became of it. */
static void gate_started(int err, const char *why)
{
	char line[512];

	if (!err) {
		channel_watch();
		return;
	}
	snprintf(line, sizeof(line), "cannot start viv-gate: %.400s", why);
	gate_tell(line, sizeof(line));
	quick = QUICK_MAX;
	gatectl_gone();
	gate_failed();
}

static void gate_start(void)
{
	struct err e = { 0 };
	int fds[8], err, ring[2];

	last_start = clock_mono();
	lines = 0;
	err = journal_gate_begin(&ring[0], &ring[1]);
	if (err == -EAGAIN) {
		waits = true;
		channel_watch();
		return;
	}
	if (err) {
		err_set(&e, ERR_FAILED, "it has no place for the cell's journal: %s",
			strerror(-err));
		gate_started(err, err_line(&e).str);
		return;
	}
	if (bound < 0)
		bound = memfd_create("names", MFD_CLOEXEC);
	if (bound >= 0)
		lseek(bound, 0, SEEK_SET);
	fds[0] = program_open("viv-gate", &e);
	fds[1] = gate_settings_write(gate_rules());
	fds[2] = gatectl_open();
	fds[3] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fds[4] = fds[5] = -1;
	fds[6] = ring[0];
	fds[7] = ring[1];
	err = -EMFILE;
	if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0 && fds[3] >= 0 &&
	    pipe2(&fds[4], O_CLOEXEC | O_NONBLOCK) == 0) {
		err = gate_spawn(fds[0], fds[3], fds[1], fds[2], fds[5], ring);
		if (!err && source_add(&said, fds[4], EPOLLIN, gate_said) == 0)
			fds[4] = -1;
	}
	if (err)
		gate_started(err, fds[0] < 0 ? err_line(&e).str : strerror(-err));
	else
		gate_started(0, NULL);
	close_all(fds, ARRAY_LEN(fds));
}

/* The cell asks for something, and there is no gate. */
static void channel_ready(struct source *s, uint32_t events)
{
	char drop[64];

	if (child.fd >= 0 || (events & EPOLLHUP)) {
		/* The kernel is gone; a gate sees that too. */
		if (events & EPOLLHUP)
			source_close(s);
		return;
	}
	lost_tell();
	if ((events & EPOLLIN) && pausing.fd >= 0) {
		while (recv(s->fd, drop, sizeof(drop), MSG_DONTWAIT) >= 0)
			;
		lost = true;
		lost_tell();
	} else if (events & EPOLLIN) {
		gate_start();
		return;
	}
	channel_watch();
}

bool gate_is_granted(void)
{
	return granted;
}

void gate_kill(void)
{
	if (child.fd >= 0)
		syscall(SYS_pidfd_send_signal, child.fd, SIGKILL, NULL, 0);
	else
		gatectl_gone();
}

/* Before the cell starts: its files have the certificate. */
static int ca_prepare(char **rules, struct err *e)
{
	struct policy p;
	int ret = 0;

	policy_init(&p);
	for (char **rule = rules; ret == 0 && *rule; rule++)
		ret = policy_parse(&p, *rule, strlen(*rule), "policy", 0, 0, e);
	if (ret == 0 && (policy_opens(&p) || secrets_are_there()))
		ret = gate_ca_make(e);
	policy_fini(&p);
	return ret;
}

int gate_prepare(const struct run_options *o, int *ret_kernel_end, struct err *e)
{
	int pair[2];

	granted = rules_have_net(o->policy);
	if (granted && ca_prepare(o->policy, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s", strerror(errno));
	channel.fd = pair[0];
	*ret_kernel_end = pair[1];
	return 0;
}

int gate_grant(struct err *e)
{
	struct ctl_msg m = { .type = CTL_NETWORK };

	granted = true;
	if (gate_follow(e) < 0) {
		granted = false;
		return -1;
	}
	if (control_put(&m, NULL, 0))
		return 0;
	return err_set(e, ERR_FAILED, "the cell does not answer");
}

int gate_follow(struct err *e)
{
	int fd = channel.fd;

	if (fd < 0 || !granted)
		return 0;
	channel.fd = -1;
	if (source_add(&channel, fd, EPOLLIN, channel_ready) < 0)
		return err_set(e, ERR_FAILED, "cannot watch the cell's network");
	secrets_follow();
	return 0;
}

void gate_end(void)
{
	source_close(&channel);
	source_close(&pausing);
	source_close(&said);
	if (child.fd < 0)
		return;
	/* It ends with the kernel; what it has under way then, it has yet to record. */
	if (journal_is_on())
		(void)poll(&(struct pollfd){ .fd = child.fd, .events = POLLIN }, 1, LAST_MS);
	syscall(SYS_pidfd_send_signal, child.fd, SIGKILL, NULL, 0);
	while (waitpid(gate_pid, NULL, 0) < 0 && errno == EINTR)
		;
	source_close(&child);
	/* A connection of the last moment counts, too. */
	gatectl_last();
}
