/* The mode of a socket before bind, and the umask, make the mode of its name: one that was meant to
 * be private is. */
/* needs: root */
#include "net.h"

static int bound(const char *name, int type, int mode, int mask)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct stat st;
	int fd = socket(AF_UNIX, type, 0);

	strcpy(un.sun_path, name);
	if (mode >= 0 && fchmod(fd, (mode_t)mode))
		printf("fchmod: %s\n", ename(errno));
	umask((mode_t)mask);
	if (bind(fd, SA(&un), sizeof(un)))
		printf("bind: %s\n", ename(errno));
	umask(022);
	stat(name, &st);
	printf("%s of %d:%d mode %o", name, (int)st.st_uid, (int)st.st_gid, st.st_mode);
	fstat(fd, &st);
	printf(", the socket %o\n", st.st_mode);
	if (type == SOCK_STREAM)
		listen(fd, 5);
	return fd;
}

static void may(const char *name, int type)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	strcpy(un.sun_path, name);
	errno = 0;
	int r = connect(fd, SA(&un), sizeof(un));
	printf("connect to %s: %s\n", name, ename(r ? errno : 0));
	close(fd);
}

static void user(void)
{
	drop_to_user();
	may("usual", SOCK_STREAM);
	may("private", SOCK_STREAM);
	may("open", SOCK_STREAM);
	may("datagrams", SOCK_DGRAM);
	int fd = bound("own", SOCK_STREAM, 0600, 022);
	may("own", SOCK_STREAM);
	close(fd);
	unlink("own");
}

int main(void)
{
	int a = bound("usual", SOCK_STREAM, -1, 022), b = bound("private", SOCK_STREAM, 0600, 022),
	    c = bound("open", SOCK_STREAM, 0666, 0), d = bound("datagrams", SOCK_DGRAM, 0700, 0),
	    e = bound("odd", SOCK_SEQPACKET, 07777, 0), f = bound("none", SOCK_STREAM, 0, 0);

	/* Afterwards the name has a mode of its own. */
	struct stat st;
	SHOW(fchmod(a, 0600));
	stat("usual", &st);
	printf("usual %o\n", st.st_mode);
	SHOW(chmod("private", 0644));
	fstat(b, &st);
	printf("private, the socket %o\n", st.st_mode);
	SHOW(chmod("private", 0600));
	fflush(stdout);
	show_status("user", in_child(user));
	/* Who binds owns the name, whoever has the socket. */
	int g = socket(AF_UNIX, SOCK_STREAM, 0);
	SHOW(fchown(g, 55, 66));
	close(g);
	const char *const names[] = { "usual", "private", "open", "datagrams", "odd", "none" };
	for (int i = 0; i < 6; i++)
		unlink(names[i]);
	close(a), close(b), close(c), close(d), close(e), close(f);
	return 0;
}
