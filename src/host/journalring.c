/* See journalring.h.
 *
 * Both sides publish a number and then look at one of the other's: the writer head and then
 * sleeping, the reader sleeping and then head; the writer waiting and then tail, the reader tail
 * and then waiting. Each pair is in one order for both (SEQ_CST), so one of them sees the other. */
#include "host/journalring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define ZEROS 4096u
_Static_assert(JOURNAL_RING_SIZE % ZEROS == 0, "written in parts of that size");
#define FAR (1000 * 1000000LL)
#define WAIT_NS (100 * 1000000L) /* then it looks again, whoever has forgotten to wake it */

/* What frames and padding begin with. */
struct start {
	uint32_t size;
	uint16_t kind, pad;
};

#define BIT(kind) JOURNAL_KIND_BIT(J_##kind)

const struct ring_source ring_sources[JOURNAL_KEEPER] = {
	[JOURNAL_KERNEL] = { "ring.kernel", BIT(FORK) | BIT(EXEC) | BIT(EXIT) | BIT(READ) |
						    BIT(OPEN) | BIT(WRITE) | BIT(CONTENT) |
						    BIT(CREATE) | BIT(REMOVE) | BIT(RENAME) |
						    BIT(LINK) | BIT(CHANGE) | BIT(MOUNT) |
						    BIT(CLOSE) | BIT(DENIAL) },
	[JOURNAL_GATE] = { "ring.gate",
			   BIT(NAME) | BIT(CONNECT) | BIT(REQUEST) | BIT(RESPONSE) | BIT(DENIAL) },
};

int journal_ring_make(int fd, uint64_t id)
{
	const struct journal_ring head = { .magic = JOURNAL_RING_MAGIC, .id = id };
	uint8_t zeros[ZEROS] = { 0 };
	struct iovec parts[JOURNAL_RING_SIZE / ZEROS];
	ssize_t n;

	/* A page that finds no room on the disk when it is written would end its writer. Zeros take
	 * that room when they are written; posix_fallocate() would have it looked for at once,
	 * which most rings are gone too soon for. */
	for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
		parts[i] = (struct iovec){ zeros, sizeof(zeros) };
	n = pwritev(fd, parts, ARRAY_LEN(parts), 0);
	if (n != JOURNAL_RING_SIZE)
		return n < 0 ? -errno : -ENOSPC;
	return pwrite(fd, &head, sizeof(head), 0) == sizeof(head) ? 0 : -EIO;
}

bool journal_ring_is_made(int fd)
{
	struct journal_ring head;
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size >= JOURNAL_RING_SIZE &&
	       pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.magic;
}

/* At the start.
 * #syscalls: mmap fstat */
static int ring_map(int fd, struct journal_ring **ret)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size != JOURNAL_RING_SIZE)
		return -EINVAL;
	p = mmap(NULL, JOURNAL_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

/* ---- the writer ---- */

int ring_writer_init(struct ring_writer *w, int fd, int bell)
{
	int err = ring_map(fd, &w->ring);

	if (err)
		return err;
	w->data = (uint8_t *)w->ring + JOURNAL_RING_HEAD;
	w->head = w->ring->head;
	w->bell = bell;
	return 0;
}

static bool has_room(const struct ring_writer *w, uint64_t n)
{
	return JOURNAL_RING_DATA - (w->head - LOAD(&w->ring->tail)) >= n;
}

/* #syscalls: write */
static void bell_ring(struct ring_writer *w)
{
	const uint64_t one = 1;

	STORE(&w->ring->sleeping, RING_AWAKE);
	(void)!write(w->bell, &one, sizeof(one));
}

/* The reader counts "moved" up with each tail. Its death is the end of this process, too.
 * #syscalls: futex */
static void room_wait(struct ring_writer *w, uint64_t n)
{
	const struct timespec some = { .tv_nsec = WAIT_NS };

	while (!has_room(w, n)) {
		uint32_t moved = LOAD(&w->ring->moved);

		STORE(&w->ring->waiting, 1);
		if (has_room(w, n))
			break;
		bell_ring(w);
		(void)syscall(SYS_futex, &w->ring->moved, FUTEX_WAIT, moved, &some, NULL, 0);
	}
	STORE(&w->ring->waiting, 0);
}

void ring_writer_put(struct ring_writer *w, const void *frame, size_t n)
{
	uint64_t at = w->head % JOURNAL_RING_DATA, end = JOURNAL_RING_DATA - at;
	uint64_t all = end < n ? end + n : n;
	uint32_t how;

	if (!has_room(w, all))
		room_wait(w, all);
	if (end < n) {
		const struct start pad = { .size = (uint32_t)end, .kind = J_PAD };

		memcpy(w->data + at, &pad, sizeof(pad));
		w->head += end;
		at = 0;
	}
	memcpy(w->data + at, frame, n);
	w->head += n;
	STORE(&w->ring->head, w->head);
	how = LOAD(&w->ring->sleeping);
	if (how == RING_ASLEEP || (how == RING_GATHERS && !has_room(w, JOURNAL_RING_DATA / 2)))
		bell_ring(w);
}

/* ---- the reader ---- */

int ring_reader_init(struct ring_reader *r, int fd, uint64_t kinds)
{
	int err = ring_map(fd, &r->ring);

	if (err)
		return err;
	if (LOAD(&r->ring->magic) != JOURNAL_RING_MAGIC) {
		ring_reader_fini(r);
		return -EINVAL;
	}
	r->data = (const uint8_t *)r->ring + JOURNAL_RING_HEAD;
	r->position = r->spoiled = LOAD(&r->ring->tail) & ~7ull;
	r->kinds = kinds;
	return 0;
}

void ring_reader_fini(struct ring_reader *r)
{
	if (r->ring)
		munmap(r->ring, JOURNAL_RING_SIZE);
	r->ring = NULL;
}

bool ring_is_later(int64_t mono, int64_t until)
{
	return mono > until && (until > INT64_MAX - FAR || mono <= until + FAR);
}

static bool frame_is_later(const void *frame, int64_t until)
{
	return ring_is_later(((const struct journal_frame *)frame)->mono, until);
}

/* What is wrong with a frame that was copied; NULL: nothing. */
static const char *frame_check(const struct ring_reader *r, const void *frame, uint32_t n)
{
	const struct journal_frame *f = frame;
	union journal_record unused;

	if (f->size != n)
		return "a record was changed while it was read";
	if (f->kind >= J_KINDS || !(r->kinds & JOURNAL_KIND_BIT(f->kind)))
		return "a record of a kind that its writer does not write";
	if (!journal_decode(frame, n, &unused))
		return "a record that cannot be decoded";
	return NULL;
}

/* How much there is to be taken, if the writer is where it claims to be. */
static uint64_t left_of(const struct ring_reader *r, uint64_t head)
{
	return head == r->spoiled ? 0 : head - r->position;
}

/* What is at a place of the data: read once. */
static struct start start_at(const struct ring_reader *r, uint64_t at)
{
	uint64_t word =
		__atomic_load_n((const uint64_t *)(const void *)(r->data + at), __ATOMIC_RELAXED);
	struct start s;

	memcpy(&s, &word, sizeof(s));
	return s;
}

int64_t ring_reader_next(const struct ring_reader *r)
{
	uint64_t left = r->ring ? left_of(r, LOAD(&r->ring->head)) : 0;
	uint64_t at = r->position % JOURNAL_RING_DATA;

	if (!left)
		return INT64_MAX;
	if (start_at(r, at).kind == J_PAD) {
		/* Nothing but padding is taken to see that. */
		if (left <= JOURNAL_RING_DATA - at)
			return INT64_MIN;
		at = 0;
	}
	if (at > JOURNAL_RING_DATA - sizeof(struct journal_frame))
		return INT64_MIN;
	return __atomic_load_n((const int64_t *)(const void *)(r->data + at +
							       offsetof(struct journal_frame,
									mono)),
			       __ATOMIC_RELAXED);
}

size_t ring_reader_take(struct ring_reader *r, void *to, size_t room, int64_t until,
			uint32_t *ret_count, const char **ret_damage)
{
	uint64_t head = LOAD(&r->ring->head), left = left_of(r, head);
	const char *wrong = NULL;
	size_t done = 0;

	*ret_count = 0;
	if (left > JOURNAL_RING_DATA || left % 8)
		wrong = "the writer's position is impossible";
	/* At most as many rounds as frames of the least size fit into the ring. */
	while (!wrong && left) {
		uint64_t at = r->position % JOURNAL_RING_DATA, end = JOURNAL_RING_DATA - at;
		struct start s = start_at(r, at);

		if (s.size % 8 || s.size > end || s.size > left ||
		    s.size < (s.kind == J_PAD ? sizeof(s) : sizeof(struct journal_frame)) ||
		    (s.kind == J_PAD ? s.size != end : s.size > JOURNAL_FRAME_MAX)) {
			wrong = "a record of an impossible size";
			break;
		}
		if (s.kind != J_PAD) {
			if (s.size > room - done)
				break;
			memcpy((uint8_t *)to + done, r->data + at, s.size);
			wrong = frame_check(r, (uint8_t *)to + done, s.size);
			if (wrong || frame_is_later((uint8_t *)to + done, until))
				break;
			done += s.size;
			++*ret_count;
		}
		r->position += s.size;
		left -= s.size;
	}
	if (wrong) {
		r->position = head & ~7ull;
		r->spoiled = head;
	}
	*ret_damage = wrong;
	return done;
}

void ring_reader_done(struct ring_reader *r)
{
	STORE(&r->ring->tail, r->position);
	__atomic_add_fetch(&r->ring->moved, 1, __ATOMIC_SEQ_CST);
	if (LOAD(&r->ring->waiting))
		(void)syscall(SYS_futex, &r->ring->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool ring_reader_has(const struct ring_reader *r)
{
	return r->ring && left_of(r, LOAD(&r->ring->head));
}

bool ring_reader_wait(struct ring_reader *r, uint32_t how)
{
	STORE(&r->ring->sleeping, how);
	if (how != RING_ASLEEP || !ring_reader_has(r))
		return true;
	STORE(&r->ring->sleeping, RING_AWAKE);
	return false;
}
