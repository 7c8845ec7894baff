/*
 * Anyone may set ids to what they are, and -1 changes nothing; the three ids and /proc/self/status
 * agree.
 */
#include "guest.h"
#include <sys/fsuid.h>

int main(void)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;
	int a, b, c, d;

	SHOW(getresuid(&r, &e, &s));
	SHOW(getresgid(&rg, &eg, &sg));
	CHECK(r == getuid() && e == geteuid() && s == geteuid());
	CHECK(rg == getgid() && eg == getegid() && sg == getegid());
	SHOW(setuid(getuid()));
	SHOW(setgid(getgid()));
	SHOW(seteuid(geteuid()));
	SHOW(setegid(getegid()));
	SHOW(setresuid(-1, -1, -1));
	SHOW(setresgid(-1, -1, -1));
	SHOW(setreuid(-1, geteuid()));
	SHOW(setregid(getgid(), -1));
	CHECK(setfsuid(-1) == (int)geteuid());
	CHECK(setfsgid(-1) == (int)getegid());
	sscanf(strstr(get_file("/proc/self/status"), "Uid:"), "Uid: %d %d %d %d", &a, &b, &c, &d);
	CHECK((uid_t)a == r && (uid_t)b == e && (uid_t)c == s && (uid_t)d == e);
	SHOW(setuid(-1));
	SHOW(setresuid(-1, getuid(), -1));
	return 0;
}
