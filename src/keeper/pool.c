/* See pool.h. A cell that another process started must not be told from one that we would start, so
 * everything that is handed down from process to process and that a guest could notice goes into
 * the comparison. */
#include "keeper/pool.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/fdmsg.h"
#include "spec/options.h"
#include "store/store.h"

/* A vivd that does not answer in this time is left alone. */
#define PATIENCE_US 250000

/* FNV-1a. It tells apart what is not made to be alike; nobody gains by a collision with himself. */
static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static uint64_t mix_number(uint64_t h, uint64_t n)
{
	return mix(h, &n, sizeof(n));
}

static uint64_t mix_file(uint64_t h, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return mix_number(h, 1);
	return mix_number(mix_number(h, st.st_dev), st.st_ino);
}

static uint64_t mix_text(uint64_t h, const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? mix_number(h, 2) : mix(h, text, (size_t)n);
}

void pool_surroundings(uint64_t *ret_around, uint64_t *ret_cgroup)
{
	const uint64_t start = 0xcbf29ce484222325u;
	uint64_t h = start;
	gid_t groups[256];
	cpu_set_t cpus;
	int n = getgroups(ARRAY_LEN(groups), groups);

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		h = mix(h, &cpus, sizeof(cpus));
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit r = { 0 };

		/* A cell has limits of files and core dumps of its own; programs that serve raise
		 * theirs of files, and vivd leaves no core dumps. */
		if (getrlimit(i, &r) == 0)
			h = mix_number(mix_number(h, i == RLIMIT_NOFILE || i == RLIMIT_CORE
							     ? 0
							     : r.rlim_cur),
				       r.rlim_max);
	}
	h = mix_number(h, (uint64_t)getpriority(PRIO_PROCESS, 0));
	h = mix_number(mix_number(h, getuid()), getgid());
	h = mix_number(mix_number(h, geteuid()), getegid());
	h = n < 0 ? mix_number(h, 3) : mix(h, groups, (size_t)n * sizeof(groups[0]));
	h = mix_file(h, "/");
	h = mix_file(h, "/proc/self/ns/mnt");
	h = mix_file(h, "/proc/self/ns/user");
	h = mix_text(h, "/proc/self/oom_score_adj");
	h = mix_number(h, journal_default());
	*ret_around = h;
	*ret_cgroup = mix_text(start, "/proc/self/cgroup");
}

/* A connected socket, or -1. */
static int pool_connect(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_usec = PATIENCE_US };
	char path[4096];
	struct err e;
	int fd, dir = -1, n;

	if (store_run_path(path, sizeof(path), &e) < 0)
		return -1;
	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" POOL_SOCKET, path);
	if (n >= (int)sizeof(sa.sun_path)) {
		/* By way of a descriptor: the path itself is longer than a socket's address. */
		dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/" POOL_SOCKET, dir);
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
			close(fd);
			fd = -1;
		}
	}
	if (dir >= 0)
		close(dir);
	return fd;
}

int pool_take(const char *image, unsigned flags)
{
	struct pool_ask ask = { .version = POOL_VERSION, .flags = flags };
	struct pool_answer answer = { 0 };
	int fd = pool_connect(), got[FDMSG_MAX], taken = -1;
	unsigned n = 0;

	if (fd < 0)
		return -1;
	pool_surroundings(&ask.around, &ask.cgroup);
	snprintf(ask.image, sizeof(ask.image), "%s", image);
	if (fdmsg_send(fd, &ask, sizeof(ask), NULL, 0, 0) == 0 &&
	    fdmsg_recv(fd, &answer, sizeof(answer), got, FDMSG_MAX, &n, 0) == sizeof(answer) &&
	    answer.version == POOL_VERSION && answer.given && n)
		taken = got[--n];
	while (n)
		close(got[--n]);
	close(fd);
	return taken;
}
