/* See frozen.h. */
#include "kernel/cell/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "stub/stub.h"

#define ADDR_MIN 0x1000UL
#define ADDR_MAX 0x7ffffffff000UL
#define STUB_END (STUB_BASE + STUB_SPAN)

int frozen_next(const uint8_t *records, size_t size, size_t *at, struct frozen_rec *ret,
		const uint8_t **ret_data)
{
	size_t left = size - *at;

	if (!left)
		return 0;
	if (left < sizeof(*ret))
		return -EINVAL;
	memcpy(ret, records + *at, sizeof(*ret));
	left -= sizeof(*ret);
	if (ret->size > left || ALIGN_UP((size_t)ret->size, 8UL) > left || !ret->type ||
	    ret->type > FROZEN_LAST)
		return -EINVAL;
	*ret_data = records + *at + sizeof(*ret);
	*at += sizeof(*ret) + ALIGN_UP((size_t)ret->size, 8UL);
	return 1;
}

/* What the check has met so far. */
struct check {
	const struct frozen_head *head;
	const char *why;
	uint32_t npipes, nfiles, nsignals;
	int32_t nids, ids[FROZEN_TASKS_MAX]; /* of threads and zombies */
	bool lives[FROZEN_TASKS_MAX]; /* it is that of a process that lives: it can be a parent */
	bool in_proc, has_leader, has_first;
	int32_t pid;
	uint32_t threads_left;
	uint64_t end; /* of the last mapping */
	uint64_t pages_end, file_end; /* of the last pages: in memory, in the file */
	struct frozen_map map;
	bool has_map;
};

static bool wrong(struct check *c, const char *why)
{
	c->why = why;
	return false;
}

/* A path: absolute, n bytes with one NUL, the last. */
static bool is_path(const uint8_t *s, size_t n)
{
	return n > 1 && n <= FROZEN_TEXT && s[0] == '/' && memchr(s, 0, n) == s + n - 1;
}

static bool id_add(struct check *c, int32_t id, bool lives)
{
	if (id <= INIT_PID || id > FROZEN_PID_MAX || id == c->head->seed ||
	    c->nids == (int32_t)FROZEN_TASKS_MAX)
		return wrong(c, "a number of a process");
	for (int32_t i = 0; i < c->nids; i++)
		if (c->ids[i] == id)
			return wrong(c, "a number of a process");
	c->lives[c->nids] = lives;
	c->ids[c->nids++] = id;
	return true;
}

/* A thread has no children, and one that has ended has none any more. */
static bool is_parent(const struct check *c, int32_t id)
{
	for (int32_t i = 0; i < c->nids; i++)
		if (c->ids[i] == id)
			return c->lives[i];
	return id == INIT_PID;
}

/* Of a group or session: its leader may be gone. */
static bool is_group(int32_t id)
{
	return id >= 1 && id <= FROZEN_PID_MAX;
}

static bool proc_end(struct check *c)
{
	if (c->in_proc && (!c->has_leader || c->threads_left))
		return wrong(c, "the threads of a process");
	return true;
}

static bool pipe_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_pipe p;

	if (n < sizeof(p) || c->npipes == FROZEN_PIPES_MAX || c->nfiles || c->in_proc)
		return wrong(c, "a pipe");
	memcpy(&p, data, sizeof(p));
	if (p.used != n - sizeof(p) || p.used > p.capacity || p.capacity > (1u << 20))
		return wrong(c, "a pipe");
	c->npipes++;
	return true;
}

static bool file_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_file f;

	if (n < sizeof(f) || c->nfiles == FROZEN_FILES_MAX || c->in_proc)
		return wrong(c, "an open file");
	memcpy(&f, data, sizeof(f));
	if (f.kind > FROZEN_PIPE_WRITE || f.pos < 0 || (f.flags & ~(uint32_t)FROZEN_FLAGS) ||
	    (f.kind == FROZEN_BY_PATH) != (n > sizeof(f)) ||
	    (f.kind == FROZEN_STREAM && f.number > 2) ||
	    (f.kind > FROZEN_STREAM && f.number >= c->npipes) ||
	    (n > sizeof(f) && !is_path(data + sizeof(f), n - sizeof(f))))
		return wrong(c, "an open file");
	c->nfiles++;
	return true;
}

static bool proc_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_proc p;

	if (!proc_end(c) || n < sizeof(p))
		return wrong(c, "a process");
	memcpy(&p, data, sizeof(p));
	n -= sizeof(p);
	if (p.cwd > n || p.exe != n - p.cwd || !is_path(data + sizeof(p), p.cwd) ||
	    !is_path(data + sizeof(p) + p.cwd, p.exe))
		return wrong(c, "the paths of a process");
	if (!is_parent(c, p.n.ppid) || !is_group(p.n.pgid) || !is_group(p.n.sid) || !p.nthreads ||
	    p.nthreads > FROZEN_TASKS_MAX || p.alarm < 0 || p.alarm_interval < 0 ||
	    p.n.auxv_size > 4096 || p.n.exit_signal < 0 || p.n.exit_signal > 64 ||
	    (p.umask & ~0777u) || p.n.is_first > 1 || (p.n.is_first && c->has_first))
		return wrong(c, "a process");
	for (int i = 0; i < RLIMITS; i++)
		if (p.limits[i].cur > p.limits[i].max)
			return wrong(c, "a limit of a process");
	c->has_first |= p.n.is_first;
	c->in_proc = true;
	c->has_leader = c->has_map = false;
	c->pid = p.n.pid;
	c->threads_left = p.nthreads;
	c->end = ADDR_MIN;
	return true;
}

static bool zombie_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_zombie z;

	if (!proc_end(c) || n != sizeof(z))
		return wrong(c, "a process that has ended");
	memcpy(&z, data, sizeof(z));
	c->in_proc = false;
	return is_parent(c, z.ppid) && z.ppid != INIT_PID && is_group(z.pgid) && is_group(z.sid) &&
			       z.exit_signal >= 0 && z.exit_signal <= 64 && id_add(c, z.pid, false)
		       ? true
		       : wrong(c, "a process that has ended");
}

static bool task_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_task t;

	if (!c->in_proc || n != sizeof(t) || !c->threads_left)
		return wrong(c, "a thread");
	memcpy(&t, data, sizeof(t));
	/* The first is the one whose number is the process's. */
	if (!id_add(c, t.tid, t.tid == c->pid) || (t.tid == c->pid) == c->has_leader ||
	    t.sp < ADDR_MIN || t.sp >= ADDR_MAX || t.cred.ngroups > NGROUPS_IN_CELL ||
	    t.pdeathsig < 0 || t.nice < -20 || t.nice > 19 || t.pdeathsig > 64)
		return wrong(c, "a thread");
	c->has_leader = true;
	c->threads_left--;
	return true;
}

static bool signal_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_signal s;

	if (!c->in_proc || !c->has_leader || n != sizeof(s) || c->nsignals++ == FROZEN_SIGNALS_MAX)
		return wrong(c, "a signal");
	memcpy(&s, data, sizeof(s));
	return (s.info.signo >= 1 && s.info.signo < STUB_SIG) || wrong(c, "a signal");
}

static bool map_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_map m;
	bool path;

	if (!c->in_proc || n < sizeof(m))
		return wrong(c, "a mapping");
	memcpy(&m, data, sizeof(m));
	path = m.memory == FROZEN_PRIVATE || m.memory == FROZEN_SHARED;
	if ((m.start | m.end | m.off) & (PAGE_SIZE - 1) || m.start < c->end || m.end <= m.start ||
	    m.end > ADDR_MAX || m.memory > FROZEN_STUB || (m.prot & ~7u) || (m.off >> 62) ||
	    path != (n > sizeof(m)) || (path && !is_path(data + sizeof(m), n - sizeof(m))) ||
	    (m.memory == FROZEN_SHARED && (m.prot & 2)))
		return wrong(c, "a mapping");
	if (m.memory == FROZEN_STUB ? m.start < STUB_BASE || m.end > STUB_END
				    : m.start < STUB_END && m.end > STUB_BASE)
		return wrong(c, "where a mapping is");
	c->map = m;
	c->has_map = true;
	c->end = m.end;
	c->pages_end = m.start;
	return true;
}

static bool pages_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_pages p;

	if (!c->in_proc || !c->has_map || n != sizeof(p) || c->map.memory == FROZEN_SHARED ||
	    c->map.memory == FROZEN_HOST)
		return wrong(c, "contents of memory");
	memcpy(&p, data, sizeof(p));
	/* No page of either twice: what is copied is no more than what is in the file. */
	if ((p.addr | p.n | p.at) & (PAGE_SIZE - 1) || !p.n || p.addr < c->pages_end ||
	    p.addr >= c->map.end || p.n > c->map.end - p.addr || p.at < c->file_end ||
	    p.at > c->head->records || p.n > c->head->records - p.at)
		return wrong(c, "contents of memory");
	c->pages_end = p.addr + p.n;
	c->file_end = p.at + p.n;
	return true;
}

static bool fd_check(struct check *c, const uint8_t *data, size_t n)
{
	struct frozen_fd f;

	if (!c->in_proc || !c->has_leader || n != sizeof(f))
		return wrong(c, "a descriptor");
	memcpy(&f, data, sizeof(f));
	return (f.fd < (1u << 20) && f.file < c->nfiles) || wrong(c, "a descriptor");
}

int frozen_check(const struct frozen_head *head, uint64_t file_size, const uint8_t *records,
		 const char **ret_why)
{
	static bool (*const checks[])(struct check *, const uint8_t *, size_t) = {
		[FROZEN_PIPE] = pipe_check,	[FROZEN_FILE] = file_check,
		[FROZEN_PROC] = proc_check,	[FROZEN_ZOMBIE] = zombie_check,
		[FROZEN_TASK] = task_check,	[FROZEN_FD] = fd_check,
		[FROZEN_MAP] = map_check,	[FROZEN_PAGES] = pages_check,
		[FROZEN_SIGNAL] = signal_check,
	};
	static struct check c;
	const uint8_t *data;
	struct frozen_rec r;
	size_t at = 0;
	int ret;

	memset(&c, 0, sizeof(c));
	c.head = head;
	c.file_end = PAGE_SIZE;
	*ret_why = "its beginning";
	if (memcmp(head->magic, FROZEN_MAGIC, sizeof(head->magic)) || head->seed <= INIT_PID ||
	    head->seed > FROZEN_PID_MAX || head->records < PAGE_SIZE ||
	    (head->records & (PAGE_SIZE - 1)) || head->records > file_size ||
	    head->size > file_size - head->records || head->size > FROZEN_RECORDS_MAX)
		return -EINVAL;
	while ((ret = frozen_next(records, head->size, &at, &r, &data)) == 1)
		if (!checks[r.type](&c, data, r.size))
			break;
	*ret_why = "the order of its records";
	if (c.why)
		*ret_why = c.why;
	return ret == 0 && proc_end(&c) && c.nids ? 0 : -EINVAL;
}
