/* The channel to the cell's gate (wire/gatectl.h): new settings go to it, notes and asks come from
 * it.
 *
 * A policy is changed in one step: the new one is read here, then taken by the kernel, which
 * decides about files and programs, and by the gate; each has either the old or the new one. A gate
 * that does not answer in time is killed; the next one starts with the new policy. While there is
 * no gate, the next one has it as well. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/utf8.h"
#include "keeper/gate.h"
#include "keeper/gateca.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"
#include "keeper/secrets.h"
#include "policy/policy.h"

#define BATCH 32
#define ANSWER_S 5 /* that a gate has */

static struct source control = { .fd = -1 };
static struct gatectl_msg in;

/* The change that is under way. */
static struct {
	char **rules; /* NULL: there is none */
	struct client *client; /* NULL: went away */
	uint32_t id; /* of the client's request */
	bool kernel; /* it has the new rules */
	struct source late;
} change = { .late = { .fd = -1 } };
static uint32_t last_change;

/* ---- rules ---- */

static char **current; /* NULL: those of the options */

char *const *gate_rules(void)
{
	static char *none[] = { NULL };

	return current ? current : keeper.o->policy ? keeper.o->policy : none;
}

static void rules_free(char **rules)
{
	for (char **r = rules; r && *r; r++)
		free(*r);
	free(rules);
}

static char **rules_of(const struct policy *p)
{
	unsigned n = policy_nlines(p);
	char **rules = xalloc((n + 1) * sizeof(*rules));

	for (unsigned i = 0; i < n; i++)
		rules[i] = xstrndup(policy_line(p, i), strlen(policy_line(p, i)));
	rules[n] = NULL;
	return rules;
}

/* A sealed or growing file makes no difference: it is read once. */
static char **rules_read(int fd, bool *ret_net, struct err *e)
{
	struct policy p;
	struct stat st;
	char *text = NULL, **rules = NULL;
	ssize_t n;

	policy_init(&p);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > POLICY_MAX_TEXT) {
		err_note(e, ERR_USAGE, "the policy cannot be read, or is too large");
		return NULL;
	}
	text = xalloc((size_t)st.st_size + 1);
	n = pread(fd, text, (size_t)st.st_size, 0);
	if (n < 0)
		err_note(e, ERR_FAILED, "the policy cannot be read: %s", strerror(errno));
	else if (policy_parse(&p, text, (size_t)n, "policy", 1, 1, e) == 0)
		rules = rules_of(&p);
	*ret_net = policy_has_net(&p);
	/* The cell's files would have to have the certificate. */
	if (rules && !gate_ca_pem() && (policy_opens(&p) || (*ret_net && secrets_are_there()))) {
		rules_free(rules);
		rules = NULL;
		err_note(e, ERR_CONFLICT,
			 "the cell was started without %s, and cannot get any while it "
			 "runs" REMEDY "stop it, set the policy, start it again",
			 policy_opens(&p) ? "rules about requests" : "a network for its secrets");
	}
	free(text);
	policy_fini(&p);
	return rules;
}

/* ---- changing them ---- */

static void kernel_undo(void);

static void change_end(const struct err *e)
{
	source_close(&change.late);
	if (!change.rules)
		return;
	if (e) {
		kernel_undo();
		rules_free(change.rules);
		client_err(change.client, change.id, 0, e);
	} else {
		rules_free(current);
		current = change.rules;
		journal_policy(current);
		client_ok(change.client, change.id, 0);
	}
	change.rules = NULL;
	change.client = NULL;
}

static void change_late(struct source *s, uint32_t events)
{
	(void)events;
	source_close(s);
	gate_kill(); /* gatectl_gone() follows */
}

static bool gatectl_send(uint32_t type, uint32_t id, const char *bytes, size_t n, const int *fd)
{
	struct gatectl_msg m = { .type = type, .id = id };

	if (control.fd < 0 || n > sizeof(m.bytes))
		return false;
	m.nbytes = (uint32_t)n;
	if (n)
		memcpy(m.bytes, bytes, n);
	return fdmsg_send(control.fd, &m, GATECTL_HEAD + n, fd, fd ? 1 : 0, MSG_DONTWAIT) == 0;
}

bool gatectl_answer(uint32_t id, const char *json, size_t n)
{
	return gatectl_send(GATECTL_ANSWER, id, json, n, NULL);
}

int gatectl_settings(void)
{
	int fd = gate_settings_write(change.rules ? change.rules : gate_rules());
	bool sent = fd >= 0 && gatectl_send(GATECTL_SETTINGS, ++last_change, NULL, 0, &fd);

	if (fd >= 0)
		close(fd);
	return sent ? 0 : -1;
}

static void change_send(void)
{
	struct itimerspec t = { .it_value.tv_sec = ANSWER_S };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (control.fd < 0) {
		if (fd >= 0)
			close(fd);
		change_end(NULL); /* for the next gate */
		return;
	}
	if (fd < 0 || timerfd_settime(fd, 0, &t, NULL) < 0 ||
	    source_add(&change.late, fd, EPOLLIN, change_late) < 0 || gatectl_settings() < 0)
		gate_kill();
}

/* The kernel's part of it. True: its answer follows; false: there is nothing to wait for, or e. */
static bool kernel_tell(struct client *c, const struct keep_msg *r, struct err *e)
{
	struct ctl_msg m = { .type = CTL_POLICY };
	int fd, old = -1;

	if (rules_compile(change.rules, &fd, e) < 0)
		return false;
	if (fd < 0) {
		/* It has none to decide by, and gets none. */
		struct err none;

		if (rules_compile((char **)(uintptr_t)gate_rules(), &old, &none) == 0 && old < 0)
			return false;
		if (old >= 0)
			close(old);
	}
	if (pass_on(c, r, &m, &fd, fd >= 0))
		return true;
	change.client = NULL; /* has been told */
	err_note(e, ERR_FAILED, "the cell does not answer");
	return false;
}

/* What the gate does not take is nobody's. */
static void kernel_undo(void)
{
	struct ctl_msg m = { .type = CTL_POLICY };
	struct err e;
	int fd;

	if (change.kernel && rules_compile((char **)(uintptr_t)gate_rules(), &fd, &e) == 0)
		control_put(&m, &fd, fd >= 0);
}

void policy_request(struct client *c, const struct keep_msg *m, const int *fds, unsigned nfds)
{
	struct err e = { 0 };
	bool net = false;
	char **rules = NULL;

	if (nfds != 1)
		err_note(&e, ERR_USAGE, "the policy is missing");
	else if (change.rules)
		err_note(&e, ERR_BUSY,
			 "the policy of the cell is being changed" REMEDY "try again");
	else
		rules = rules_read(fds[0], &net, &e);
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (rules && net && !gate_is_granted() && gate_grant(&e) < 0) {
		rules_free(rules);
		rules = NULL;
	}
	if (!rules) {
		client_err(c, m->id, 0, &e);
		return;
	}
	change.rules = rules;
	change.client = c;
	change.id = m->id;
	change.kernel = false;
	if (kernel_tell(c, m, &e))
		return;
	if (e.kind)
		change_end(&e);
	else
		change_send();
}

void policy_taken(int err)
{
	struct err e;

	if (!change.rules)
		return;
	if (err) {
		err_note(&e, ERR_FAILED, "the cell cannot use the policy: %s", strerror(-err));
		change_end(&e);
		return;
	}
	change.kernel = true;
	change_send();
}

void policy_client_gone(const struct client *c)
{
	if (change.client == c)
		change.client = NULL;
}

/* ---- what the gate says ---- */

static void settings_answered(void)
{
	char line[512];
	struct err e;

	if (in.id != last_change || !change.rules)
		return;
	if (in.type == GATECTL_OK) {
		change_end(NULL);
		return;
	}
	text_clean(in.bytes, in.nbytes, line, sizeof(line));
	err_note(&e, ERR_FAILED, "the gate of the cell cannot use the policy: %s", line);
	change_end(&e);
}

static void message_take(void)
{
	switch (in.type) {
	case GATECTL_OK:
	case GATECTL_FAIL:
		settings_answered();
		break;
	case GATECTL_NOTE:
		gate_note(in.bytes, in.nbytes);
		break;
	case GATECTL_ASK:
		ask_gate(in.id, in.bytes, in.nbytes);
		break;
	case GATECTL_WITHDRAW:
	case GATECTL_DECIDED:
		ask_gate_withdraw(in.id, in.type == GATECTL_DECIDED);
		break;
	default:
		break; /* of no meaning to us, or to anybody */
	}
}

static void control_ready(struct source *s, uint32_t events)
{
	(void)events;
	for (int i = 0; i < BATCH && s->fd >= 0; i++) {
		unsigned nfds;
		int64_t n = fdmsg_recv(s->fd, &in, sizeof(in), NULL, 0, &nfds, MSG_DONTWAIT);

		if (n == -EAGAIN || n == -EINTR)
			return;
		if (n < (int64_t)GATECTL_HEAD || in.nbytes > GATECTL_BYTES ||
		    (uint64_t)n != GATECTL_HEAD + in.nbytes) {
			/* It is ending, or not what it was. */
			source_close(s);
			gate_kill();
			return;
		}
		message_take();
	}
}

int gatectl_open(void)
{
	int pair[2];

	source_close(&control);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	if (source_add(&control, pair[0], EPOLLIN, control_ready) == 0)
		return pair[1];
	close(pair[0]);
	close(pair[1]);
	control.fd = -1;
	return -1;
}

void gatectl_gone(void)
{
	source_close(&control);
	asks_gate_lost();
	change_end(NULL);
}
