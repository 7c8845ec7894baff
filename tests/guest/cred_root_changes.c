/* needs: root */
/*
 * Root may change real, effective and saved ids; the saved id lets it come back; giving all up is
 * for good.
 */
#include "guest.h"

static void show(const char *what)
{
	uid_t r, e, s;

	getresuid(&r, &e, &s);
	printf("%s: %d %d %d\n", what, (int)r, (int)e, (int)s);
}

static void saved(void)
{
	SHOW(seteuid(1000));
	show("seteuid 1000");
	SHOW(setuid(1001));
	SHOW(seteuid(0));
	show("seteuid 0");
	SHOW(setreuid(1000, 1001));
	show("setreuid 1000 1001");
	SHOW(setreuid(1001, 1000));
	show("swapped");
	SHOW(setuid(0));
}

static void for_good(void)
{
	SHOW(setuid(1000));
	show("setuid 1000");
	SHOW(seteuid(0));
	SHOW(setuid(0));
	SHOW(setresuid(1000, 1000, 0));
}

static void three(void)
{
	SHOW(setresuid(1000, 1001, 1002));
	show("setresuid");
	SHOW(setresuid(1002, -1, 1000));
	show("setresuid");
	SHOW(seteuid(1000));
	show("seteuid");
	SHOW(setresuid(0, -1, -1));
}

static void groups(void)
{
	gid_t list[] = { 7, 5, 3000 }, got[8] = { 0 };

	SHOW(setgroups(3, list));
	SHOW(getgroups(8, got));
	printf("groups %d %d %d\n", got[0], got[1], got[2]);
	SHOW(getgroups(2, got));
	SHOW(setresgid(10, 11, 12));
	SHOW(setgid(13));
	printf("gids %d %d\n", getgid(), getegid());
	SHOW(setgroups(0, NULL));
	SHOW(getgroups(0, NULL));
	/* Group changes are the effective user's right, too. */
	SHOW(seteuid(1000));
	SHOW(setgroups(1, list));
	SHOW(setgid(14));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("saved", in_child(saved));
	show_status("for good", in_child(for_good));
	show_status("three", in_child(three));
	show_status("groups", in_child(groups));
	return 0;
}
