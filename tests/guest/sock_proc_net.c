/* /proc/net: a listener, a connection, a datagram socket and a unix socket are found by their
 * inodes. */
#include "net.h"

/* The line of path that has the inode of fd, or NULL. */
static char *line_of(const char *path, int fd)
{
	static char line[512];
	char want[32];
	struct stat st;
	FILE *f = fopen(path, "r");

	fstat(fd, &st);
	snprintf(want, sizeof(want), " %lu ", (unsigned long)st.st_ino);
	while (f && fgets(line, sizeof(line), f)) {
		char padded[520];
		snprintf(padded, sizeof(padded), "%.*s ", (int)strcspn(line, "\n"), line);
		if (strstr(padded, want)) {
			fclose(f);
			return line;
		}
	}
	if (f)
		fclose(f);
	return NULL;
}

static void show(const char *path, int fd)
{
	char *l = line_of(path, fd), local[64], remote[64];
	unsigned st;
	if (!l || sscanf(l, " %*d: %63s %63s %x", local, remote, &st) != 3) {
		printf("%s: not there\n", path);
		return;
	}
	printf("%s: %.*s %.*s state %u\n", path, (int)strcspn(local, ":"), local, (int)strcspn(remote, ":"), remote, st);
}

int main(void)
{
	int l = bound4(SOCK_STREAM), u = bound4(SOCK_DGRAM), s[2], n = socket(AF_UNIX, SOCK_STREAM, 0);
	int l6 = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0guest-proc-net" };

	tcp_pair(s);
	listen(l6, 1);
	show("/proc/net/tcp", l);
	show("/proc/net/tcp", s[0]);
	show("/proc/net/tcp", s[1]);
	show("/proc/net/tcp6", l6);
	show("/proc/net/udp", u);
	SHOW(bind(n, SA(&a), sizeof(sa_family_t) + 15));
	SHOW(listen(n, 1));
	char *x = line_of("/proc/net/unix", n);
	CHECK(x && strstr(x, "@guest-proc-net"));
	CHECK(x && strstr(x, " 00010000 0001 01 "));
	CHECK(!strncmp(get_file("/proc/net/dev"), "Inter-|", 7));
	return 0;
}
