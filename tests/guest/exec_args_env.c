/*
 * execve passes argv and envp byte for byte: empty strings, long ones, newlines, no environment at
 * all.
 */
#include "guest.h"

static int report(int argc, char **argv)
{
	printf("argc %d\n", argc);
	for (int i = 0; i < argc; i++) {
		size_t n = strlen(argv[i]);
		if (n > 60)
			printf("argv[%d] %zu bytes, all x %d\n", i, n, strspn(argv[i], "x") == n);
		else
			printf("argv[%d] '%s'\n", i, argv[i]);
	}
	int n = 0;
	while (environ[n])
		printf("env '%s'\n", environ[n++]);
	CHECK(argv[argc] == NULL);
	CHECK(environ == argv + argc + 1);
	/* The strings stand one after the other, as programs that change their title rely on. */
	char *at = argv[0];
	int gaps = 0;
	for (int i = 0; i < argc; at += strlen(at) + 1, i++)
		gaps += at != argv[i];
	for (int i = 0; i < n; at += strlen(at) + 1, i++)
		gaps += at != environ[i];
	printf("gaps %d\n", gaps);
	return 0;
}

static void run(char **argv, char **envp)
{
	pid_t pid = xfork();
	if (pid == 0) {
		execve("/proc/self/exe", argv, envp);
		_exit(127);
	}
	show_status("exec", xwait(pid));
}

int main(int argc, char **argv)
{
	static char big[100001], many[1000][8];
	static char *list[1002];

	if (argc > 1 || (argc == 1 && strcmp(argv[0], "only") == 0))
		return argc > 500 ? argc == 1000 && strcmp(argv[999], "n999") == 0 ? 77 : 1
				  : report(argc, argv);
	signal(SIGCHLD, SIG_DFL);
	memset(big, 'x', 100000);
	run((char *[]){ "name of it", "", "new\nline", "\xff\x01", big, "", NULL },
	    (char *[]){ "A=b", "novalue", "=", "", "A=c", NULL });
	run((char *[]){ "only", NULL }, (char *[]){ NULL });
	for (int i = 0; i < 1000; i++) {
		snprintf(many[i], sizeof(many[i]), "n%d", i);
		list[i] = many[i];
	}
	run(list, (char *[]){ NULL });
	return 0;
}
