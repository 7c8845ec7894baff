/* Cycles through vivd's API: a cell is created and started, /bin/true runs in it, the cell is
 * removed.
 *
 *	cycle SOCKET CYCLES CLIENTS
 *
 * Each client is a process with one connection. Prints for each cycle the nanoseconds from the
 * request for the cell to the end of its process, and at last "rate N": cycles in a second, with
 * the removal, of all clients together. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *socket_path;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int dial(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", socket_path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		die(socket_path);
	return fd;
}

/* Is the answer in buf complete? */
static int is_whole(const char *buf, size_t n)
{
	const char *body = strstr(buf, "\r\n\r\n"), *len = strcasestr(buf, "\r\nContent-Length:");

	if (!body)
		return 0;
	if (!strncmp(buf + 9, "204", 3))
		return 1;
	if (len && len < body)
		return n >= (size_t)(body + 4 - buf) + strtoul(len + 17, NULL, 10);
	return n >= 5 && !memcmp(buf + n - 5, "0\r\n\r\n", 5);
}

static void ask(int fd, const char *method, const char *path, const char *json, const char *want, char *buf,
		size_t size)
{
	size_t n = 0;
	char head[512];
	int len = snprintf(head, sizeof(head),
			   "%s %s HTTP/1.1\r\nHost: v\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			   method, path, strlen(json), json);

	if (write(fd, head, (size_t)len) != len)
		die("write");
	do {
		ssize_t got = read(fd, buf + n, size - 1 - n);

		if (got <= 0)
			die("read");
		n += (size_t)got;
		buf[n] = '\0';
	} while (!is_whole(buf, n) && n < size - 1);
	if (!strstr(buf, want)) {
		fprintf(stderr, "%s %s: %s\n", method, path, buf);
		exit(1);
	}
}

static void cycles(long long *took, int n)
{
	static char buf[65536], path[128];
	int fd = dial();

	for (int i = 0; i < n; i++) {
		long long start = now();
		char id[33] = "";

		ask(fd, "POST", "/v1/cells", "{\"start\":true}", "HTTP/1.1 201", buf, sizeof(buf));
		if (sscanf(strstr(buf, "\"id\":\"") + 6, "%32[0-9a-z]", id) != 1)
			die("id");
		snprintf(path, sizeof(path), "/v1/cells/%s/exec", id);
		ask(fd, "POST", path, "{\"command\":[\"/bin/true\"]}", "\"exit_code\":0", buf, sizeof(buf));
		took[i] = now() - start;
		snprintf(path, sizeof(path), "/v1/cells/%s?force=1", id);
		ask(fd, "DELETE", path, "", "HTTP/1.1 204", buf, sizeof(buf));
	}
	exit(0);
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0, clients = argc == 4 ? atoi(argv[3]) : 0, status, failed = 0;
	long long *took, start, all;

	if (n < 1 || clients < 1) {
		fprintf(stderr, "usage: cycle SOCKET CYCLES CLIENTS\n");
		return 2;
	}
	socket_path = argv[1];
	n = n / clients ? n / clients * clients : clients;
	took = mmap(NULL, (size_t)n * sizeof(*took), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	start = now();
	for (int i = 0; i < clients; i++)
		if (fork() == 0)
			cycles(took + i * (n / clients), n / clients);
	while (wait(&status) > 0)
		failed |= status;
	all = now() - start;
	for (int i = 0; i < n; i++)
		printf("%lld\n", took[i]);
	printf("rate %.1f\n", n * 1e9 / (double)all);
	return failed ? 1 : 0;
}
