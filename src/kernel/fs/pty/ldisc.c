/* The line discipline: settings, reading, writing, output processing, flow control. Its input side,
 * where lines are edited, is ldisc_input.c. Both follow Linux's n_tty.c, quirks included, because
 * programs have learned them.
 *
 * Left out: EXTPROC, parity marks and breaks (no line sends any), delays other than expanded
 * tabs. */
#include "kernel/fs/pty/ldisc.h"

#include <errno.h>
#include <linux/tty.h>
#include <string.h>

#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"

#define DECISECOND 100000000LL
#define ECHO_WATERMARK 256

void ldisc_init(struct ldisc *ld, void (*const *signal)(struct ldisc *, int))
{
	static const struct linux_termios2 initial = {
		.iflag = ICRNL | IXON,
		.oflag = OPOST | ONLCR,
		.cflag = B38400 | CS8 | CREAD,
		.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
		.cc = { [VINTR] = 3,
			[VQUIT] = 28,
			[VERASE] = 127,
			[VKILL] = 21,
			[VEOF] = 4,
			[VMIN] = 1,
			[VSTART] = 17,
			[VSTOP] = 19,
			[VSUSP] = 26,
			[VREPRINT] = 18,
			[VDISCARD] = 15,
			[VWERASE] = 23,
			[VLNEXT] = 22 },
		.ispeed = 38400,
		.ospeed = 38400,
	};

	ld->signal = signal;
	ldisc_set(ld, &initial);
}

/* ---- rings ---- */

static uint32_t ring_used(const struct byte_ring *r)
{
	return r->head - r->tail;
}

static void ring_put(struct byte_ring *r, uint8_t *buf, uint32_t size, uint8_t c)
{
	buf[r->head++ & (size - 1)] = c;
}

/* ---- settings ---- */

static void special_add(struct ldisc *ld, uint8_t c)
{
	if (c != LDISC_DISABLED)
		ld->special[c / 64] |= 1ull << (c % 64);
}

static void special_compute(struct ldisc *ld)
{
	const struct linux_termios2 *s = &ld->set;

	memset(ld->special, 0, sizeof(ld->special));
	if (s->iflag & (IGNCR | ICRNL))
		special_add(ld, '\r');
	if (s->iflag & INLCR)
		special_add(ld, '\n');
	if (s->lflag & ICANON) {
		special_add(ld, s->cc[VERASE]);
		special_add(ld, s->cc[VKILL]);
		special_add(ld, s->cc[VEOF]);
		special_add(ld, '\n');
		special_add(ld, s->cc[VEOL]);
		if (s->lflag & IEXTEN) {
			special_add(ld, s->cc[VWERASE]);
			special_add(ld, s->cc[VLNEXT]);
			special_add(ld, s->cc[VEOL2]);
			if (s->lflag & ECHO)
				special_add(ld, s->cc[VREPRINT]);
		}
	}
	if (s->iflag & IXON) {
		special_add(ld, s->cc[VSTART]);
		special_add(ld, s->cc[VSTOP]);
	}
	if (s->lflag & ISIG) {
		special_add(ld, s->cc[VINTR]);
		special_add(ld, s->cc[VQUIT]);
		special_add(ld, s->cc[VSUSP]);
	}
}

static void packet_note(struct ldisc *ld, uint8_t set, uint8_t clear)
{
	if (!ld->packet)
		return;
	ld->packet_bits = (uint8_t)((ld->packet_bits & ~clear) | set);
	ld->events |= LDISC_HAS_OUT;
}

static bool has_usual_flow(const struct linux_termios2 *s)
{
	return (s->iflag & IXON) && s->cc[VSTOP] == 19 && s->cc[VSTART] == 17;
}

void ldisc_set(struct ldisc *ld, const struct linux_termios2 *set)
{
	struct linux_termios2 old = ld->set;

	ld->set = *set;
	ld->set.cflag = (set->cflag & ~(uint32_t)(CSIZE | PARENB)) | CS8 | CREAD;
	if (has_usual_flow(&old) != has_usual_flow(&ld->set))
		packet_note(ld, has_usual_flow(&ld->set) ? TIOCPKT_DOSTOP : TIOCPKT_NOSTOP,
			    TIOCPKT_DOSTOP | TIOCPKT_NOSTOP);
	/* What is there changes its nature: raw bytes become one line, unfinished lines become
	 * readable. */
	if ((old.lflag ^ set->lflag) & ICANON) {
		memset(ld->ends, 0, sizeof(ld->ends));
		ld->canon_head = ld->read_tail;
		if ((set->lflag & ICANON) && ld->read_head != ld->read_tail) {
			uint32_t last = (ld->read_head - 1) % LDISC_LINE;

			ld->ends[last / 64] |= 1ull << (last % 64);
			ld->canon_head = ld->read_head;
		}
		ld->erasing = ld->lnext = false;
	}
	special_compute(ld);
	if (!(set->iflag & IXON) && (old.iflag & IXON) && !ld->stopped_by_call)
		ldisc_start(ld);
	ldisc_pump(ld);
	ld->events |= LDISC_CAN_READ | LDISC_CAN_WRITE;
}

/* ---- output ---- */

static uint32_t out_space(const struct ldisc *ld)
{
	uint32_t used = ring_used(&ld->out_ring);

	return used < LDISC_OUT_MAX ? LDISC_OUT_MAX - used : 0;
}

static void out_put(struct ldisc *ld, uint8_t c)
{
	ring_put(&ld->out_ring, ld->out, LDISC_OUT, c);
	ld->events |= LDISC_HAS_OUT;
}

static uint8_t to_upper(uint8_t c)
{
	bool lower = (c >= 'a' && c <= 'z') ||
		     (c >= 0xdf && c != 0xf7); /* as the kernel's own ctype: Latin-1 */

	return lower ? (uint8_t)(c - 32) : c;
}

/* What c becomes on its way out, into to (8 bytes); the count. Moves the column. */
static uint32_t output_process(struct ldisc *ld, uint8_t c, uint8_t *to)
{
	uint32_t oflag = ld->set.oflag, spaces;

	switch (c) {
	case '\n':
		if (oflag & ONLRET)
			ld->column = 0;
		if (oflag & ONLCR) {
			ld->canon_column = ld->column = 0;
			to[0] = '\r';
			to[1] = '\n';
			return 2;
		}
		ld->canon_column = ld->column;
		break;
	case '\r':
		if ((oflag & ONOCR) && ld->column == 0)
			return 0;
		if (oflag & OCRNL) {
			c = '\n';
			if (oflag & ONLRET)
				ld->canon_column = ld->column = 0;
			break;
		}
		ld->canon_column = ld->column = 0;
		break;
	case '\t':
		spaces = 8 - (ld->column & 7);
		ld->column += spaces;
		if ((oflag & TABDLY) == XTABS) {
			memset(to, ' ', spaces);
			return spaces;
		}
		break;
	case '\b':
		if (ld->column > 0)
			ld->column--;
		break;
	default:
		if (is_cntrl(c))
			break;
		if (oflag & OLCUC)
			c = to_upper(c);
		if (!is_continuation(ld, c))
			ld->column++;
	}
	to[0] = c;
	return 1;
}

int64_t ldisc_write(struct ldisc *ld, struct uio *u)
{
	static uint8_t chunk[4096];
	uint8_t to[8];
	int64_t done = 0, took;

	while (u->left > 0) {
		uint32_t used = 0;

		if (ld->stopped || out_space(ld) < sizeof(to))
			return done ? done : -EAGAIN;
		took = uio_take(u, chunk, MIN(u->left, sizeof(chunk)));
		if (took < 0)
			return done ? done : took;
		for (; used < took && out_space(ld) >= sizeof(to); used++) {
			uint32_t n = 1;

			to[0] = chunk[used];
			if (ld->set.oflag & OPOST)
				n = output_process(ld, chunk[used], to);
			for (uint32_t i = 0; i < n; i++)
				out_put(ld, to[i]);
		}
		uio_back(u, (size_t)(took - used));
		done += used;
	}
	return done;
}

bool ldisc_is_writable(const struct ldisc *ld)
{
	return !ld->stopped && out_space(ld) >= 8;
}

/* ---- echo ---- */

/* Held back while output is stopped or the master does not read; then it is dropped at last. */
void echo_flush(struct ldisc *ld)
{
	while (!ld->stopped && ring_used(&ld->echo_ring) && ring_used(&ld->out_ring) < LDISC_OUT)
		out_put(ld, ld->echo[ld->echo_ring.tail++ & (LDISC_ECHO - 1)]);
}

/* It goes out when all that was typed at once is dealt with: an interrupt takes the echo before it
 * back. */
void echo_bare(struct ldisc *ld, uint8_t c)
{
	if (ring_used(&ld->echo_ring) >= ECHO_WATERMARK)
		echo_flush(ld);
	if (ring_used(&ld->echo_ring) < LDISC_ECHO)
		ring_put(&ld->echo_ring, ld->echo, LDISC_ECHO, c);
}

void echo_raw(struct ldisc *ld, uint8_t c)
{
	uint8_t to[8] = { c };
	uint32_t n = 1;

	if (ld->set.oflag & OPOST)
		n = output_process(ld, c, to);
	for (uint32_t i = 0; i < n; i++)
		echo_bare(ld, to[i]);
}

void echo_char(struct ldisc *ld, uint8_t c)
{
	if (!(ld->set.lflag & ECHOCTL) || !is_cntrl(c) || c == '\t') {
		echo_raw(ld, c);
		return;
	}
	echo_bare(ld, '^');
	echo_bare(ld, c ^ 0100);
	ld->column += 2;
}

/* ---- flow ---- */

void ldisc_stop(struct ldisc *ld)
{
	if (ld->stopped)
		return;
	ld->stopped = true;
	packet_note(ld, TIOCPKT_STOP, TIOCPKT_START);
}

void ldisc_start(struct ldisc *ld)
{
	if (!ld->stopped || ld->stopped_by_call)
		return;
	ld->stopped = false;
	packet_note(ld, TIOCPKT_START, TIOCPKT_STOP);
	echo_flush(ld);
	ld->events |= LDISC_CAN_WRITE;
}

void ldisc_send_raw(struct ldisc *ld, uint8_t c)
{
	if (c != LDISC_DISABLED && ring_used(&ld->out_ring) < LDISC_OUT)
		out_put(ld, c);
}

void ldisc_flush_input(struct ldisc *ld)
{
	ld->read_head = ld->read_tail = ld->canon_head = 0;
	ld->echo_ring = (struct byte_ring){ 0 };
	memset(ld->ends, 0, sizeof(ld->ends));
	ld->erasing = false;
	packet_note(ld, TIOCPKT_FLUSHREAD, 0);
	ld->events |= LDISC_HAS_ROOM;
}

/* What a line's worth of the master's own buffer holds on Linux has left the slave already. */
void ldisc_flush_output(struct ldisc *ld)
{
	struct byte_ring *r = &ld->out_ring;

	if (ring_used(r) > LDISC_LINE)
		r->head = r->tail + LDISC_LINE;
	packet_note(ld, TIOCPKT_FLUSHWRITE, 0);
	ld->events |= LDISC_CAN_WRITE;
}

void ldisc_flush_pending(struct ldisc *ld)
{
	ld->in_ring.tail = ld->in_ring.head;
	ld->events |= LDISC_HAS_ROOM;
}

void ldisc_flush_out(struct ldisc *ld)
{
	ld->out_ring.tail = ld->out_ring.head;
	echo_flush(ld);
	ld->events |= LDISC_CAN_WRITE;
}

/* ---- the master's side ---- */

int64_t ldisc_master_write(struct ldisc *ld, struct uio *u)
{
	int64_t done = 0, took;

	while (u->left > 0) {
		uint32_t at = ld->in_ring.head & (LDISC_IN - 1);
		uint32_t room = LDISC_IN - ring_used(&ld->in_ring);

		if (!room)
			return done ? done : -EAGAIN;
		took = uio_take(u, ld->in + at, MIN(u->left, MIN(room, LDISC_IN - at)));
		if (took <= 0)
			return done ? done : took;
		ld->in_ring.head += (uint32_t)took;
		done += took;
		ldisc_pump(ld);
	}
	return done;
}

int64_t ldisc_master_read(struct ldisc *ld, struct uio *u)
{
	uint8_t status = ld->packet_bits;
	int64_t done = 0, n;

	if (u->left == 0)
		return 0;
	if (ld->packet && status) {
		ld->packet_bits = 0;
		return uio_put(u, &status, 1);
	}
	if (!ring_used(&ld->out_ring))
		return -EAGAIN;
	if (ld->packet) {
		done = uio_put(u, &(uint8_t){ TIOCPKT_DATA }, 1);
		if (done < 0)
			return done;
	}
	while (u->left > 0 && ring_used(&ld->out_ring)) {
		uint32_t at = ld->out_ring.tail & (LDISC_OUT - 1);

		n = uio_put(u, ld->out + at, MIN(ring_used(&ld->out_ring), LDISC_OUT - at));
		if (n <= 0)
			break;
		ld->out_ring.tail += (uint32_t)n;
		done += n;
	}
	echo_flush(ld);
	ld->events |= LDISC_CAN_WRITE;
	return done ? done : -EFAULT;
}

uint32_t ldisc_out(const struct ldisc *ld)
{
	return ring_used(&ld->out_ring) + (ld->packet && ld->packet_bits ? 1 : 0);
}

bool ldisc_has_room(const struct ldisc *ld)
{
	return ring_used(&ld->in_ring) < LDISC_IN;
}

/* ---- the slave reads ---- */

static bool is_end(const struct ldisc *ld, uint32_t at)
{
	return ld->ends[at % LDISC_LINE / 64] & 1ull << (at % 64);
}

static bool has_input(const struct ldisc *ld, uint32_t least)
{
	if (ld->set.lflag & ICANON)
		return ld->canon_head != ld->read_tail;
	return ld->read_head - ld->read_tail >= least;
}

bool ldisc_is_readable(const struct ldisc *ld)
{
	bool whole = !ld->set.cc[VTIME] && ld->set.cc[VMIN];

	return has_input(ld, whole ? ld->set.cc[VMIN] : 1);
}

/* An end of file counts nothing. */
uint32_t ldisc_readable(const struct ldisc *ld)
{
	uint32_t n = 0;

	if (!(ld->set.lflag & ICANON))
		return ld->read_head - ld->read_tail;
	for (uint32_t i = ld->read_tail; i != ld->canon_head; i++)
		n += !(is_end(ld, i) && ld->line[i % LDISC_LINE] == LDISC_DISABLED);
	return n;
}

/* n bytes from the front of the line, which wraps. */
static int64_t copy_out(struct ldisc *ld, struct uio *u, uint32_t n)
{
	int64_t done = 0, put;

	while (n) {
		uint32_t at = ld->read_tail % LDISC_LINE, part = MIN(n, LDISC_LINE - at);

		put = uio_put(u, ld->line + at, part);
		if (put <= 0)
			return done ? done : -EFAULT;
		ld->read_tail += (uint32_t)put;
		done += put;
		n -= (uint32_t)put;
		if ((uint32_t)put < part)
			break;
	}
	return done;
}

/* One line, or as much of it as there is room for. */
static int64_t read_line(struct ldisc *ld, struct uio *u)
{
	uint32_t n = 0, most = (uint32_t)MIN(u->left, (uint64_t)(ld->canon_head - ld->read_tail)),
		 end;
	bool found = false;
	int64_t done;

	while (n < most && !found)
		found = is_end(ld, ld->read_tail + n++);
	end = ld->read_tail + n - 1;
	if (found && ld->line[end % LDISC_LINE] == LDISC_DISABLED)
		n--;
	done = copy_out(ld, u, n);
	if (done < 0 || (uint32_t)done < n)
		return done;
	/* A reader that got all it asked for, up to an end of file, is not told of that one. */
	if (!found && ld->read_tail != ld->canon_head && is_end(ld, ld->read_tail) &&
	    ld->line[ld->read_tail % LDISC_LINE] == LDISC_DISABLED) {
		end = ld->read_tail;
		found = true;
	}
	if (found) {
		ld->ends[end % LDISC_LINE / 64] &= ~(1ull << (end % 64));
		ld->read_tail = end + 1;
	}
	return done;
}

/* Raw mode without enough bytes: does the reader wait? With VMIN the time runs from one byte to the
 * next, without from the call's start. */
static bool must_wait(struct ldisc *ld, struct task *t, uint32_t have)
{
	int64_t time = ld->set.cc[VTIME] * DECISECOND, until;
	struct call *c = t ? &t->call : NULL;

	if (!c || (!time && !ld->set.cc[VMIN]))
		return false;
	if (!ld->set.cc[VMIN]) {
		call_set_timeout(t, time);
	} else if (time && have) {
		until = (c->resumed ? ld->last_input : now_mono()) + time;
		if (!c->has_deadline || c->deadline < until)
			c->deadline = until;
		c->has_deadline = true;
	}
	return !call_is_expired(t);
}

int64_t ldisc_read(struct ldisc *ld, struct uio *u, struct task *t, bool nonblock)
{
	uint32_t have = ld->read_head - ld->read_tail;
	int64_t done;

	if (u->left == 0)
		return 0;
	if (ld->set.lflag & ICANON) {
		if (!has_input(ld, 1))
			return -EAGAIN;
		done = read_line(ld, u);
	} else {
		uint32_t least = (uint32_t)MIN(u->left, (uint64_t)MAX(ld->set.cc[VMIN], 1));

		if (have < least && !(nonblock && have)) {
			if (must_wait(ld, t, have))
				return -EAGAIN;
			if (!have)
				return ld->set.cc[VMIN] ? -EAGAIN : 0;
		}
		done = copy_out(ld, u, (uint32_t)MIN(u->left, (uint64_t)have));
	}
	ldisc_pump(ld);
	ld->events |= LDISC_HAS_ROOM;
	return done;
}
