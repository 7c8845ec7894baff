/* /proc/net/snmp and netstat: pairs of lines with names and as many numbers, which netstat -s and
 * monitoring programs read. /proc/loadavg has its five fields. */
#include "guest.h"

#include <ctype.h>

static int words(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += !isspace(*s) && (!s[1] || isspace(s[1]));
	return n;
}

static void pairs(const char *path, const char *kind, const char *first)
{
	char names[4096], values[4096];
	FILE *f = fopen(path, "r");
	bool found = false;

	CHECK(f != NULL);
	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		if (words(names) != words(values) || strncmp(names, values, strcspn(names, ":")))
			printf("%s: odd pair\n", path);
		if (!strncmp(names, kind, strlen(kind)))
			found = strstr(names, first) != NULL;
	}
	if (f)
		fclose(f);
	printf("%s %s %s: %d\n", path, kind, first, found);
}

int main(void)
{
	double a, b, c;
	unsigned run, all;
	int pid;

	pairs("/proc/net/snmp", "Ip:", "Ip: Forwarding DefaultTTL InReceives");
	pairs("/proc/net/snmp", "Tcp:", "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens");
	pairs("/proc/net/snmp", "Udp:", "Udp: InDatagrams NoPorts InErrors OutDatagrams");
	pairs("/proc/net/netstat", "TcpExt:", " ListenOverflows ListenDrops ");
	pairs("/proc/net/netstat", "IpExt:", "InOctets OutOctets");
	CHECK(sscanf(get_file("/proc/loadavg"), "%lf %lf %lf %u/%u %d\n", &a, &b, &c, &run, &all,
		     &pid) == 6);
	CHECK(a >= 0 && b >= 0 && c >= 0 && run >= 1 && all >= run && pid >= 1);
	return 0;
}
