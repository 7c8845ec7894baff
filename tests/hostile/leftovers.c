/* What ended processes leave behind in the kernel: nothing. Each of these ends in a way in which
 * something was kept for a process that was gone; the kernel's own counts (/proc/slabinfo) must be
 * the same before and after. */
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "hostile.h"

#define TIMES 100

static long objects(const char *type)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[256], name[64];
	long n, found = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld", name, &n) == 2 && !strcmp(name, type))
			found = n;
	if (f)
		fclose(f);
	return found;
}

/* The end of a session's leader sends SIGHUP to the leader itself, of which a signalfd asks to keep
 * it. */
static void hung_up(void *arg)
{
	int zero = 0, master;
	sigset_t set;

	(void)arg;
	setsid();
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signalfd(-1, &set, 0);
	master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (ioctl(master, TIOCSPTLCK, &zero) < 0 || ioctl(master, TIOCGPTPEER, O_RDWR) < 0)
		_exit(1);
	_exit(0);
}

int main(void)
{
	long before = objects("held");
	int bad = 0;

	for (int i = 0; i < TIMES; i++)
		bad += in_child(hung_up, NULL, 20000) != 0;
	check(bad == 0, "processes with a terminal and a signalfd end");
	check(objects("held") == before, "no signal is kept for them");
	check(cell_is_well(), "the kernel goes on");
	return done();
}
