/* Makes raw files of a journal that looks like that of a long build: journal_make DIR RECORDS [CELL]
 * Each compiler process is forked, runs a program, reads headers, writes an object and ends. */
#include <stdint.h>

#include "journalmake.h"

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct maker m;

static void add(enum journal_kind kind, const void *record, int pid)
{
	/* Calls of a build are microseconds to milliseconds apart. */
	m.mono += (int64_t)(rnd() % (rnd() % 16 ? 30000 : 2000000));
	maker_add(&m, kind, record, pid);
	if (m.frames.len > 32768)
		maker_flush(&m);
	if (lseek(m.fd, 0, SEEK_CUR) >= (off_t)JOURNAL_RAW_MAX)
		maker_rotate(&m);
}

#define TEXT(s) ((struct jtext){ s, (uint32_t)strlen(s) })

static void unit(uint64_t i, int pid)
{
	char object[128], source[128], args[512], header[128];
	uint8_t hash[JOURNAL_HASH];
	int n;

	add(J_FORK, &(struct journal_FORK){ .parent = 7 }, pid);
	snprintf(source, sizeof(source), "/work/project/src/module%llu/file%llu.c",
		 (unsigned long long)(i / 40), (unsigned long long)i);
	snprintf(object, sizeof(object), "/work/project/build/module%llu/file%llu.o",
		 (unsigned long long)(i / 40), (unsigned long long)i);
	n = snprintf(args, sizeof(args), "cc1%c-O2%c-Wall%c-Isrc%c-c%c%s%c-o%c%s", 0, 0, 0, 0, 0,
		     source, 0, 0, object);
	for (unsigned k = 0; k < JOURNAL_HASH; k += 8)
		memcpy(hash + k, &(uint64_t){ rnd() }, 8);
	add(J_EXEC,
	    &(struct journal_EXEC){ .path = TEXT("/usr/lib/gcc/x86_64-linux-gnu/12/cc1"),
				    .args = { args, (uint32_t)n + 1 },
				    .cwd = TEXT("/work/project"),
				    .parent = 7 },
	    pid);
	add(J_READ, &(struct journal_READ){ TEXT(source) }, pid);
	for (unsigned k = 0; k < 20 + rnd() % 30; k++) {
		snprintf(header, sizeof(header),
			 rnd() % 3 ? "/usr/include/x86_64-linux-gnu/bits/header%u.h"
				   : "/work/project/src/include/part%u.h",
			 (unsigned)(rnd() % 300));
		add(J_READ, &(struct journal_READ){ TEXT(header) }, pid);
	}
	add(J_CREATE, &(struct journal_CREATE){ .path = TEXT(object), .mode = 0100644 }, pid);
	add(J_OPEN, &(struct journal_OPEN){ .path = TEXT(object), .flags = 0x241 }, pid);
	add(J_WRITE, &(struct journal_WRITE){ .path = TEXT(object), .size = rnd() % 100000 }, pid);
	add(J_EXIT, &(struct journal_EXIT){ 0 }, pid);
	add(J_CONTENT,
	    &(struct journal_CONTENT){ .path = TEXT(object), .size = rnd() % 100000, .hash = hash },
	    pid);
}

int main(int argc, char **argv)
{
	uint64_t want = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int dir = argc > 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;

	if (dir < 0 || !want) {
		fprintf(stderr, "usage: journal_make DIR RECORDS [CELL]\n");
		return 2;
	}
	maker_init(&m, dir, argc > 3 ? argv[3] : "bench");
	for (uint64_t i = 0; m.seq + m.count <= want; i++)
		unit(i, 100 + (int)(i % 30000));
	maker_close(&m);
	return 0;
}
