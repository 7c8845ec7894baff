/*
 * system(3) and popen(3): status, streams, and that SIGINT is ignored meanwhile and SIGCHLD
 * blocked.
 */
#include "guest.h"

int main(void)
{
	char line[64];
	struct sigaction sa;

	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	show_status("exit 3", system("exit 3"));
	show_status("missing command", system("no-such-command-here 2>/dev/null"));
	show_status("killed", system("kill -TERM $$"));
	CHECK(system(NULL) != 0);
	/* The shell interrupts its parent, which must not notice. */
	show_status("interrupting shell", system("kill -INT $PPID; exit 5"));
	sigaction(SIGINT, NULL, &sa);
	CHECK(sa.sa_handler == SIG_DFL);
	FILE *p = popen("read x; echo \"got $x\" >popen.out; exit 7", "w");
	fputs("hello\n", p);
	show_status("popen w", pclose(p));
	printf("%s", get_file("popen.out"));
	unlink("popen.out");
	p = popen("echo first; echo second", "r");
	while (fgets(line, sizeof(line), p))
		printf("line %s", line);
	show_status("popen r", pclose(p));
	return 0;
}
