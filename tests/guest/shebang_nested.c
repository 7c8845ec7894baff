/* A script's interpreter may be a script, five deep; deeper is ELOOP. The arguments pile up. */
#include "guest.h"

static void run(const char *name)
{
	pid_t pid = xfork();
	if (pid == 0) {
		execl(name, "lost", "tail", (char *)NULL);
		printf("%s\n", ename(errno));
		fflush(stdout);
		_exit(1);
	}
	show_status(name, xwait(pid));
}

int main(int argc, char **argv)
{
	char exe[512] = "", name[8], text[64];

	if (strcmp(argv[0], "./interp") == 0) {
		for (int i = 0; i < argc; i++)
			printf(" [%s]", argv[i]);
		printf("\n");
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	(void)!symlink(exe, "interp");
	for (int i = 1; i <= 8; i++) {
		snprintf(name, sizeof(name), "./s%d", i);
		if (i == 1)
			snprintf(text, sizeof(text), "#!./interp arg1\n");
		else
			snprintf(text, sizeof(text), "#!./s%d arg%d\n", i - 1, i);
		put_file(name, text);
		chmod(name, 0755);
	}
	for (int i = 1; i <= 8; i++) {
		snprintf(name, sizeof(name), "./s%d", i);
		run(name);
	}
	put_file("./self", "#!./self\n");
	chmod("./self", 0755);
	run("./self");
	for (int i = 1; i <= 8; i++) {
		snprintf(name, sizeof(name), "./s%d", i);
		unlink(name);
	}
	unlink("self");
	unlink("interp");
	return 0;
}
