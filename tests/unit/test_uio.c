/* Guest memory and uio, with this process as its own guest. */
/* objects: src/kernel/platform/guestmem.c src/kernel/platform/gueststream.c src/kernel/platform/uio.c src/host/procmem.c src/host/file.c src/host/sys.c src/base/arena.c src/base/program.c src/base/log.c */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "tap.h"

#define END 0x7ffffffff000UL

static pid_t self;
static char *pages; /* two pages and a hole */

static uaddr_t ua(const void *p)
{
	return (uaddr_t)(uintptr_t)p;
}

static void test_memory(void)
{
	char buf[64];
	char *edge = pages + 2 * PAGE_SIZE - 4;

	memcpy(edge, "abcd", 4);
	ok(guest_read(self, buf, ua(edge), 4) == 0 && !memcmp(buf, "abcd", 4),
	   "reads up to the edge");
	ok(guest_read(self, buf, ua(edge), 5) == -EFAULT, "one more is a fault");
	ok(guest_read_some(self, buf, ua(edge), 64) == 4, "some: what is there");
	ok(guest_write_some(self, ua(edge), "wxyz1", 5) == 4 && !memcmp(edge, "wxyz", 4),
	   "the same for writing");
	ok(guest_read(self, buf, END, 1) == -EFAULT, "the end of the address space");
	ok(guest_read(self, buf, UINT64_MAX - 2, 8) == -EFAULT, "a range that wraps");
	ok(guest_write(self, END - 1, buf, 8) == -EFAULT, "a range over the end");
	ok(guest_read(self, buf, 0, 1) == -EFAULT, "null");
	ok(guest_read(self, buf, 0, 0) == 0, "nothing at null");
	ok(guest_write(self, ua("constant"), buf, 1) == -EFAULT, "memory that is read-only");
}

static void test_string(void)
{
	static char big[8192];
	char buf[16];
	char *edge = pages + 2 * PAGE_SIZE - 4;

	ok(guest_read_str(self, buf, ua("hello"), sizeof(buf)) == 5 && !strcmp(buf, "hello"),
	   "a string");
	ok(guest_read_str(self, buf, ua("0123456789abcdef"), 16) == -ENAMETOOLONG,
	   "one that is too long");
	ok(guest_read_str(self, buf, ua("0123456789abcde"), 16) == 15, "one that just fits");
	memcpy(edge, "abc", 4);
	ok(guest_read_str(self, buf, ua(edge), sizeof(buf)) == 3, "one that ends at the edge");
	edge[3] = 'd';
	ok(guest_read_str(self, buf, ua(edge), sizeof(buf)) == -EFAULT, "one that runs over it");
	memset(pages, 'x', 2 * PAGE_SIZE);
	pages[6000] = '\0';
	ok(guest_read_str(self, big, ua(pages), sizeof(big)) == 6000, "one over two pages");
	ok(guest_read_str(self, buf, END, sizeof(buf)) == -EFAULT, "no string there");
}

static void test_one(void)
{
	struct uio u;
	char buf[16];

	memset(pages, 0, PAGE_SIZE);
	uio_init_guest(&u, self, ua(pages), 10);
	ok(uio_put(&u, "01234567", 8) == 8 && u.left == 2, "put advances");
	ok(uio_put(&u, "abcd", 4) == 2 && !memcmp(pages, "01234567ab", 11),
	   "never more than is left");
	ok(uio_put(&u, "x", 1) == 0, "nothing is left");
	uio_back(&u, 3);
	ok(u.left == 3 && uio_put(&u, "ABC", 3) == 3 && !memcmp(pages, "0123456ABC", 10), "back");
	uio_init_guest(&u, self, ua(pages) + 2 * PAGE_SIZE - 3, 8);
	ok(uio_take(&u, buf, 8) == 3, "a short count at a hole");
	ok(uio_take(&u, buf, 5) == -EFAULT, "then a fault");
	uio_init_guest(&u, self, END - 2, 8);
	ok(uio_take(&u, buf, 1) == -EFAULT, "a buffer that ends outside gives nothing");
	uio_init_guest(&u, self, ua(pages), UINT64_MAX / 2);
	ok(uio_take(&u, buf, 1) == -EFAULT, "nor one that is too long");
	uio_init_guest(&u, self, ua(pages), 0x100000000UL);
	ok(u.left == UIO_MAX_BYTES, "lengths are cut");
	memset(pages, 1, PAGE_SIZE);
	uio_init_guest(&u, self, ua(pages), 100);
	ok(uio_put_zero(&u, 1000) == 100 && pages[99] == 0 && pages[100] == 1, "zeros");
	uio_init_kernel(&u, buf, 8);
	ok(uio_put(&u, "12345", 5) == 5 && uio_put(&u, "6789", 4) == 3 &&
		   !memcmp(buf, "12345678", 8),
	   "a buffer of the kernel");
	uio_back(&u, 4);
	ok(uio_take(&u, buf + 8, 8) == 4 && !memcmp(buf + 8, "5678", 4), "back in it");
}

static void test_vectors(void)
{
	static struct uio_vec v[1025];
	struct arena_stats before, after;
	char buf[128] = { 0 };
	struct uio u;

	arena_stats_get(&before);
	for (int i = 0; i < 40; i++)
		v[i] = (struct uio_vec){ ua(pages + i * 8), i % 4 ? 3 : 0 };
	memset(pages, '-', PAGE_SIZE);
	ok(uio_init_iov(&u, self, ua(v), 40) == 0 && u.left == 90, "40 vectors, some empty");
	memset(buf, 'q', sizeof(buf));
	ok(uio_put(&u, buf, 50) == 50 && uio_put(&u, buf, 50) == 40 && u.left == 0,
	   "moved in two steps");
	ok(pages[8] == 'q' && pages[10] == 'q' && pages[11] == '-' && pages[0] == '-',
	   "to the right places");
	uio_back(&u, 90);
	ok(u.left == 90 && uio_take(&u, buf, 128) == 90, "all the way back");
	uio_fini(&u);
	v[1].len = (uint64_t)-1;
	ok(uio_init_iov(&u, self, ua(v), 40) == -EINVAL, "a negative length");
	v[1] = (struct uio_vec){ END, 1 };
	ok(uio_init_iov(&u, self, ua(v), 3) == -EFAULT, "a vector outside");
	ok(uio_init_iov(&u, self, ua(v), 1025) == -EINVAL, "too many");
	ok(uio_init_iov(&u, self, 8, 2) == -EFAULT, "vectors that are not there");
	ok(uio_init_iov(&u, self, 0, 0) == 0 && u.left == 0 && uio_take(&u, buf, 1) == 0, "none");
	uio_fini(&u);
	v[0] = (struct uio_vec){ ua(pages), 4 };
	v[1] = (struct uio_vec){ ua(pages) + 2 * PAGE_SIZE - 2, 4 };
	v[2] = (struct uio_vec){ ua(pages), 4 };
	ok(uio_init_iov(&u, self, ua(v), 3) == 0 && uio_take(&u, buf, 12) == 6 && u.left == 6,
	   "a hole in the second of three");
	uio_fini(&u);
	arena_stats_get(&after);
	ok(before.blob_bytes == after.blob_bytes, "nothing is left over");
}

/* What a posted call's slot holds of its thread's memory. */
static void test_windows(void)
{
	struct guest_window *w = &guest_window;
	char in[16] = "0123456789", out[16] = { 0 }, buf[64];
	struct uio u;

	memset(pages, '-', 100);
	*w = (struct guest_window){
		.tid = self, .nin = 1, .out = ua(pages) + 32, .out_room = 8, .out_at = out
	};
	w->in[0].addr = ua(pages);
	w->in[0].len = 10;
	w->in[0].at = in;
	ok(guest_read(self, buf, ua(pages) + 2, 3) == 0 && !memcmp(buf, "234", 3),
	   "read from a window");
	ok(guest_read(self, buf, ua(pages) + 8, 4) == 0 && !memcmp(buf, "----", 4),
	   "half outside: from memory");
	ok(guest_read_str(self, buf, ua(pages), 5) == -ENAMETOOLONG && !memcmp(buf, "01234", 5),
	   "a string begins there");
	ok(guest_write(self, ua(pages) + 32, "ab", 2) == 0 && w->out_len == 2 && pages[32] == '-' &&
		   out[1] == 'b',
	   "written into a window");
	ok(guest_write(self, ua(pages) + 34, "cd", 2) == 0 && w->out_len == 4,
	   "more, without a gap");
	ok(guest_write(self, ua(pages) + 60, "zz", 2) == 0 && pages[60] == 'z' && w->out_len == 4,
	   "elsewhere: to memory");
	uio_init_guest(&u, self, ua(pages) + 36, 100);
	ok(uio_put(&u, "efgh", 4) == 4 && w->out_len == 8 && pages[36] == '-', "by a uio");
	ok(guest_write(self, ua(pages) + 40, "i", 1) == 0 && w->out_len == 8 && pages[40] == 'i',
	   "behind its end: to memory");
	ok(guest_write(self, ua(pages) + 38, "XYZ", 3) == 0 && !w->out_len && !w->out_room &&
		   !memcmp(pages + 32, "abcdefXYZ", 9),
	   "across its end: what was there goes first");
	*w = (struct guest_window){
		.tid = self, .out = ua(pages) + 32, .out_room = 8, .out_at = out
	};
	ok(guest_write(self, ua(pages) + 34, "Q", 1) == 0 && !w->out_room && pages[34] == 'Q',
	   "with a gap: to memory");
	*w = (struct guest_window){
		.tid = self, .out = ua(pages) + 32, .out_room = 8, .out_at = out
	};
	ok(guest_write(self, ua(pages) + 32, "RS", 2) == 0 &&
		   guest_read(self, buf, ua(pages) + 31, 3) == 0 && !memcmp(buf + 1, "RS", 2),
	   "read again after it was written");
	*w = (struct guest_window){ 0 };
}

int main(void)
{
	self = getpid();
	if (arena_init() < 0)
		return 1;
	pages = mmap(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED || munmap(pages + 2 * PAGE_SIZE, PAGE_SIZE) < 0)
		return 1;
	test_memory();
	test_string();
	test_one();
	test_vectors();
	test_windows();
	return tap_end();
}
