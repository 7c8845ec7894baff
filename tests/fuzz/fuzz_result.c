/* What a captured kernel says to its keeper as the result of a cell, and what vivd makes of it. Each
 * message of the input has two bytes for the length that the kernel claims; the bytes follow. What
 * is left is what was sent, or nothing, and always a value that is written and read again. */
/* objects: src/keeper/result.c src/daemon/state/output.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
/* libraries: -ljansson -lm */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "daemon/state/output.h"
#include "fuzz.h"
#include "keeper/keeper.h"

const char fuzz_name[] = "result";
const size_t fuzz_max = 4096;

struct keeper keeper = { .leave = true, .id = "cell" };
static char dir[] = "/dev/shm/viv-fuzz-result.XXXXXX";

static void dir_remove(void)
{
	rmdir(dir);
}

int keep_cells_dir(struct err *e)
{
	(void)e;
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void fuzz_init(void)
{
	FUZZ_CHECK(mkdtemp(dir));
	atexit(dir_remove);
}

static void value_check(char *p, size_t n)
{
	json_t *v = output_value(p, n), *again;
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

	FUZZ_CHECK(v && text && text_is_utf8(text, strlen(text)) && strlen(text) <= 6 * n + 2);
	again = json_loads(text, JSON_DECODE_ANY, NULL);
	FUZZ_CHECK(again && json_equal(v, again));
	json_decref(again);
	json_decref(v);
	free(text);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static char sent[2 * CELL_RESULT_MAX], left[CELL_RESULT_MAX + 1];
	size_t want = 0;
	bool excess = false;
	char name[64];
	ssize_t n = -1;
	int fd;

	/* Pieces of the input again and again, for results of any size. */
	for (size_t at = 0, said = 0; at + 2 <= size && said < 300; said++) {
		struct ctl_msg m = { .type = CTL_RESULT, .a = (int16_t)(data[at] | data[at + 1] << 8) };
		size_t take = MIN(size - at - 2, sizeof(m.text)), is;

		memcpy(m.text, data + at + 2, take);
		is = m.a < 0 ? 0 : MIN((size_t)m.a, sizeof(m.text));
		if (!excess && want + is <= CELL_RESULT_MAX) {
			memcpy(sent + want, m.text, is);
			want += is;
		} else {
			excess = true;
		}
		result_message(&m);
		at = data[at] & 1 ? at + 2 + take : at + 1;
		at = at + 2 > size && data[0] & 2 ? 0 : at;
	}
	result_leave();
	snprintf(name, sizeof(name), "%s/cell.result", dir);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, left, sizeof(left));
		close(fd);
		unlink(name);
	}
	FUZZ_CHECK(excess || !want ? n < 0 : n == (ssize_t)want && !memcmp(left, sent, want));
	if (n > 0)
		value_check(left, (size_t)n);
}
