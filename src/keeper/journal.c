/* Taking records out of the rings, and who seals them (journal.h).
 *
 * When the kernel rings, more records are waited for, GATHER long, unless the ring is half full:
 * then all of them are one batch, written by one call, and only after that the writer may use their
 * room again. So what is not in a file is in the ring, whichever process is killed.
 *
 * Everything in a ring is a claim of a process that may have been broken into (host/journalring.h).
 *
 * On a disk that is full the last batch stays in memory, and in its ring, and is tried again each
 * second: the cell's calls wait as soon as the ring is full. With --journal-full continue, batches
 * are counted instead, and the count is a hole record when there is room again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/report.h"
#include "host/journalring.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define GATHER (20 * 1000000LL)
#define RETRY NSEC_PER_SEC
#define ROUNDS 4 /* batches, before others have their turn */

#define KERNEL_KINDS                                                                             \
	(JOURNAL_KIND_BIT(J_FORK) | JOURNAL_KIND_BIT(J_EXEC) | JOURNAL_KIND_BIT(J_EXIT) |        \
	 JOURNAL_KIND_BIT(J_READ) | JOURNAL_KIND_BIT(J_OPEN) | JOURNAL_KIND_BIT(J_WRITE) |       \
	 JOURNAL_KIND_BIT(J_CONTENT) | JOURNAL_KIND_BIT(J_CREATE) | JOURNAL_KIND_BIT(J_REMOVE) | \
	 JOURNAL_KIND_BIT(J_RENAME) | JOURNAL_KIND_BIT(J_LINK) | JOURNAL_KIND_BIT(J_CHANGE) |    \
	 JOURNAL_KIND_BIT(J_MOUNT) | JOURNAL_KIND_BIT(J_CLOSE) | JOURNAL_KIND_BIT(J_DENIAL))
#define GATE_KINDS                                                                              \
	(JOURNAL_KIND_BIT(J_NAME) | JOURNAL_KIND_BIT(J_CONNECT) | JOURNAL_KIND_BIT(J_REQUEST) | \
	 JOURNAL_KIND_BIT(J_DENIAL))

static const struct {
	const char *file;
	uint64_t kinds;
} sources[] = { [JOURNAL_KERNEL] = { "ring.kernel", KERNEL_KINDS },
		[JOURNAL_GATE] = { "ring.gate", GATE_KINDS } };

struct ring {
	struct ring_reader reader;
	int fd; /* -1: it has its name already */
	uint64_t id;
	struct source bell;
};

static struct {
	bool on, named, started;
	bool follows; /* the loop runs */
	bool go_on; /* --journal-full continue */
	uint32_t level;
	struct jfile file;
	struct ring ring; /* the kernel's */
	struct jbatch *batch; /* the one that is written, or waits for that */
	bool stuck; /* it does */
	bool told; /* ... which was said */
	uint64_t missing; /* records that were not written */
	int64_t drain_at, retry_at;
	struct source sealer; /* its pidfd */
	pid_t sealer_pid;
	bool seal_again, sealer_missing;
} j = { .file = { .dirs = -1, .dir = -1, .lock = -1, .raw = -1 },
	.ring = { .fd = -1, .bell = { .fd = -1 } },
	.sealer = { .fd = -1 } };

bool journal_is_on(void)
{
	return j.on && j.named;
}

static void tell(const char *text)
{
	if (!keeper.o->quiet)
		text_tell(false, text, strlen(text));
	event_add(KEEP_EV_LOG, NULL, 0, 0, text);
}

/* ---- sealing ---- */

/* In a child: becomes viv-journal. lock: which it keeps; -1: none. */
static _Noreturn void sealer_exec(int program, int lock, bool all)
{
	static char name[] = "viv-journal", verb[] = "seal", whole[] = "--all";
	char dir[32], *argv[] = { name, verb, dir, all ? whole : NULL, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Not the link itself, which it would refuse. */
	snprintf(dir, sizeof(dir), "/proc/self/fd/%d/.", j.file.dir);
	setsid();
	/* While the cell works, its work comes first. Who waits for the last one must not wait. */
	if (!all)
		(void)setpriority(PRIO_PROCESS, 0, 10);
	/* All other descriptors are closed by the exec. */
	if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2 &&
	    fcntl(j.file.dir, F_SETFD, 0) == 0 && (lock < 0 || fcntl(lock, F_SETFD, 0) == 0))
		fexecve(program, argv, environ);
	_exit(126);
}

static int sealer_open(void)
{
	struct err e;
	int fd = program_open("viv-journal", &e);

	if (fd < 0 && !j.sealer_missing) {
		j.sealer_missing = true;
		tell("viv-journal is not installed: the cell's journal stays as it is, and is not "
		     "sealed");
	}
	return fd;
}

static void sealer_start(void);

static void sealer_ended(struct source *s, uint32_t events)
{
	(void)events;
	source_close(s);
	while (waitpid(j.sealer_pid, NULL, 0) < 0 && errno == EINTR)
		;
	j.sealer_pid = 0;
	if (j.seal_again)
		sealer_start();
}

/* One at a time. */
static void sealer_start(void)
{
	int program, pidfd;

	j.seal_again = j.sealer_pid != 0;
	if (j.sealer_pid)
		return;
	program = sealer_open();
	if (program < 0)
		return;
	j.sealer_pid = fork();
	if (j.sealer_pid == 0)
		sealer_exec(program, -1, false);
	close(program);
	if (j.sealer_pid < 0) {
		j.sealer_pid = 0;
		return;
	}
	pidfd = (int)syscall(SYS_pidfd_open, j.sealer_pid, 0);
	if (pidfd >= 0)
		fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	if (pidfd >= 0 && source_add(&j.sealer, pidfd, EPOLLIN, sealer_ended) == 0)
		return;
	if (pidfd >= 0)
		close(pidfd);
	j.sealer.fd = -1;
	while (waitpid(j.sealer_pid, NULL, 0) < 0 && errno == EINTR)
		;
	j.sealer_pid = 0;
}

/* The last one, which outlives us: nobody's child, with the lock of the journal. */
static void sealer_leave(void)
{
	int program = sealer_open();
	pid_t pid = program < 0 ? -1 : fork();

	if (pid == 0) {
		if (fork() == 0)
			sealer_exec(program, j.file.lock, true);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (program >= 0)
		close(program);
}

/* ---- writing ---- */

static void rotate_if_due(void)
{
	bool due = j.file.bytes >= JOURNAL_RAW_MAX ||
		   (j.file.since && clock_mono() >= j.file.since + (int64_t)JOURNAL_RAW_AGE);

	/* A disk without room for the next one: this one goes on. */
	if (due && jfile_rotate(&j.file) == 0)
		sealer_start();
	else if (due)
		j.file.since = clock_mono();
}

/* A batch of one hole at the place of what is missing. */
static int hole_write(const char *reason, uint64_t count)
{
	static struct {
		struct journal_batch head;
		uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	} b;
	const struct journal_HOLE r = { .reason = jtext_of(reason), .count = count };

	b.head = (struct journal_batch){ .source = JOURNAL_KEEPER, .count = 1 };
	b.head.nbytes =
		(uint32_t)journal_encode(J_HOLE, &r, 0, clock_mono(), clock_real(), b.frame);
	return jfile_write(&j.file, (struct jbatch *)(void *)&b);
}

/* Writes j.batch. False: it stays, for later. */
static bool batch_write(void)
{
	int err = 0;

	if (j.missing)
		err = hole_write("the disk was full", j.missing);
	if (!err) {
		j.missing = 0;
		err = jfile_write(&j.file, j.batch);
	}
	if (!err) {
		if (j.told)
			tell("the cell's journal can be written again");
		j.stuck = j.told = false;
		j.retry_at = 0;
		rotate_if_due();
		return true;
	}
	if (!j.told) {
		char line[200];

		j.told = true;
		snprintf(line, sizeof(line), "the cell's journal cannot be written (%s): %s",
			 strerror(-err),
			 j.go_on ? "the cell goes on, and what is missing is counted"
				 : "the cell waits until it can");
		tell(line);
	}
	if (j.go_on) {
		j.missing += j.batch->head.count;
		j.stuck = false;
		return true;
	}
	j.stuck = true;
	j.retry_at = clock_mono() + RETRY;
	return false;
}

static void drain(void);

int journal_frame_put(const void *frame, size_t n)
{
	static struct jbatch *b;

	if (!journal_is_on())
		return 0;
	/* What the kernel said before comes before, but not before the start. */
	if (j.follows && !j.stuck)
		drain();
	if (!b)
		b = malloc(sizeof(b->head) + JOURNAL_FRAME_MAX);
	if (!b)
		return -ENOMEM;
	b->head = (struct journal_batch){ .source = JOURNAL_KEEPER,
					  .count = 1,
					  .nbytes = (uint32_t)n };
	memcpy(b->frames, frame, n);
	return jfile_write(&j.file, b);
}

/* ---- draining ---- */

/* The next batch of a ring, written; false: there is nothing, or it waits for the disk. */
static bool ring_take(struct ring_reader *r, enum journal_source source, uint64_t id)
{
	const char *damage;
	uint32_t count;
	size_t n = ring_reader_take(r, j.batch->frames, JOURNAL_RING_DATA, &count, &damage);

	if (!n && !damage)
		return false;
	if (damage) {
		char reason[128];
		struct journal_HOLE h;

		snprintf(reason, sizeof(reason), "%s: %s", sources[source].file, damage);
		h = (struct journal_HOLE){ .reason = jtext_of(reason) };
		n += journal_encode(J_HOLE, &h, 0, clock_mono(), clock_real(), j.batch->frames + n);
		count++;
	}
	j.batch->head = (struct journal_batch){ .nbytes = (uint32_t)n,
						.count = count,
						.source = source,
						.position = r->position,
						.ring = id };
	if (!batch_write())
		return false;
	ring_reader_done(r);
	return true;
}

static void drain(void)
{
	struct ring_reader *r = &j.ring.reader;

	j.drain_at = 0;
	if (j.stuck) {
		if (clock_mono() < j.retry_at || !batch_write())
			return;
		ring_reader_done(r);
	}
	for (int i = 0; i < ROUNDS && !j.stuck; i++)
		if (!ring_take(r, JOURNAL_KERNEL, j.ring.id))
			break;
	if (j.stuck)
		return;
	if (!ring_reader_wait(r, RING_ASLEEP)) {
		(void)ring_reader_wait(r, RING_GATHERS);
		j.drain_at = clock_mono() + GATHER;
	}
}

static void bell_rang(struct source *s, uint32_t events)
{
	uint64_t n;

	(void)events;
	(void)!read(s->fd, &n, sizeof(n));
	if (j.stuck)
		return;
	if (j.drain_at) { /* the ring is half full */
		drain();
		return;
	}
	(void)ring_reader_wait(&j.ring.reader, RING_GATHERS);
	j.drain_at = clock_mono() + GATHER;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a && b ? MIN(a, b) : a ? a : b;
}

int64_t journal_deadline(void)
{
	int64_t next = sooner(j.drain_at, j.retry_at);

	if (!journal_is_on())
		return 0;
	return j.stuck || !j.file.since ? next
					: sooner(next, j.file.since + (int64_t)JOURNAL_RAW_AGE);
}

void journal_time(void)
{
	int64_t now = clock_mono();

	if (!journal_is_on())
		return;
	j.follows = true;
	if ((j.drain_at && now >= j.drain_at) || (j.retry_at && now >= j.retry_at))
		drain();
	if (!j.stuck)
		rotate_if_due();
}

/* ---- what an earlier keeper left ---- */

/* What is in a ring whose writer and reader were killed. */
static int ring_recover(enum journal_source source, struct err *e)
{
	const struct jplace *place = &j.file.places[source];
	int fd = openat(j.file.dir, sources[source].file, O_RDWR | O_CLOEXEC | O_NOFOLLOW), err;
	struct ring_reader r = { 0 };

	if (fd < 0)
		return 0;
	err = ring_reader_init(&r, fd, sources[source].kinds);
	close(fd);
	if (err) {
		err = hole_write("a ring that an earlier run left is damaged", 0);
	} else {
		uint64_t id = r.ring->id;

		/* It died after it wrote, and before it said so. */
		if (place->ring == id)
			r.position = place->position & ~7ull;
		while (ring_take(&r, source, id))
			;
		err = j.stuck ? -ENOSPC : 0;
		j.stuck = false;
		ring_reader_fini(&r);
	}
	if (err)
		return err_set(e, ERR_NO_SPACE,
			       "cannot write the cell's journal: %s" REMEDY
			       "make room, or start the cell with --journal off",
			       strerror(-err));
	return unlinkat(j.file.dir, sources[source].file, 0) < 0
		       ? err_set(e, ERR_FAILED,
				 "cannot remove an old ring of the cell's journal: %s",
				 strerror(errno))
		       : 0;
}

/* ---- begin and end ---- */

/* In the directory of all journals, without a name yet. */
static int ring_make(struct ring *r, uint64_t kinds, struct err *e)
{
	int err;

	r->fd = openat(j.file.dirs, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	err = r->fd < 0 ? -errno : 0;
	if (!err && getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id))
		err = -EIO;
	if (!err)
		err = journal_ring_make(r->fd, r->id);
	if (!err)
		err = ring_reader_init(&r->reader, r->fd, kinds);
	if (err)
		return err_set(e, err == -ENOSPC ? ERR_NO_SPACE : ERR_FAILED,
			       "cannot make the cell's journal: %s" REMEDY
			       "make room, or start the cell with --journal off",
			       strerror(-err));
	return 0;
}

int journal_name(struct err *e)
{
	char path[32];

	if (!j.on || j.named)
		return 0;
	if (jfile_open(&j.file, keeper.id, e) < 0)
		return -1;
	if (!j.file.fresh &&
	    (ring_recover(JOURNAL_KERNEL, e) < 0 || ring_recover(JOURNAL_GATE, e) < 0))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", j.ring.fd);
	if (linkat(AT_FDCWD, path, j.file.dir, sources[JOURNAL_KERNEL].file, AT_SYMLINK_FOLLOW) < 0)
		return err_set(e, ERR_FAILED, "cannot make the cell's journal: %s",
			       strerror(errno));
	close(j.ring.fd);
	j.ring.fd = -1;
	j.named = true;
	jfile_meta(&j.file, false);
	if (!j.file.fresh)
		sealer_start();
	return 0;
}

int journal_prepare(const struct run_options *o, const struct rootfs *p, int *ret_ring,
		    int *ret_bell, struct err *e)
{
	int bell;

	*ret_ring = *ret_bell = -1;
	j.level = run_journal(o);
	if (j.level == JOURNAL_OFF || o->tell.mode != MODE_RUN || o->visit)
		return 0;
	j.go_on = o->journal_full == JOURNAL_FULL_CONTINUE;
	j.on = true;
	j.batch = malloc(sizeof(*j.batch));
	if (!j.batch)
		return err_set(e, ERR_FAILED, "out of memory");
	if (jfile_store(&j.file, p, e) < 0 || ring_make(&j.ring, KERNEL_KINDS, e) < 0)
		return -1;
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_ring = fcntl(j.ring.fd, F_DUPFD_CLOEXEC, 0);
	*ret_bell = bell < 0 ? -1 : fcntl(bell, F_DUPFD_CLOEXEC, 0);
	if (*ret_ring < 0 || *ret_bell < 0)
		return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s", strerror(errno));
	(void)ring_reader_wait(&j.ring.reader, RING_ASLEEP);
	if (source_add(&j.ring.bell, bell, EPOLLIN, bell_rang) < 0)
		return err_set(e, ERR_FAILED, "cannot watch the cell's journal");
	return keeper.id[0] ? journal_name(e) : 0;
}

void journal_follow(void)
{
	const struct rootfs *p = keeper.rootfs;
	const struct journal_START r = {
		.id = jtext_of(keeper.id),
		.name = jtext_of(p->kept ? p->cell.name : ""),
		.image = jtext_of(p->stored ? p->image.hash : "host"),
		.level = jtext_of(j.level == JOURNAL_ALL ? "all" : "changes"),
		.version = jtext_of(VIV_VERSION),
	};

	if (j.started || !journal_is_on())
		return;
	j.started = true;
	journal_record(J_START, &r, 0);
	if (keeper.o->policy)
		journal_policy(keeper.o->policy);
}

int journal_begin(struct err *e)
{
	if (journal_name(e) < 0)
		return -1;
	journal_follow();
	return 0;
}

static void all_close(void)
{
	if (j.ring.bell.fd >= 0)
		source_close(&j.ring.bell);
	if (j.ring.fd >= 0)
		close(j.ring.fd);
	j.ring.fd = -1;
	ring_reader_fini(&j.ring.reader);
	free(j.batch);
	j.batch = NULL;
	j.on = j.named = false;
}

void journal_drop(void)
{
	if (!j.on)
		return;
	if (j.named)
		(void)!unlinkat(j.file.dir, sources[JOURNAL_KERNEL].file, 0);
	all_close();
	jfile_drop(&j.file);
}

static const char *reason_of(enum keep_reason reason)
{
	switch (reason) {
	case KEEP_ENDED:
		return "ended";
	case KEEP_ASKED:
		return "asked";
	case KEEP_TIME_UP:
		return "timeout";
	case KEEP_OUT_OF_MEMORY:
		return "memory";
	default:
		return "failed";
	}
}

void journal_stop(int status, enum keep_reason reason)
{
	const struct journal_STOP r = { .status = status, .reason = jtext_of(reason_of(reason)) };
	bool waits = j.stuck;

	if (!journal_is_on()) {
		journal_drop();
		return;
	}
	/* Nobody writes any more: it has an end. */
	j.retry_at = 0;
	if (!waits || batch_write()) {
		if (waits)
			ring_reader_done(&j.ring.reader);
		while (ring_take(&j.ring.reader, JOURNAL_KERNEL, j.ring.id))
			;
	}
	/* On a disk that is full the ring stays as it is, for the next run. */
	if (!j.stuck) {
		if (j.missing && hole_write("the disk was full", j.missing) == 0)
			j.missing = 0;
		journal_record(J_STOP, &r, 0);
		(void)!unlinkat(j.file.dir, sources[JOURNAL_KERNEL].file, 0);
	}
	jfile_meta(&j.file, true);
	if (j.sealer.fd >= 0)
		source_close(&j.sealer);
	sealer_leave();
	all_close();
	jfile_close(&j.file);
}
