/* Text that grows: printed into by the show functions of the tables, held as a snapshot by an
 * open file. Memory is a blob that doubles; at TEXT_MAX, or when the arena is used up, the text
 * is cut and marked. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/program.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/task/clock.h"

#define TEXT_FIRST 1024

static bool text_reserve(struct textbuf *b, size_t more)
{
	size_t want = b->len + more + 1, cap = b->cap ? b->cap : TEXT_FIRST;
	char *data;

	if (want <= b->cap)
		return true;
	if (more > TEXT_MAX || want > TEXT_MAX) {
		b->failed = true;
		return false;
	}
	while (cap < want)
		cap *= 2;
	data = b->data ? blob_resize(b->data, b->cap, cap) : blob_new(cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void text_put(struct textbuf *b, const void *data, size_t n)
{
	if (b->failed || !text_reserve(b, n))
		return;
	memcpy(b->data + b->len, data, n);
	b->len += n;
}

void text_puts(struct textbuf *b, const char *s)
{
	text_put(b, s, strlen(s));
}

void text_printf(struct textbuf *b, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(line)) {
		text_put(b, line, (size_t)n);
		return;
	}
	if (b->failed || !text_reserve(b, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void text_pad(struct textbuf *b, size_t start, size_t column)
{
	while (!b->failed && b->len < start + column)
		text_put(b, " ", 1);
}

bool text_pause(struct textbuf *b, uint64_t n)
{
	b->more = n % 32 == 31 && !b->failed && turn_is_long();
	return b->more;
}

void text_free(struct textbuf *b)
{
	if (b->state)
		(*CHECKED(b->state_free))(b->state);
	if (b->data)
		blob_free(b->data, b->cap);
	memset(b, 0, sizeof(*b));
}

bool text_to_number(const char *s, uint64_t *ret_)
{
	uint64_t n = 0;
	size_t len = strlen(s);

	if (len == 0 || len > 18 || (s[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(s[i] - '0');
	}
	*ret_ = n;
	return true;
}
