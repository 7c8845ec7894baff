/* The input side of the line discipline: each byte that the master wrote is a signal, an editing
 * command, the end of a line, or itself; and it is echoed. The line is a ring of LDISC_LINE bytes
 * with marks where lines end; an end of file is a marked zero byte. What is behind canon_head is
 * still being edited. */
#include <signal.h>

#include "base/program.h"
#include "kernel/fs/pty/ldisc.h"
#include "kernel/task/clock.h"

static bool has_iflag(const struct ldisc *ld, uint32_t flag)
{
	return ld->set.iflag & flag;
}

static bool has_lflag(const struct ldisc *ld, uint32_t flag)
{
	return ld->set.lflag & flag;
}

static void line_put(struct ldisc *ld, uint8_t c)
{
	ld->line[ld->read_head++ % LDISC_LINE] = c;
}

static uint8_t line_at(const struct ldisc *ld, uint32_t at)
{
	return ld->line[at % LDISC_LINE];
}

static void erasing_finish(struct ldisc *ld)
{
	if (!ld->erasing)
		return;
	echo_raw(ld, '/');
	ld->erasing = false;
}

static void echo_first(struct ldisc *ld)
{
	/* Where the cursor was when the line began: erasing a tab needs it. */
	if (ld->canon_head == ld->read_head)
		ld->canon_column = ld->column;
}

/* ---- erasing ---- */

enum erase_kind { ERASE_CHAR, ERASE_WORD, ERASE_LINE };

/* As many steps back as the tab before the cursor was wide: it depends on what stands between it
 * and the tab before, or the start of the line. */
static void echo_erase_tab(struct ldisc *ld)
{
	uint32_t columns = 0, at = ld->read_head;
	bool after_tab = false;

	while (at != ld->canon_head) {
		uint8_t c = line_at(ld, --at);

		if (c == '\t') {
			after_tab = true;
			break;
		}
		if (is_cntrl(c))
			columns += has_lflag(ld, ECHOCTL) ? 2 : 0;
		else if (!is_continuation(ld, c))
			columns++;
	}
	if (!after_tab)
		columns += ld->canon_column;
	for (uint32_t n = 8 - (columns & 7); n; n--) {
		echo_bare(ld, '\b');
		if (ld->column > 0)
			ld->column--;
	}
}

static void echo_rub(struct ldisc *ld)
{
	echo_raw(ld, '\b');
	echo_raw(ld, ' ');
	echo_raw(ld, '\b');
}

/* The character c of n bytes, the last of the line, was removed. */
static void echo_erased(struct ldisc *ld, enum erase_kind kind, uint8_t c, uint32_t n)
{
	if (has_lflag(ld, ECHOPRT)) {
		if (!ld->erasing)
			echo_raw(ld, '\\');
		ld->erasing = true;
		echo_char(ld, c);
		for (uint32_t i = 1; i < n; i++) {
			echo_raw(ld, line_at(ld, ld->read_head + i));
			if (ld->column > 0)
				ld->column--;
		}
	} else if (kind == ERASE_CHAR && !has_lflag(ld, ECHOE)) {
		echo_char(ld, ld->set.cc[VERASE]);
	} else if (c == '\t') {
		echo_erase_tab(ld);
	} else {
		if (is_cntrl(c) && has_lflag(ld, ECHOCTL))
			echo_rub(ld);
		if (!is_cntrl(c) || has_lflag(ld, ECHOCTL))
			echo_rub(ld);
	}
}

/* As the kernel's own ctype: Latin-1. */
static bool is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

static void erase_kill(struct ldisc *ld)
{
	ld->read_head = ld->canon_head;
	if (!has_lflag(ld, ECHO))
		return;
	erasing_finish(ld);
	echo_char(ld, ld->set.cc[VKILL]);
	if (has_lflag(ld, ECHOK))
		echo_raw(ld, '\n');
}

static void erase(struct ldisc *ld, enum erase_kind kind)
{
	bool in_word = false;

	if (ld->read_head == ld->canon_head)
		return;
	if (kind == ERASE_LINE && (!has_lflag(ld, ECHO) || !has_lflag(ld, ECHOK) ||
				   !has_lflag(ld, ECHOKE) || !has_lflag(ld, ECHOE))) {
		erase_kill(ld);
		return;
	}
	while (ld->read_head != ld->canon_head) {
		uint32_t head = ld->read_head, n;
		uint8_t c;

		do
			c = line_at(ld, --head);
		while (is_continuation(ld, c) && head != ld->canon_head);
		if (is_continuation(ld, c))
			break;
		if (kind == ERASE_WORD) {
			if (is_word(c))
				in_word = true;
			else if (in_word)
				break;
		}
		n = ld->read_head - head;
		ld->read_head = head;
		if (has_lflag(ld, ECHO))
			echo_erased(ld, kind, c, n);
		if (kind == ERASE_CHAR)
			break;
	}
	if (ld->read_head == ld->canon_head && has_lflag(ld, ECHO))
		erasing_finish(ld);
}

/* ---- special characters ---- */

static void line_finish(struct ldisc *ld, uint8_t c)
{
	uint32_t at = ld->read_head % LDISC_LINE;

	ld->ends[at / 64] |= 1ull << (at % 64);
	line_put(ld, c);
	ld->canon_head = ld->read_head;
	ld->events |= LDISC_CAN_READ;
}

static void reprint(struct ldisc *ld)
{
	erasing_finish(ld);
	echo_char(ld, ld->set.cc[VREPRINT]);
	echo_raw(ld, '\n');
	for (uint32_t at = ld->canon_head; at != ld->read_head; at++)
		echo_char(ld, line_at(ld, at));
}

static void echo_plain(struct ldisc *ld, uint8_t c)
{
	if (!has_lflag(ld, ECHO))
		return;
	erasing_finish(ld);
	echo_first(ld);
	echo_char(ld, c);
}

static void line_put_marked(struct ldisc *ld, uint8_t c)
{
	if (c == 0xff && has_iflag(ld, PARMRK))
		line_put(ld, c);
	line_put(ld, c);
}

/* What canonical mode makes of c; false: it is a character like others. */
static bool receive_canon(struct ldisc *ld, uint8_t c)
{
	const uint8_t *cc = ld->set.cc;
	bool iexten = has_lflag(ld, IEXTEN);

	if (c == cc[VERASE] || c == cc[VKILL] || (c == cc[VWERASE] && iexten)) {
		erase(ld, c == cc[VERASE]    ? ERASE_CHAR
			  : c == cc[VWERASE] ? ERASE_WORD
					     : ERASE_LINE);
		return true;
	}
	if (c == cc[VLNEXT] && iexten) {
		ld->lnext = true;
		if (has_lflag(ld, ECHO)) {
			erasing_finish(ld);
			if (has_lflag(ld, ECHOCTL)) {
				echo_raw(ld, '^');
				echo_raw(ld, '\b');
			}
		}
		return true;
	}
	if (c == cc[VREPRINT] && has_lflag(ld, ECHO) && iexten) {
		reprint(ld);
		return true;
	}
	if (c == '\n') {
		if (has_lflag(ld, ECHO) || has_lflag(ld, ECHONL))
			echo_raw(ld, '\n');
		line_finish(ld, c);
		return true;
	}
	if (c == cc[VEOF]) {
		line_finish(ld, LDISC_DISABLED);
		return true;
	}
	if (c == cc[VEOL] || (c == cc[VEOL2] && iexten)) {
		if (has_lflag(ld, ECHO)) {
			echo_first(ld);
			echo_char(ld, c);
		}
		if (c == 0xff && has_iflag(ld, PARMRK))
			line_put(ld, c);
		line_finish(ld, c);
		return true;
	}
	return false;
}

static void receive_signal(struct ldisc *ld, int sig, uint8_t c)
{
	(*CHECKED(ld->signal))(ld, sig);
	if (!has_lflag(ld, NOFLSH)) {
		ldisc_flush_output(ld);
		ldisc_flush_input(ld);
	}
	if (has_iflag(ld, IXON))
		ldisc_start(ld);
	if (has_lflag(ld, ECHO))
		echo_char(ld, c);
}

static void start_by_any(struct ldisc *ld)
{
	if (ld->stopped && has_iflag(ld, IXON) && has_iflag(ld, IXANY))
		ldisc_start(ld);
}

static void receive_plain(struct ldisc *ld, uint8_t c)
{
	start_by_any(ld);
	echo_plain(ld, c);
	line_put_marked(ld, c);
}

static void receive_special(struct ldisc *ld, uint8_t c)
{
	const uint8_t *cc = ld->set.cc;

	if (has_iflag(ld, IXON) && (c == cc[VSTART] || c == cc[VSTOP])) {
		if (c == cc[VSTART])
			ldisc_start(ld);
		else
			ldisc_stop(ld);
		return;
	}
	if (has_lflag(ld, ISIG) && (c == cc[VINTR] || c == cc[VQUIT] || c == cc[VSUSP])) {
		receive_signal(ld, c == cc[VINTR] ? SIGINT : c == cc[VQUIT] ? SIGQUIT : SIGTSTP, c);
		return;
	}
	start_by_any(ld);
	if (c == '\r') {
		if (has_iflag(ld, IGNCR))
			return;
		if (has_iflag(ld, ICRNL))
			c = '\n';
	} else if (c == '\n' && has_iflag(ld, INLCR)) {
		c = '\r';
	}
	if (has_lflag(ld, ICANON) && receive_canon(ld, c))
		return;
	if (c == '\n') {
		if (has_lflag(ld, ECHO)) {
			erasing_finish(ld);
			echo_raw(ld, '\n');
		}
		line_put(ld, c);
		return;
	}
	echo_plain(ld, c);
	line_put_marked(ld, c);
}

static void receive(struct ldisc *ld, uint8_t c)
{
	bool lnext = ld->lnext;

	ld->lnext = false;
	if (has_iflag(ld, ISTRIP))
		c &= 0x7f;
	if (has_iflag(ld, IUCLC) && has_lflag(ld, IEXTEN) &&
	    ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7)))
		c = (uint8_t)(c + 32);
	if (!lnext && (ld->special[c / 64] & 1ull << (c % 64)))
		receive_special(ld, c);
	else
		receive_plain(ld, c);
}

/* As long as the line has room. In canonical mode a line that is full and not finished takes on:
 * its last byte is overwritten, so that an end of line always gets in. */
void ldisc_pump(struct ldisc *ld)
{
	bool moved = false;

	while (ld->in_ring.head != ld->in_ring.tail) {
		int32_t room = (int32_t)(LDISC_LINE - (ld->read_head - ld->read_tail));

		if (has_iflag(ld, PARMRK))
			room = (room + 2) / 3;
		if (--room <= 0) {
			if (!has_lflag(ld, ICANON) || ld->canon_head != ld->read_tail)
				break;
			if (room < 0)
				ld->read_head--;
		}
		receive(ld, ld->in[ld->in_ring.tail++ % LDISC_IN]);
		moved = true;
	}
	if (!moved)
		return;
	echo_flush(ld);
	ld->events |= LDISC_HAS_ROOM;
	if (has_lflag(ld, ICANON))
		return;
	ld->last_input = now_mono();
	ld->events |= LDISC_CAN_READ;
}
