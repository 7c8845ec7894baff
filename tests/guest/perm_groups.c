/* Group bits count for the effective group and the supplementary groups, before those of others. */
/* needs: root */
#include "guest.h"

static void try(const char *who)
{
	printf("%s: g640 %s", who, open("g640", O_RDONLY) < 0 ? ename(errno) : "ok");
	printf(", g604 %s", open("g604", O_RDONLY) < 0 ? ename(errno) : "ok");
	printf(", g060 %s\n", open("g060", O_RDWR) < 0 ? ename(errno) : "ok");
}

static void in_group(void)
{
	gid_t g[] = { 7777, 1234 };
	setgroups(2, g);
	setresgid(1000, 1000, 1000);
	setresuid(1000, 1000, 1000);
	try("supplementary");
	gid_t got[8];
	SHOW(getgroups(8, got));
	SHOW(getgroups(0, NULL));
	SHOW(getgroups(1, got));
	SHOW(setgroups(0, NULL));
}

static void effective(void)
{
	setgroups(0, NULL);
	setresgid(1000, 1234, 1000);
	setresuid(1000, 1000, 1000);
	try("effective");
}

static void neither(void)
{
	drop_to_user();
	try("neither");
}

int main(void)
{
	static const mode_t modes[] = { 0640, 0604, 0060 };
	chmod(".", 0777);
	for (int i = 0; i < 3; i++) {
		char name[8];
		snprintf(name, sizeof(name), "g%03o", modes[i]);
		put_file(name, "x");
		chown(name, 0, 1234);
		chmod(name, modes[i]);
	}
	show_status("child", in_child(in_group));
	show_status("child", in_child(effective));
	show_status("child", in_child(neither));
	unlink("g640");
	unlink("g604");
	unlink("g060");
	return 0;
}
