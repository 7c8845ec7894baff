/* The differential runner's program: makes the same variations of system calls wherever it runs and
 * prints one line for each. run.sh runs it on the host's kernel and in a cell, in equal empty
 * directories, and compares.
 *
 *   diff [--seed N] [--count N] [family...]     an exact name, or a part of one
 *   diff --list
 *
 * Each family runs in a child, so that a crash or a hang costs one variation: it is reported and
 * the next child goes on behind it. A family is repeated with another user's rights where its row
 * says so. */
#include "diff.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

bool as_user;
static uint64_t rng;
static char line[65536];
static size_t used;
static const char *family_name;
static struct shared {
	volatile int at; /* the variation that the child is at */
} * shared;
static const int out_fd = 1000;

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
uint64_t rnd(uint64_t n)
{
	rng += 0x9e3779b97f4a7c15u;
	return mix(rng) % n;
}
bool chance(int percent)
{
	return rnd(100) < (uint64_t)percent;
}
const struct sym *pick_from(const struct sym *s, size_t n)
{
	return &s[rnd(n)];
}
long pick_flags(const struct sym *s, size_t n, int percent, char *text, size_t size)
{
	long v = 0;
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < n; i++) {
		if (!chance(percent))
			continue;
		v |= s[i].v;
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? "|" : "", s[i].name);
	}
	if (!len)
		snprintf(text, size, "0");
	return v;
}

static void append(const char *fmt, va_list ap)
{
	int n = vsnprintf(line + used, sizeof(line) - used, fmt, ap);

	if (n > 0)
		used = used + (size_t)n < sizeof(line) ? used + (size_t)n : sizeof(line) - 1;
}
static void flush(void)
{
	if (!used)
		return;
	/* Control characters of a path or a buffer would end the line. */
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] > '~')
			line[i] = '?';
	line[used++] = '\n';
	if (write(out_fd, line, used) < 0)
		_exit(9);
	used = 0;
}
void call(const char *fmt, ...)
{
	va_list ap;

	flush();
	used = (size_t)snprintf(line, sizeof(line), "%s %d: ", family_name, shared->at);
	va_start(ap, fmt);
	append(fmt, ap);
	va_end(ap);
}
void note(const char *fmt, ...)
{
	int e = errno;
	va_list ap;

	va_start(ap, fmt);
	append(fmt, ap);
	va_end(ap);
	errno = e;
}
long res(long r)
{
	if (r == -1)
		note(" = -1 %s", errno ? strerrorname_np(errno) ? strerrorname_np(errno) : "E?" : "0");
	else
		note(" = %ld", r);
	return r;
}
void res_sign(long r)
{
	if (r == -1)
		res(r);
	else
		note(" = ok");
}
void digest(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	note(" [%zu:%08x]", n, (unsigned)(h ^ h >> 32));
}

/* A hang: the line so far says where. */
static void on_alarm(int sig)
{
	(void)sig;
	note(" = HANGS");
	flush();
	_exit(0);
}

static void one(const struct family *f, uint64_t seed, int i)
{
	uint64_t h = seed;

	for (const char *c = f->name; *c; c++)
		h = mix(h ^ (uint64_t)*c);
	rng = mix(h ^ (uint64_t)i << 8 ^ as_user);
	shared->at = i;
	if (f->flags & FIX)
		fixture_make();
	if (as_user && (setegid(USER_ID) || seteuid(USER_ID)))
		_exit(8);
	alarm(5);
	f->run();
	flush();
	alarm(0);
	if (as_user && (seteuid(0) || setegid(0)))
		_exit(8);
	umask(022);
	sys(SYS_close_range, 3, out_fd - 1, 0);
}

static void child(const struct family *f, uint64_t seed, int from, int count)
{
	signal(SIGALRM, on_alarm);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = from; i < count; i++) {
		if (f->flags & OWN) {
			int status;
			pid_t pid = fork();

			if (!pid) {
				one(f, seed, i);
				_exit(0);
			}
			while (waitpid(pid, &status, 0) < 0)
				;
			if (status) {
				call("ended by %s %d", WIFSIGNALED(status) ? "signal" : "status",
				     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
				flush();
			}
		} else {
			one(f, seed, i);
		}
	}
	shared->at = count;
	_exit(0);
}

static void family_run(const struct family *f, uint64_t seed, int count)
{
	static char name[64];
	int n = count * f->weight / 100;

	snprintf(name, sizeof(name), "%s%s", f->name, as_user ? "-user" : "");
	family_name = name;
	shared->at = 0;
	for (int from = 0; from < n;) {
		int status;
		pid_t pid = fork();

		if (!pid)
			child(f, seed, from, n);
		while (waitpid(pid, &status, 0) < 0)
			;
		if (shared->at >= n)
			break;
		if (status) {
			call("ended by %s %d", WIFSIGNALED(status) ? "signal" : "status",
			     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
			flush();
		}
		from = shared->at + 1;
	}
}

int main(int argc, char **argv)
{
	static const struct family *const all[] = { fs_families, io_families, fd_families, proc_families, net_families, ipc_families };
	uint64_t seed = 1;
	int count = 100, names = argc;
	bool list = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 0);
		} else if (!strcmp(argv[i], "--count") && i + 1 < argc) {
			count = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--list")) {
			list = true;
		} else {
			names = i;
			break;
		}
	}
	signal(SIGCHLD, SIG_DFL);
	umask(022);
	if (dup2(1, out_fd) < 0) {
		perror("dup2");
		return 2;
	}
	sys(SYS_close_range, 3, out_fd - 1, 0);
	/* The same on both sides. */
	int p[2];

	/* A pipe and no device: a variation as root may change the owner of what a descriptor
	 * is. */
	close(0);
	close(1);
	if (pipe(p) || p[0] != 0 || p[1] != 1)
		return 2;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t a = 0; a < COUNT(all); a++) {
		for (const struct family *f = all[a]; f->name; f++) {
			bool wanted = names == argc;

			for (int i = names; i < argc; i++)
				wanted |= !strcmp(argv[i], f->name);
			if (!wanted)
				continue;
			for (int user = 0; user <= !!(f->flags & USER); user++) {
				as_user = user;
				if (list)
					dprintf(out_fd, "%s%s\n", f->name, user ? "-user" : "");
				else
					family_run(f, seed, count);
			}
		}
	}
	return 0;
}
