/* The line discipline of a pseudo-terminal: what lies between the bytes of the master and those of
 * the slave.
 *
 *   master writes -> in -> ldisc_pump(): editing, signals, echo -> line -> slave reads
 *   slave writes -> output processing -> out -> master reads
 * It knows bytes and settings, nothing of files, queues or sessions: what happened is collected in
 * events, and the signals of control characters go through a function of the owner's. */
#ifndef VIV_KERNEL_FS_PTY_LDISC_H
#define VIV_KERNEL_FS_PTY_LDISC_H

#include "kernel/abi/termios.h"
#include "kernel/platform/uio.h"

struct task;

#define LDISC_LINE 4096 /* Linux's N_TTY_BUF_SIZE: no line is longer */
#define LDISC_IN 8192 /* bytes of the master that the line has no room for */
#define LDISC_OUT 16384
#define LDISC_OUT_MAX 12288 /* writers stop here; the rest is the echo's */
#define LDISC_ECHO 4096

#define LDISC_CAN_READ 1u /* the slave's reader may find something */
#define LDISC_CAN_WRITE 2u /* the slave's writer may find room */
#define LDISC_HAS_OUT 4u /* the master's reader may find something */
#define LDISC_HAS_ROOM 8u /* the master's writer may find room */

/* A ring of bytes. head and tail only grow; the size is a power of two. */
struct byte_ring {
	uint32_t head, tail;
};

struct ldisc {
	struct linux_termios2 set;
	uint64_t special[4]; /* bytes that are more than themselves, by the settings */
	void (*const *signal)(struct ldisc *ld, int sig);
	uint32_t events; /* LDISC_*: since the owner last looked */
	bool packet; /* TIOCPKT: the master is told of flow control and flushes */
	uint8_t packet_bits; /* what it was not told yet */
	/* the line */
	uint32_t read_head, read_tail, canon_head; /* canon_head: behind the last whole line */
	uint64_t ends[LDISC_LINE / 64]; /* where lines end */
	bool lnext, erasing;
	int64_t last_input; /* when something was last added; CLOCK_MONOTONIC */
	/* output */
	bool stopped, stopped_by_call; /* by VSTOP, by TCXONC */
	uint32_t column, canon_column; /* of the cursor; where the line began */
	struct byte_ring in_ring, out_ring, echo_ring;
	uint8_t in[LDISC_IN];
	uint8_t line[LDISC_LINE];
	uint8_t out[LDISC_OUT];
	uint8_t echo[LDISC_ECHO]; /* waits while output is stopped or out is full */
};

void ldisc_init(struct ldisc *ld, void (*const *signal)(struct ldisc *, int));
void ldisc_set(struct ldisc *ld, const struct linux_termios2 *set);

/* The master's side. Counts; -EAGAIN. */
int64_t ldisc_master_write(struct ldisc *ld, struct uio *u);
int64_t ldisc_master_read(struct ldisc *ld, struct uio *u);
/* The slave's side. A read in raw mode keeps its times in t's call (t NULL: it has none). */
int64_t ldisc_read(struct ldisc *ld, struct uio *u, struct task *t, bool nonblock);
int64_t ldisc_write(struct ldisc *ld, struct uio *u);

bool ldisc_is_readable(const struct ldisc *ld); /* for poll: VMIN bytes, or a line */
bool ldisc_is_writable(const struct ldisc *ld);
uint32_t ldisc_readable(const struct ldisc *ld); /* bytes, for FIONREAD */
uint32_t ldisc_out(const struct ldisc *ld); /* bytes for the master */
bool ldisc_has_room(const struct ldisc *ld); /* for the master */

void ldisc_flush_input(struct ldisc *ld);
void ldisc_flush_output(struct ldisc *ld);
void ldisc_flush_pending(struct ldisc *ld); /* what the master wrote and the line has no room for */
void ldisc_flush_out(struct ldisc *ld); /* what the master has not read */
void ldisc_stop(struct ldisc *ld);
void ldisc_start(struct ldisc *ld);
/* A byte to the master past all processing: TCIOFF, TCION. */
void ldisc_send_raw(struct ldisc *ld, uint8_t c);

/* For ldisc_input.c. */
void ldisc_pump(struct ldisc *ld);
void echo_raw(struct ldisc *ld, uint8_t c); /* as output: OPOST applies */
void echo_char(struct ldisc *ld, uint8_t c); /* with ECHOCTL's ^X */
void echo_bare(struct ldisc *ld, uint8_t c); /* no processing, no column */
void echo_flush(struct ldisc *ld);

/* a control character that is none; in the line, with its mark: an end of file */
#define LDISC_DISABLED 0

static inline bool is_cntrl(uint8_t c)
{
	return c < 32 || c == 127;
}

static inline bool is_continuation(const struct ldisc *ld, uint8_t c)
{
	return (ld->set.iflag & IUTF8) && (c & 0xc0) == 0x80;
}

#endif
