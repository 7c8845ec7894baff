/*
 * A user needs search permission on the way and execute permission on the file; read permission is
 * not needed.
 */
#include "guest.h"

static int copy_true(const char *to)
{
	char buf[65536];
	int in = open("/bin/true", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		(void)!write(out, buf, n);
	close(in);
	return close(out);
}

static void try(const char *path)
{
	pid_t pid = xfork();
	if (pid == 0) {
		execl(path, "x", (char *)NULL);
		printf("%s: %s\n", path, ename(errno));
		fflush(stdout);
		_exit(1);
	}
	show_status(path, xwait(pid));
}

static void as_user(void)
{
	drop_to_user();
	mkdir("d", 0755);
	copy_true("d/prog");
	try("d/prog");
	chmod("d/prog", 0111);
	try("d/prog");
	chmod("d/prog", 0666);
	try("d/prog");
	/* The owner's bits count for the owner, even when others may do more. */
	chmod("d/prog", 0077);
	try("d/prog");
	chmod("d/prog", 0755);
	chmod("d", 0600);
	try("d/prog");
	chmod("d", 0700);
	unlink("d/prog");
	rmdir("d");
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("all", in_child(as_user));
	return 0;
}
