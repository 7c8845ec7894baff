/* Records of this process in the cell's journal, and those that vivd hands over (journal.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper/journal.h"
#include "keeper/keeper.h"

struct jtext jtext_of(const char *s)
{
	return (struct jtext){ s, (uint32_t)strlen(s) };
}

void journal_record(enum journal_kind kind, const void *record, int pid)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	size_t n;

	if (!journal_is_on())
		return;
	n = journal_encode(kind, record, pid, clock_mono(), clock_real(), frame);
	/* On a disk that is full there is no place for it. */
	if (n)
		(void)!journal_frame_put(frame, n);
}

void journal_operator(const char *action, const char *detail)
{
	const struct journal_OPERATOR r = { .action = jtext_of(action),
					    .detail = jtext_of(detail) };

	journal_record(J_OPERATOR, &r, 0);
}

void journal_limit(const char *what)
{
	const struct journal_LIMIT r = { .what = jtext_of(what) };

	journal_record(J_LIMIT, &r, 0);
}

void journal_policy(char *const *rules)
{
	char text[JOURNAL_TEXT_MAX];
	size_t n = 0;
	struct journal_POLICY r;

	for (; rules && *rules && n < sizeof(text); rules++) {
		size_t len = strnlen(*rules, sizeof(text) - n - 1);

		memcpy(text + n, *rules, len);
		n += len;
		text[n++] = '\0';
	}
	r = (struct journal_POLICY){ .rules = { text, (uint32_t)n } };
	journal_record(J_POLICY, &r, 0);
}

void journal_command(uint32_t number, const char *words, size_t n)
{
	char text[JOURNAL_TEXT_MAX];
	struct journal_COMMAND r = { .number = number };

	/* Cut, its last word still ends. */
	n = MIN(n, sizeof(text));
	memcpy(text, words, n);
	if (n)
		text[n - 1] = '\0';
	r.args = (struct jtext){ text, (uint32_t)n };
	journal_record(J_COMMAND, &r, 0);
}

/* ---- KEEP_JOURNAL ---- */

#define VIVD_KINDS                                                                  \
	(1ull << J_SESSION | 1ull << J_PROMPT | 1ull << J_ANSWER | 1ull << J_TOOL | \
	 1ull << J_APPROVAL | 1ull << J_OPERATOR | 1ull << J_DENIAL | 1ull << J_HOLE)

/* One frame, copied; false: there is none. */
static bool frame_take(const struct keep_msg *in, const int *fds, unsigned nfds, uint8_t *to)
{
	size_t n = (size_t)in->a;
	struct stat st;

	if (in->a < (int)sizeof(struct journal_frame) || n > JOURNAL_FRAME_MAX || nfds > 1)
		return false;
	if (!nfds) {
		if (n > sizeof(in->text))
			return false;
		memcpy(to, in->text, n);
		return true;
	}
	return fstat(fds[0], &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)n &&
	       pread(fds[0], to, n, 0) == (ssize_t)n;
}

void journal_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	static uint64_t last; /* that was recorded */
	const struct journal_frame *f = (const void *)frame;
	union journal_record unused;
	bool whole = frame_take(in, fds, nfds, frame);
	int err;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (!journal_is_on()) {
		client_fail(c, in->id, ERR_NOT_FOUND, 0, "the cell has no journal");
		return;
	}
	if (!whole || f->size != (uint32_t)in->a || f->kind >= J_KINDS ||
	    !(VIVD_KINDS & (1ull << f->kind)) || !journal_decode(frame, (size_t)in->a, &unused)) {
		client_fail(c, in->id, ERR_INVALID, 0, "the record for the journal is damaged");
		return;
	}
	if (in->n && in->n == last) {
		client_ok(c, in->id, 0);
		return;
	}
	err = journal_frame_put(frame, f->size);
	if (err) {
		client_fail(c, in->id, ERR_STORAGE, 0, "the cell's journal cannot be written: %s",
			    strerror(-err));
		return;
	}
	last = in->n;
	client_ok(c, in->id, 0);
}
