/*
 * Reads and writes whose buffers are at odd places, each so often that it goes the shortest way
 * there is: across pages, at the end of a mapping, into memory that cannot be written, into
 * nothing. What does not fit is not lost, and nothing beside the buffer changes.
 */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define TIMES 700

static int sv[2];
static char *mem; /* two pages, then nothing */

static void tell(const char *what, int times, long first, int e, int same)
{
	printf("%s: %ld %s, %s\n", what, first, first < 0 ? ename(e) : "bytes",
	       same == times ? "always" : "NOT ALWAYS");
}

/* len bytes are there; they are read to addr, with room for n. */
static void reading(const char *what, char *addr, size_t n, size_t len)
{
	char data[4096], drain[8192];
	long first = 0;
	int e = 0, same = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + 1);
	for (int r = 0; r < TIMES; r++) {
		if (write(sv[0], data, len) != (ssize_t)len)
			abort();
		errno = 0;
		long got = read(sv[1], addr, n), rest;

		if (r == 0) {
			first = got;
			e = errno;
		}
		rest = recv(sv[1], drain, sizeof(drain), MSG_DONTWAIT);
		if (got == first && errno != EFAULT && (got <= 0 || !memcmp(addr, data, (size_t)got)) &&
		    (rest < 0 ? 0 : rest) + (got < 0 ? 0 : got) == (long)len)
			same++;
		else if (got == first && got < 0)
			same += rest == (long)len && !memcmp(drain, data, len);
	}
	tell(what, TIMES, first, e, same);
}

static void writing(const char *what, const char *addr, size_t n)
{
	char drain[8192];
	long first = 0;
	int e = 0, same = 0;

	for (int r = 0; r < TIMES; r++) {
		errno = 0;
		long put = write(sv[0], addr, n), rest;

		if (r == 0) {
			first = put;
			e = errno;
		}
		rest = recv(sv[1], drain, sizeof(drain), MSG_DONTWAIT);
		same += put == first && (rest < 0 ? 0 : rest) == (put < 0 ? 0 : put) &&
			(put <= 0 || !memcmp(drain, addr, (size_t)put));
	}
	tell(what, TIMES, first, e, same);
}

int main(void)
{
	char *readonly;
	long page = 4096;
	int same = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv))
		return 2;
	mem = mmap(NULL, (size_t)page * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(mem + 2 * page, (size_t)page, PROT_NONE);
	readonly = mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reading("in a page", mem + 100, 200, 150);
	reading("across pages", mem + page - 50, 200, 150);
	reading("more room than there is memory", mem + 2 * page - 100, 5000, 60);
	reading("less than is there", mem, 100, 150);
	reading("at the last byte", mem + 2 * page - 1, 1, 10);
	reading("read-only", readonly, 100, 50);
	reading("nowhere", NULL, 100, 50);
	reading("not an address", (char *)0x800000000000, 100, 50);
	reading("much", mem, 8000, 4000);
	writing("in a page", mem + 100, 200);
	writing("across pages", mem + page - 50, 200);
	writing("nothing", mem, 0);
	writing("from nowhere", NULL, 100);
	writing("from read-only memory", readonly, 100);
	writing("much", mem, 6000);

	/* What is behind the bytes that came stays as it was; so does all of it when none did. */
	for (int r = 0; r < TIMES; r++) {
		memset(mem, 0x55, 300);
		if (write(sv[0], "abc", 3) != 3 || read(sv[1], mem + 8, 200) != 3)
			abort();
		same += mem[7] == 0x55 && !memcmp(mem + 8, "abc", 3) && mem[11] == 0x55;
		memset(mem, 0x55, 300);
		same += read(sv[1], mem + 8, 200) == -1 && errno == EAGAIN && mem[8] == 0x55 && mem[15] == 0x55;
	}
	CHECK(same == 2 * TIMES);

	/* Events for which there is no room are told again. */
	int ep = epoll_create1(0);
	struct epoll_event *ev = (struct epoll_event *)(mem + 2 * page - 12);

	epoll_ctl(ep, EPOLL_CTL_ADD, sv[0], &(struct epoll_event){ .events = EPOLLOUT, .data.u64 = 77 });
	same = 0;
	for (int r = 0; r < TIMES; r++) {
		same += epoll_wait(ep, ev, 1, 0) == 1 && ev->data.u64 == 77;
		same += epoll_wait(ep, ev, 5, 0) == 1 && ev->data.u64 == 77;
		same += epoll_wait(ep, (struct epoll_event *)readonly, 1, 0) == -1 && errno == EFAULT;
		same += epoll_ctl(ep, EPOLL_CTL_MOD, sv[0], (void *)(mem + 2 * page - 4)) == -1 && errno == EFAULT;
	}
	CHECK(same == 4 * TIMES);
	return 0;
}
