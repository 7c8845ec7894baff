/*
 * uname: Linux, the machine type, a release of at least 5; hostname, getdomainname and /proc agree
 * with it.
 */
#include "guest.h"
#include <sys/utsname.h>

int main(void)
{
	struct utsname u;
	char host[128] = "", text[200];

	SHOW(uname(&u));
	printf("sysname %s, machine %s\n", u.sysname, u.machine);
	CHECK(atoi(u.release) >= 5 && strchr(u.release, '.') != NULL);
	CHECK(u.version[0] == '#');
	CHECK(gethostname(host, sizeof(host)) == 0 && strcmp(host, u.nodename) == 0);
	snprintf(text, sizeof(text), "%s\n", u.nodename);
	CHECK(strcmp(get_file("/proc/sys/kernel/hostname"), text) == 0);
	snprintf(text, sizeof(text), "%s\n", u.release);
	CHECK(strcmp(get_file("/proc/sys/kernel/osrelease"), text) == 0);
	CHECK(strcmp(get_file("/proc/sys/kernel/ostype"), "Linux\n") == 0);
	snprintf(text, sizeof(text), "Linux version %s", u.release);
	CHECK(strncmp(get_file("/proc/version"), text, strlen(text)) == 0);
	SHOW(gethostname(host, 0));
	return 0;
}
