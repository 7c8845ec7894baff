/* What is added to an image's own /etc/hosts. */
/* objects: src/kernel/fs/image/etc.c src/kernel/fs/image/trust.c src/base/base64.c src/base/sha1.c src/kernel/platform/cell.c */
#include <stdlib.h>
#include <string.h>

#include "kernel/fs/image/etc.h"
#include "kernel/platform/cell.h"
#include "tap.h"

static char buf[4096];

static const char *complete(const char *text, const char *hostname)
{
	size_t n = strlen(text);

	cell.spec.hostname = (char *)(uintptr_t)hostname;
	memcpy(buf, text, n);
	n = etc_hosts_complete(buf, n, sizeof(buf) - 1);
	buf[n] = 0;
	return buf;
}

static void same(const char *got, const char *want, const char *what)
{
	if (!ok(!strcmp(got, want), what))
		printf("# got %s\n", got);
}

int main(void)
{
	static const char made[] =
		"127.0.0.1\tlocalhost\n127.0.0.1\tbox\n::1\tlocalhost ip6-localhost ip6-loopback\n";

	same(complete("", "box"), made, "nothing there");
	same(complete("", "localhost"),
	     "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
	     "a cell called localhost");
	same(complete("127.0.0.1 localhost\n1.2.3.4 db\n", "box"),
	     "127.0.0.1 localhost\n1.2.3.4 db\n127.0.0.1\tbox\n", "the name is added");
	same(complete("127.0.0.1 localhost", "box"), "127.0.0.1 localhost\n127.0.0.1\tbox\n",
	     "no newline at the end");
	same(complete("127.0.0.1 localhost BOX # x\n", "box"), "127.0.0.1 localhost BOX # x\n",
	     "the name is there");
	same(complete("127.0.0.1 localhost Box", "box"), "127.0.0.1 localhost Box",
	     "the name ends the text");
	same(complete("127.0.0.1 localhost # box\n", "box"),
	     "127.0.0.1 localhost # box\n127.0.0.1\tbox\n", "the name in a comment");
	same(complete("box 127.0.0.1 localhost box2 abox\n", "box"),
	     "box 127.0.0.1 localhost box2 abox\n127.0.0.1\tbox\n",
	     "the name as an address, and parts of it");
	same(complete("#localhost\n", "box"),
	     "#localhost\n127.0.0.1\tlocalhost\n127.0.0.1\tbox\n::1\tlocalhost ip6-localhost "
	     "ip6-loopback\n",
	     "localhost is missing");
	same(complete("127.0.0.1\tlocalhost\r\n10.0.0.1\tbox\r\n", "box"),
	     "127.0.0.1\tlocalhost\r\n10.0.0.1\tbox\r\n", "lines of another system");
	/* Whatever there is and wherever it ends, it stays within its room and keeps what was
	 * there. */
	srand(7);
	bool good = true;
	for (int i = 0; i < 20000; i++) {
		static const char alphabet[] = " \t\n#\r\0boxlocalhst127.:";
		size_t n = (size_t)rand() % 200, room = n + (size_t)rand() % 300, got;
		char *text = malloc(room + 1), *was = malloc(n + 1);

		for (size_t k = 0; k < n; k++)
			text[k] = was[k] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		got = etc_hosts_complete(text, n, room);
		good = good && got >= n && got <= room && got - n <= etc_hosts_room() &&
		       !memcmp(text, was, n);
		free(text);
		free(was);
	}
	ok(good, "random texts");
	return tap_end();
}
