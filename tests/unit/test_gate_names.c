/* Which address stands for which name, in this gate and in the one after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/gate.h"
#include "tap.h"

static const char *bound(const char *name, const char *real)
{
	static char text[8][64];
	static unsigned next;
	const struct ip *a;
	struct ip ip;

	if (!ip_parse(real, &ip) || !(a = names_bind(name, &ip, !ip_is_v4(&ip))))
		return "none";
	return strcpy(text[next++ % 8], ip_text(a).str);
}

static void bind_some(void)
{
	struct ip ip;

	ok(!strcmp(bound("a.org", "192.0.2.1"), "192.0.2.1"), "the real address");
	ok(!strcmp(bound("a.org", "192.0.2.9"), "192.0.2.1"), "stays");
	ok(!strcmp(bound("b.org", "192.0.2.1"), "198.18.0.1"), "another name has another");
	ok(!strcmp(bound("a.org", "2001:db8::1"), "2001:db8::1"), "one of each family");
	ok(!strcmp(bound("b.org", "2001:db8::1"), "fd7a:7669:7600::1"), "made, of IPv6");
	ok(!strcmp(bound("c.org", "127.0.0.1"), "198.18.0.2") && !strcmp(bound("c.org", "::1"), "fd7a:7669:7600::2"),
	   "loopback is the cell's own");
	ok(!strcmp(bound("d.org", "198.18.0.3"), "198.18.0.3") || !strcmp(bound("d.org", "198.18.0.3"), "198.18.0.4"),
	   "a made address is never taken for a real one");
	ok(ip_parse("198.18.0.1", &ip) && !strcmp(names_find(&ip), "b.org"), "found by the address");
	ok(ip_parse("192.0.2.77", &ip) && !names_find(&ip), "which others have not");
	ok(names_has("a.org") && !names_has("x.org"), "found by the name");
}

static void bind_many(void)
{
	unsigned wrong = 0, n = 0;
	char name[32];

	for (; n < NAMES_MAX; n++) {
		struct ip ip;
		const char *text;

		snprintf(name, sizeof(name), "n%u.org", n);
		text = bound(name, "192.0.2.1");
		if (!strcmp(text, "none"))
			break;
		wrong += !ip_parse(text, &ip) || strcmp(names_find(&ip), name) != 0;
	}
	eq(wrong, 0, "each address stands for its name");
	ok(n > NAMES_MAX - 16 && n < NAMES_MAX, "there is an end");
	ok(!strcmp(bound("a.org", "192.0.2.9"), "192.0.2.1"), "what was there stays");
}

/* The next gate reads what was written, and what nobody should have written. */
static void restored(int fd)
{
	static const char bad[] = "1.2.3.4\nx y\n192.0.2.200 UPPER\n192.0.2.201 a b\n192.0.2.202 \n192.0.2.1 thief.org\n";
	struct ip ip;
	pid_t child = fork();
	int status = -1;

	if (!child) {
		(void)!write(fd, bad, sizeof(bad) - 1);
		(void)lseek(fd, 0, SEEK_SET);
		dup2(fd, GATE_FD_NAMES);
		names_restore();
		_exit(ip_parse("192.0.2.1", &ip) && names_find(&ip) && !strcmp(names_find(&ip), "a.org") &&
				      !names_has("thief.org") && !names_has("UPPER") && !names_has("a b") &&
				      !strcmp(bound("b.org", "192.0.2.50"), "198.18.0.1") &&
				      !strcmp(bound("e.org", "192.0.2.1"), "198.18.0.2")
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	eq(status, 0, "the next gate has the same");
}

int main(void)
{
	int fd = memfd_create("names", 0);
	pid_t child;
	int status;

	/* The tables are those of one process. */
	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(fd, GATE_FD_NAMES);
		_exit(!strcmp(bound("a.org", "192.0.2.1"), "192.0.2.1") && !strcmp(bound("b.org", "192.0.2.1"), "198.18.0.1") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	eq(status, 0, "a gate");
	fflush(stdout);
	restored(fd);
	dup2(fd, GATE_FD_NAMES);
	bind_some();
	bind_many();
	return tap_end();
}
