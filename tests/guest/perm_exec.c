/* What execve says of files that are no programs. */
#include "guest.h"

static const char *prog;

static void run(void)
{
	drop_to_user();
	execl(prog, "prog", "argument", (char *)NULL);
	printf("%s: %s\n", prog, ename(errno));
}

static void try(const char *path)
{
	prog = path;
	show_status(path, in_child(run));
}

int main(void)
{
	put_file("noexec", "#!/bin/sh\nexit 3\n");
	put_file("script", "#!/bin/sh\necho script gets $1\nexit 4\n");
	put_file("empty", "");
	put_file("garbage", "this is no program");
	put_file("lost", "#!/no/such/interpreter\n");
	put_file("short", "\177ELF");
	put_file("option", "#!/bin/sh -e\nfalse\nexit 9\n");
	mkdir("dir", 0755);
	symlink("script", "link");
	static const char *const x[] = { "script", "empty", "garbage", "lost", "short", "option" };
	for (int i = 0; i < 6; i++)
		chmod(x[i], 0755);
	try("./noexec");
	try("./dir");
	try("./missing");
	try("./script/x");
	try("./empty");
	try("./garbage");
	try("./lost");
	try("./short");
	try("./script");
	try("./link");
	try("./option");
	try("");
	for (int i = 0; i < 6; i++)
		unlink(x[i]);
	unlink("noexec");
	unlink("link");
	rmdir("dir");
	return 0;
}
