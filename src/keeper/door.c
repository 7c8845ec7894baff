/* Connections of the cell to vivd (docs/decisions/0046-tools.md).
 *
 * A program in the cell connects to /run/viv/sock; its kernel, which cannot make sockets, tells us
 * (CTL_DOOR). We make a pair, give one end to the kernel and the other to the client that asked for
 * them (KEEP_DOOR), which is vivd: the link that it comes over says whose it is. Bytes do not pass
 * through us. While there is no such client the ends wait here, at most WAITING_MAX of them; what
 * is beyond that, or comes too fast, is refused.
 *
 * A cell has this only if it was given tools, or its rules may allow some. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "keeper/gate.h"
#include "keeper/keeper.h"
#include "policy/policy.h"
#include "wire/memfd.h"

#define WAITING_MAX 64
/* Connections in a tenth of a second, and messages that the kernel has not read: what a kernel that
 * is an enemy can have us and vivd do. */
#define RATE_MAX 200
#define UNREAD_MAX 256

/* An end that nobody has taken yet. */
struct waiting {
	int fd;
	int32_t pid;
	char program[KEEP_TEXT];
};

static struct waiting waiting[WAITING_MAX];
static unsigned nwaiting;
static struct client *taker; /* NULL: nobody */
static uint32_t taker_id;
static bool open_; /* the cell has a door */
static bool cells_; /* its rules may allow cells in it */

/* ---- connections ---- */

static void hand_over(const struct waiting *w)
{
	struct keep_msg m = { .type = KEEP_DOOR, .pid = w->pid };

	snprintf(m.text, sizeof(m.text), "%s", w->program);
	client_send(taker, taker_id, &m, &w->fd, 1);
}

static bool is_too_fast(void)
{
	static int64_t since;
	static unsigned n;
	int64_t now = clock_mono();

	if (now - since > NSEC_PER_SEC / 10) {
		since = now;
		n = 0;
	}
	return ++n > RATE_MAX || keeper.control.nout > UNREAD_MAX;
}

void door_message(const struct ctl_msg *m)
{
	struct ctl_msg answer = { .type = CTL_DOOR, .id = m->id, .a = -ECONNREFUSED };
	struct waiting w = { .pid = m->a };
	int pair[2];

	if (!open_ || is_too_fast() || (!taker && nwaiting == WAITING_MAX) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		control_put(&answer, NULL, 0);
		return;
	}
	answer.a = 0;
	w.fd = pair[0];
	text_clean(m->text, strnlen(m->text, sizeof(m->text)), w.program, sizeof(w.program));
	if (!control_put(&answer, &pair[1], 1)) {
		close(pair[0]);
		return;
	}
	if (taker)
		hand_over(&w);
	else
		waiting[nwaiting++] = w;
}

void door_request(struct client *c, const struct keep_msg *in)
{
	if (!open_) {
		client_fail(c, in->id, ERR_CONFLICT, 0, "the cell has no tools");
		return;
	}
	taker = c;
	taker_id = in->id;
	client_ok(c, in->id, 0);
	for (unsigned i = 0; i < nwaiting; i++)
		hand_over(&waiting[i]);
	nwaiting = 0;
}

void door_client_gone(const struct client *c)
{
	if (taker == c)
		taker = NULL;
}

void door_close(void)
{
	for (unsigned i = 0; i < nwaiting; i++)
		close(waiting[i].fd);
	nwaiting = 0;
	open_ = false;
}

bool door_has_cells(void)
{
	return open_ && cells_;
}

bool door_is_open(void)
{
	return open_;
}

/* ---- what is granted ---- */

static void list_write(struct buf *to, const char *name, char *const *list)
{
	json_member_add(to, name, "[");
	for (unsigned i = 0; list && list[i]; i++) {
		buf_add_text(to, i ? "," : "");
		json_text_add(to, list[i]);
	}
	buf_add_text(to, "]");
}

void tools_request(struct client *c, const struct keep_msg *in)
{
	struct keep_msg m = { .type = KEEP_TOOLS };
	struct buf text = { 0 };
	int fd;

	buf_add_text(&text, "{");
	list_write(&text, "tools", keeper.o->tools);
	list_write(&text, "policy", gate_rules());
	json_member_add(&text, "settings", "{");
	run_options_write(keeper.o, 0, &text);
	buf_add_text(&text, "}}");
	fd = memfd_sealed("tools", text.p, text.len);
	buf_free(&text);
	if (fd < 0)
		client_fail(c, in->id, ERR_FAILED, 0, "out of memory");
	else
		client_send(c, in->id, &m, &fd, 1);
}

/* ---- the start ---- */

static void name_add(struct buf *names, const char *name, size_t n)
{
	char word[TOOL_NAME_MAX + 1];
	const char *at = names->len ? (const char *)names->p : "";

	if (!n || n > TOOL_NAME_MAX)
		return;
	memcpy(word, name, n);
	word[n] = '\0';
	if (!tool_name_is_valid(word) || names->len + n + 2 > SPEC_TOOLS_MAX)
		return;
	for (; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == n && !memcmp(at, word, n))
			return;
	buf_add_text(names, names->len ? " " : "");
	buf_add_text(names, word);
}

/* The tools that rules name, and not by a pattern. */
static int rules_names(const struct run_options *o, struct buf *names, struct err *e)
{
	struct policy p;
	int ret = 0;

	policy_init(&p);
	for (char **l = o->policy; ret == 0 && l && *l; l++)
		ret = policy_parse(&p, *l, strlen(*l), "policy", 0, 0, e);
	for (unsigned i = 0; ret == 0 && i < policy_count(&p); i++) {
		const struct rule *r = policy_rule(&p, i);

		char name[TOOL_NAME_MAX + 2];

		if (r->scope != SCOPE_TOOLS || r->verdict == VERDICT_DENY)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(r->glob, "/"), r->glob);
		if (policy_has_tool(&p, o->tools, name)) /* another layer may not allow it */
			name_add(names, r->glob, strcspn(r->glob, "/"));
	}
	policy_fini(&p);
	return ret;
}

/* One of our programs, to be read. */
static int program_read(const char *name, struct err *e)
{
	char path[32];
	int fd = program_open(name, e), ret;

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, O_RDONLY | O_CLOEXEC);
	if (ret < 0)
		err_set(e, ERR_FAILED, "cannot open %s: %s", name, strerror(errno));
	close(fd);
	return ret;
}

int door_prepare(struct run_options *o, const char **ret_tools, int *ret_program, int *ret_viv,
		 struct err *e)
{
	struct buf names = { 0 };

	*ret_tools = NULL;
	*ret_program = *ret_viv = -1;
	if (!door_is_wanted(o))
		return 0;
	for (char **t = o->tools; t && *t; t++)
		name_add(&names, *t, strlen(*t));
	if (rules_names(o, &names, e) < 0) {
		buf_free(&names);
		return -1;
	}
	buf_add_text(&names, "");
	*ret_tools = run_keep(o, names.p);
	*ret_program = program_read("viv-tools", e);
	if (*ret_program < 0)
		return -1;
	cells_ = rules_may_have_cells(o->policy);
	if (cells_) {
		*ret_viv = program_read("viv", e);
		if (*ret_viv < 0) {
			close(*ret_program);
			return -1;
		}
	}
	open_ = true;
	return 0;
}
