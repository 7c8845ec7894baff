/* The fuzzers' common half: makes inputs, remembers those that reached something new, and keeps the
 * one that crashed.
 *
 *   NAME [--runs N] [--seconds N] [--seed N] [--corpus DIR] [--crash DIR] [FILE...]
 *
 * Every file of the corpus is run as it is, then mutations of what is known. The parsers' objects
 * are compiled with -fsanitize-coverage=trace-pc,trace-cmp: edges tell what is new, constants that
 * were compared with become a dictionary. With --runs the same seed makes the same inputs. With
 * FILEs only those are run. A find is written to the crash folder and the process ends with the
 * sanitizer's status; an input that takes ten seconds is a find too. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAP_SIZE 16384u
#define POOL_MAX 4096
#define DICT_MAX 1024

struct input {
	uint8_t *data;
	size_t size;
};

static struct input pool[POOL_MAX];
static size_t npool;
static uint8_t edges[MAP_SIZE] __attribute__((aligned(8))), known[MAP_SIZE];
static uint64_t dict[DICT_MAX];
static size_t ndict;
static uintptr_t last_pc;
static bool tracing;
static uint64_t state = 1;
static uint8_t *current;
static size_t current_size;
static const char *crash_dir = ".";

/* As the sanitizers print it. Nothing here is freed at the end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=0:exitcode=99";
}
void __sanitizer_set_death_callback(void (*fn)(void));

/* ---- what the instrumented objects call ---- */

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	uintptr_t pc = (uintptr_t)__builtin_return_address(0);
	uint8_t *e = &edges[((pc >> 2) ^ (last_pc << 3)) % MAP_SIZE];

	last_pc = pc >> 2;
	if (tracing && *e < 255)
		++*e;
}

static void dict_add(uint64_t v)
{
	if (!tracing || v < 2)
		return;
	for (size_t i = 0; i < ndict; i++)
		if (dict[i] == v)
			return;
	if (ndict < DICT_MAX)
		dict[ndict++] = v;
}

/* Fractions are no words of a format. */
void __sanitizer_cov_trace_cmpd(double a, double b);
void __sanitizer_cov_trace_cmpd(double a, double b)
{
	(void)a, (void)b;
}

#define TRACE_CMP(n, type)                                  \
	void __sanitizer_cov_trace_cmp##n(type a, type b);       \
	void __sanitizer_cov_trace_const_cmp##n(type a, type b); \
	void __sanitizer_cov_trace_cmp##n(type a, type b)        \
	{                                                        \
		(void)a, (void)b;                                \
	}                                                        \
	void __sanitizer_cov_trace_const_cmp##n(type a, type b)  \
	{                                                        \
		(void)b, dict_add(a);                            \
	}
TRACE_CMP(1, uint8_t)
TRACE_CMP(2, uint16_t)
TRACE_CMP(4, uint32_t)
TRACE_CMP(8, uint64_t)
void __sanitizer_cov_trace_switch(uint64_t v, void *cases);
void __sanitizer_cov_trace_switch(uint64_t v, void *cases)
{
	const uint64_t *c = cases; /* how many, their width, the values */

	(void)v;
	for (uint64_t i = 0; tracing && i < c[0]; i++)
		dict_add(c[2 + i]);
}

/* ---- a find ---- */

static void current_save(void)
{
	char path[512];
	uint32_t h = 2166136261u;
	int fd;

	if (!current)
		return;
	for (size_t i = 0; i < current_size; i++)
		h = (h ^ current[i]) * 16777619u;
	snprintf(path, sizeof(path), "%s/%s-%08x", crash_dir, fuzz_name, h);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, current, current_size) < 0)
		perror(path);
	fprintf(stderr, "the input is in %s\n", path);
}

_Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	current_save();
	_exit(98);
}

static void on_alarm(int sig)
{
	(void)sig;
	fuzz_fail(__FILE__, __LINE__, "an input takes less than ten seconds");
}

/* ---- mutation ---- */

static uint64_t r(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

static void put(uint8_t *p, size_t n, uint64_t v, bool swap)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * (swap ? n - 1 - i : i));
}

static uint64_t number(void)
{
	static const uint64_t edge[] = { 0, 1, 2, 7, 8, 15, 16, 63, 64, 127, 128, 255, 256, 4095, 4096, 65535, 65536, 0x7fffffff, 0x80000000,
					 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000, UINT64_MAX };

	switch (r(3)) {
	case 0:
		return ndict ? dict[r(ndict)] : 0;
	case 1:
		return edge[r(ARRAY_LEN(edge))] + r(3) - 1;
	default:
		return r(1u << r(17));
	}
}

static size_t mutate_once(uint8_t *p, size_t n)
{
	size_t at = n ? r(n) : 0, len, width = 1u << r(4);

	switch (n ? r(9) : 2) {
	case 0:
		p[at] ^= (uint8_t)(1u << r(8));
		break;
	case 1:
		p[at] = (uint8_t)r(256);
		break;
	case 2: /* insert */
		len = 1 + r(r(2) ? 8 : 64);
		if (n + len > fuzz_max)
			break;
		memmove(p + at + len, p + at, n - at);
		for (size_t i = 0; i < len; i++)
			p[at + i] = (uint8_t)(r(2) ? r(256) : p[at + len < n + len ? at + len : at]);
		return n + len;
	case 3: /* remove */
		len = r(2) ? 8 : 256;
		len = 1 + r(MIN(n - at, len));
		memmove(p + at, p + at + len, n - at - len);
		return n - len;
	case 4:
	case 5: /* a number that means something, often where numbers lie */
		if (r(2))
			at &= ~(width - 1);
		if (at + width <= n)
			put(p + at, width, number(), !r(8));
		break;
	case 6: { /* a piece of another input */
		const struct input *o = &pool[r(npool)];
		size_t from;

		if (!o->size)
			break;
		from = r(o->size);
		len = 1 + r(MIN(o->size - from, fuzz_max - at));
		memmove(p + at, o->data + from, len);
		return MAX(n, at + len);
	}
	case 7: /* a piece of itself again */
		len = 1 + r(MIN(n - at, (size_t)64));
		if (n + len > fuzz_max)
			break;
		memmove(p + n, p + at, len);
		return n + len;
	case 8:
		if (at + width <= n) {
			uint64_t v = 0;

			memcpy(&v, p + at, width);
			put(p + at, width, v + r(32) - 16, false);
		}
		break;
	}
	return n;
}

/* ---- running ---- */

static bool is_new(void)
{
	bool more = false;

	for (size_t i = 0; i < MAP_SIZE; i++) {
		if (i % 8 == 0 && !*(const uint64_t *)(edges + i)) {
			i += 7;
			continue;
		}
		uint8_t c = edges[i], bucket = (uint8_t)(c == 0 ? 0 : c < 4 ? 1 << (c - 1) : c < 16 ? 8 : c < 128 ? 16 : 32);

		if (bucket & ~known[i]) {
			known[i] |= bucket;
			more = true;
		}
	}
	return more;
}

static bool run(const uint8_t *data, size_t size)
{
	/* A buffer of just that size, so that the sanitizer sees a step beyond it. */
	current = malloc(size ? size : 1);
	if (!current)
		exit(2);
	memcpy(current, data, size);
	current_size = size;
	memset(edges, 0, sizeof(edges));
	last_pc = 0;
	tracing = true;
	fuzz_one(current, size);
	tracing = false;
	free(current);
	current = NULL;
	return is_new();
}

static void pool_add(const uint8_t *data, size_t size)
{
	struct input *in = &pool[npool < POOL_MAX ? npool++ : r(POOL_MAX)];

	free(in->data);
	in->data = malloc(fuzz_max);
	if (!in->data)
		exit(2);
	memcpy(in->data, data, size);
	in->size = size;
}

static size_t file_read(const char *path, uint8_t *buf)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, fuzz_max);

	if (n < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	return (size_t)n;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static size_t corpus_run(const char *dir, uint8_t *buf)
{
	struct dirent **list;
	int n = scandir(dir, &list, not_hidden, alphasort);
	char path[1024];

	if (n < 0) {
		perror(dir);
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		size_t size = file_read(path, buf);

		alarm(10);
		(void)run(buf, size);
		pool_add(buf, size);
		free(list[i]);
	}
	free(list);
	return (size_t)n;
}

int main(int argc, char **argv)
{
	uint64_t runs = 0, seconds = 0, done = 0, seed = 1, fresh = 0;
	const char *corpus = NULL;
	uint8_t *buf = malloc(fuzz_max + 1);
	time_t end;
	int i;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--runs"))
			runs = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--corpus"))
			corpus = argv[i + 1];
		else if (!strcmp(argv[i], "--crash"))
			crash_dir = argv[i + 1];
		else
			return fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]), 2;
	}
	if (!buf)
		return 2;
	state = seed * 0x9e3779b97f4a7c15u | 1;
	__sanitizer_set_death_callback(current_save);
	signal(SIGALRM, on_alarm);
	fuzz_init();
	if (i < argc) {
		for (; i < argc; i++)
			(void)run(buf, file_read(argv[i], buf));
		return 0;
	}
	if (corpus)
		done = corpus_run(corpus, buf);
	if (!npool)
		pool_add((const uint8_t *)"", 0);
	end = time(NULL) + (time_t)seconds;
	while (seconds ? time(NULL) < end : done < runs) {
		alarm(10);
		for (int k = 0; k < 256; k++, done++) {
			const struct input *from = &pool[r(npool)];
			size_t size = from->size;

			memcpy(buf, from->data, size);
			for (uint64_t m = 1 + r(1u << r(5)); m; m--)
				size = mutate_once(buf, size);
			if (run(buf, size)) {
				pool_add(buf, size);
				fresh++;
			}
		}
	}
	size_t reached = 0;
	for (size_t e = 0; e < MAP_SIZE; e++)
		reached += known[e] != 0;
	printf("%s: %llu inputs, %llu of them new, %zu edges, seed %llu\n", fuzz_name, (unsigned long long)done,
	       (unsigned long long)fresh, reached, (unsigned long long)seed);
	return 0;
}
