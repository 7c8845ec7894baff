/* The grammar of published ports (spec/ports.h). */
/* objects: src/spec/ports.c src/policy/address.c src/base/err.c src/base/buf.c src/base/jsontext.c src/base/utf8.c */
#include <stdio.h>
#include <string.h>

#include "spec/ports.h"
#include "tap.h"

static void good(const char *text, const char *want)
{
	struct published p;
	char got[128];
	struct err e;
	bool is_good = ports_parse("-p", text, &p, &e) == 0;

	snprintf(got, sizeof(got), "%s %u %u %u %s", is_good ? ip_text(&p.addr).str : "refused",
		 p.host, p.cell, p.count, p.udp ? "udp" : "tcp");
	if (!ok(is_good && !strcmp(got, want), text))
		printf("# %s\n", got);
}

int main(void)
{
	static const char *const bad[] = {
		"",
		":",
		"0",
		"80:0",
		"80:",
		"65536:80",
		"80:65536",
		"-80:80",
		"80:-80",
		"80 :80",
		"a:80",
		"80:b",
		"80:80/",
		"80:80/x",
		"80:80/tcp/",
		"80/udp:80",
		"1-2:1-3",
		"2-1:2-1",
		"0-5:0-5",
		"1-200:1-200",
		"1.2.3:8:8",
		"1.2.3.4.5:8:8",
		"::1:8:8",
		"[::1]:8",
		"[::1]",
		"[]:8:8",
		"[1.2.3.4]:8:8",
		"[::1:8:8",
		"host:8:8",
		"1:2:3:4",
		"0x50:80",
		"080000:80",
		"80:80/UDP",
		"127.0.0.1",
		"[::ffff:1.2.3.4]:8:8",
		"+1:2",
	};
	struct published p;
	struct err e;
	char long_text[300];
	char *many[] = { (char *)(uintptr_t) "1-100", (char *)(uintptr_t) "201-228", NULL, NULL };

	good("80", "127.0.0.1 0 80 1 tcp");
	good("8080:80", "127.0.0.1 8080 80 1 tcp");
	good(":80", "127.0.0.1 0 80 1 tcp");
	good("0:80", "127.0.0.1 0 80 1 tcp");
	good("53:5353/udp", "127.0.0.1 53 5353 1 udp");
	good("0.0.0.0:80:80/tcp", "0.0.0.0 80 80 1 tcp");
	good("10.0.0.1::80", "10.0.0.1 0 80 1 tcp");
	good("[::1]:8080:80", "::1 8080 80 1 tcp");
	good("[::]::80", ":: 0 80 1 tcp");
	good("8000-8009:9000-9009", "127.0.0.1 8000 9000 10 tcp");
	good("9000-9009", "127.0.0.1 0 9000 10 tcp");
	good("0:9000-9009", "127.0.0.1 0 9000 10 tcp");
	good("65535:65535", "127.0.0.1 65535 65535 1 tcp");
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		ok(ports_parse("-p", bad[i], &p, &e) < 0 && e.kind == ERR_USAGE, bad[i]);
	memset(long_text, '1', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	ok(ports_parse("-p", long_text, &p, &e) < 0, "a text without end");
	ok(ports_check("-p", many, &e) == 0, "as many as there can be");
	many[2] = (char *)(uintptr_t) "300";
	ok(ports_check("-p", many, &e) < 0, "one more");
	return tap_end();
}
