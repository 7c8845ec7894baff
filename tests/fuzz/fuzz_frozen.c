/* The records of a frozen cell. The input is patches (offset, length, bytes) over one that is well
 * made; or, if its first byte is 0, the records themselves. */
/* objects: src/kernel/cell/frozen.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "kernel/cell/frozen.h"
#include "stub/stub.h"

const char fuzz_name[] = "frozen";
const size_t fuzz_max = 4096;

static uint8_t good[8192];
static size_t good_size;

static void put(uint32_t type, const void *p, size_t n, const char *more, size_t nmore)
{
	const struct frozen_rec r = { type, (uint32_t)(n + nmore) };

	memcpy(good + good_size, &r, sizeof(r));
	memcpy(good + good_size + sizeof(r), p, n);
	if (nmore)
		memcpy(good + good_size + sizeof(r) + n, more, nmore);
	good_size += sizeof(r) + ALIGN_UP(n + nmore, 8UL);
}

static void proc_put(int pid, int ppid)
{
	struct frozen_proc p = {
		.n = { .pid = pid, .ppid = ppid, .pgid = 2, .sid = 2, .is_first = pid == 2 },
		.nthreads = 2,
		.cwd = 2,
		.exe = 5
	};
	struct frozen_task t = { .tid = pid, .sp = 0x7fff0000 };
	const struct frozen_signal s = { .info = { .signo = 17 } };
	const struct frozen_fd fd = { .fd = 1, .file = 1 };
	struct frozen_map m = { .start = 0x10000, .end = 0x20000, .prot = 3 };
	static uint64_t at = PAGE_SIZE;
	struct frozen_pages g = { .addr = 0x11000, .n = 0x2000, .at = at };

	put(FROZEN_PROC, &p, sizeof(p), "/\0/bin", 7);
	put(FROZEN_TASK, &t, sizeof(t), NULL, 0);
	put(FROZEN_SIGNAL, &s, sizeof(s), NULL, 0);
	t.tid = pid + 1;
	put(FROZEN_TASK, &t, sizeof(t), NULL, 0);
	put(FROZEN_FD, &fd, sizeof(fd), NULL, 0);
	put(FROZEN_MAP, &m, sizeof(m), NULL, 0);
	put(FROZEN_PAGES, &g, sizeof(g), NULL, 0);
	m = (struct frozen_map){
		.start = 0x20000, .end = 0x21000, .prot = 5, .memory = FROZEN_PRIVATE
	};
	put(FROZEN_MAP, &m, sizeof(m), "/bin/sh", 8);
	m = (struct frozen_map){
		.start = STUB_BASE, .end = STUB_BASE + PAGE_SIZE, .prot = 3, .memory = FROZEN_STUB
	};
	put(FROZEN_MAP, &m, sizeof(m), NULL, 0);
	at += g.n;
	g = (struct frozen_pages){ .addr = STUB_BASE, .n = PAGE_SIZE, .at = at };
	at += g.n;
	put(FROZEN_PAGES, &g, sizeof(g), NULL, 0);
}

static struct frozen_head head_of(size_t size)
{
	struct frozen_head h = {
		.magic = FROZEN_MAGIC, .records = 7 * PAGE_SIZE, .size = size, .seed = 3
	};

	return h;
}

void fuzz_init(void)
{
	const struct frozen_pipe pipe = { .capacity = 65536, .used = 5 };
	const struct frozen_file end = { .kind = FROZEN_PIPE_READ }, path = { .pos = 7 };
	const struct frozen_zombie z = { .pid = 9, .ppid = 4, .pgid = 2, .sid = 2 };
	struct frozen_head h;
	const char *why;

	put(FROZEN_PIPE, &pipe, sizeof(pipe), "hello", 5);
	put(FROZEN_FILE, &end, sizeof(end), NULL, 0);
	put(FROZEN_FILE, &path, sizeof(path), "/root/f", 8);
	proc_put(4, INIT_PID);
	put(FROZEN_ZOMBIE, &z, sizeof(z), NULL, 0);
	proc_put(6, 4);
	h = head_of(good_size);
	FUZZ_CHECK(frozen_check(&h, h.records + h.size, good, &why) == 0);
}

static bool is_among(const int32_t *ids, size_t n, int32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* As thaw.c walks what was found to be right. */
static void walk(const struct frozen_head *h, const uint8_t *records)
{
	const uint8_t *data;
	struct frozen_rec r;
	uint32_t nfiles = 0;
	uint64_t copied = 0;
	size_t at = 0, nparents = 0;
	static int32_t parents[FROZEN_TASKS_MAX + 1];
	bool has_leader = false;

	parents[nparents++] = INIT_PID;
	while (frozen_next(records, h->size, &at, &r, &data) == 1) {
		struct frozen_proc p;
		struct frozen_pages g;
		struct frozen_fd f;
		struct frozen_map m;
		struct frozen_zombie z;

		FUZZ_CHECK(data + r.size <= records + h->size);
		switch (r.type) {
		case FROZEN_FILE:
			nfiles++;
			if (r.size > sizeof(struct frozen_file))
				FUZZ_CHECK(strlen((const char *)data + sizeof(struct frozen_file)) +
						   1 + sizeof(struct frozen_file) ==
					   r.size);
			break;
		case FROZEN_PROC:
			memcpy(&p, data, sizeof(p));
			FUZZ_CHECK(strlen((const char *)data + sizeof(p)) + 1 == p.cwd);
			FUZZ_CHECK(strlen((const char *)data + sizeof(p) + p.cwd) + 1 == p.exe);
			FUZZ_CHECK(is_among(parents, nparents, p.n.ppid));
			parents[nparents++] = p.n.pid;
			has_leader = false;
			break;
		case FROZEN_ZOMBIE:
			memcpy(&z, data, sizeof(z));
			FUZZ_CHECK(is_among(parents, nparents, z.ppid) &&
				   !is_among(parents, nparents, z.pid));
			break;
		case FROZEN_TASK:
			has_leader = true;
			break;
		case FROZEN_FD:
			memcpy(&f, data, sizeof(f));
			FUZZ_CHECK(f.file < nfiles && has_leader);
			break;
		case FROZEN_MAP:
			memcpy(&m, data, sizeof(m));
			FUZZ_CHECK(m.end > m.start && m.end < 1UL << 47);
			FUZZ_CHECK(m.memory == FROZEN_STUB || m.end <= STUB_BASE ||
				   m.start >= STUB_BASE + STUB_SPAN);
			break;
		case FROZEN_PAGES:
			memcpy(&g, data, sizeof(g));
			FUZZ_CHECK(g.at + g.n <= h->records && g.n);
			copied += g.n;
			FUZZ_CHECK(copied <= h->records);
			break;
		default:
			break;
		}
	}
	FUZZ_CHECK(at == h->size);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct frozen_head h;
	uint8_t *records;
	const char *why;
	size_t n;

	if (!size)
		return;
	n = data[0] ? good_size : size - 1;
	records = malloc(n ? n : 1);
	if (!records)
		return;
	memcpy(records, data[0] ? good : data + 1, n);
	for (size_t at = 1; data[0] && at + 4 <= size;) {
		size_t off = (data[at] | (size_t)data[at + 1] << 8) % n,
		       len = data[at + 2] % 16 + 1;

		len = MIN(MIN(len, size - at - 3), n - off);
		memcpy(records + off, data + at + 3, len);
		at += 3 + len;
	}
	h = head_of(n);
	if (frozen_check(&h, h.records + h.size, records, &why) == 0)
		walk(&h, records);
	else
		FUZZ_CHECK(why);
	free(records);
}
