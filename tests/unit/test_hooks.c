/* Hooks (kernel/task/hooks.h) at the four places where the meaning of a call is known: what they
 * are told, that a refusal leaves no effect, and that each thing is asked about once. The handlers
 * are those of the kernel, in the fuzzers' small cell. */
#include "../fuzz/world.c"

#include <ftw.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/siphash.h"
#include "kernel/cell/upcalls.h"
#include "kernel/net/route.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/handlers.h"
#include "tap.h"

_Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
	printf("Bail out! %s:%d: %s\n", file, line, what);
	exit(98);
}

#define CALL(name, ...) CALL_(name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(name, a, b, c, d, e, f, ...)                                                 \
	world_call(sys_##name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), \
		   (uint64_t)(e), (uint64_t)(f))

/* ---- a table that decides and one that observes ---- */

#define LIST_SIZE 2048

static int verdict; /* of what refused matches */
static const char *refused = ""; /* the beginning of what is refused */
static int asked, seen;
static char asked_text[LIST_SIZE], seen_text[LIST_SIZE];

static const char *text_of(const struct path *p)
{
	static char buf[2][PATH_MAX_LEN];
	static int turn;
	char *start;
	size_t len;

	turn = !turn;
	return path_text(p, NULL, false, buf[turn], sizeof(buf[turn]), &start, &len) ? "?" : start;
}

/* At the end of a list. */
static void note(char list[LIST_SIZE], const char *text)
{
	FUZZ_CHECK(strlen(list) + strlen(text) + 2 < LIST_SIZE);
	strcat(strcat(list, text), ";");
}

static int decide(struct task *t, const char *text)
{
	asked++;
	note(asked_text, text);
	if (verdict && strncmp(text, refused, strlen(refused)) == 0)
		return verdict == WAITING ? call_wait_turn(t) : verdict;
	return 0;
}

static int observe(struct task *t, const char *text)
{
	(void)t;
	seen++;
	note(seen_text, text);
	return 0;
}

static const char *open_text(const struct path *p, uint32_t flags)
{
	static char line[PATH_MAX_LEN + 64];

	snprintf(line, sizeof(line), "open%s %s", flags & O_CREAT ? "+" : "", text_of(p));
	return line;
}

static const char *exec_text(const struct path *p)
{
	static char line[PATH_MAX_LEN + 64];

	snprintf(line, sizeof(line), "exec %s", text_of(p));
	return line;
}

static const char *name_text(const struct name_change *c)
{
	static const char *const ops[] = { "create", "link", "rename", "exchange", "remove" };
	static char line[2 * PATH_MAX_LEN + 64];

	snprintf(line, sizeof(line), "%s %s%s%s", ops[c->op], text_of(&c->at),
		 c->to.name ? " " : "", c->to.name ? text_of(&c->to) : "");
	return line;
}

static const char *dest_text(const struct destination *d)
{
	static const char *const uses[] = { "connect", "send", "bind" };
	static char line[PATH_MAX_LEN + 64];

	if (d->ip)
		snprintf(line, sizeof(line), "%s %u.%u:%u", uses[d->use], d->ip->b[12],
			 d->ip->b[15], d->port);
	else
		snprintf(line, sizeof(line), "%s %s", uses[d->use],
			 d->at ? text_of(d->at) : d->name->u.un.sun_path + 1);
	return line;
}

#define TABLE(to)                                                                          \
	static int to##_open(struct task *t, const struct path *p, uint32_t flags)         \
	{                                                                                  \
		return to(t, open_text(p, flags));                                         \
	}                                                                                  \
	static int to##_exec(struct task *t, const struct path *p, bool linker)            \
	{                                                                                  \
		(void)linker;                                                              \
		return to(t, exec_text(p));                                                \
	}                                                                                  \
	static int to##_name(struct task *t, const struct name_change *c)                  \
	{                                                                                  \
		return to(t, name_text(c));                                                \
	}                                                                                  \
	static int to##_dest(struct task *t, const struct destination *d)                  \
	{                                                                                  \
		return to(t, dest_text(d));                                                \
	}                                                                                  \
	static const struct hooks to##_hooks = {                                           \
		.open = to##_open, .exec = to##_exec, .name = to##_name, .dest = to##_dest \
	}
TABLE(decide);
TABLE(observe);

static void refuse(const char *what, int err)
{
	refused = what;
	verdict = err;
	asked = seen = 0;
	asked_text[0] = seen_text[0] = 0;
}

static void allow(void)
{
	refuse("", 0);
}

/* What was asked since the last verdict, each of it once and in this order; the observer saw the
 * same. */
static void told(const char *want, const char *what)
{
	if (!ok(!strcmp(asked_text, want) && !strcmp(seen_text, want), what))
		printf("# asked %s\n# seen %s\n# want %s\n", asked_text, seen_text, want);
	allow();
}

/* The call was refused: what it was refused for is the last that was asked, and unseen. */
static void stopped(int64_t got, const char *last, const char *what)
{
	size_t n = strlen(asked_text), m = strlen(last);

	if (!ok(got == -EXDEV && n > m && !strncmp(asked_text + n - m - 1, last, m) &&
			!strstr(seen_text, last),
		what))
		printf("# result %lld, asked %s\n", (long long)got, asked_text);
	allow();
}

static bool exists(const char *path)
{
	struct stat st;

	return CALL(lstat, path, &st) == 0;
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return CALL(stat, path, &st) == 0 ? st.st_size : -1;
}

static int64_t file_make(const char *path, const char *text, unsigned mode)
{
	int64_t fd = CALL(openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(CALL(write, fd, text, strlen(text)) == (int64_t)strlen(text));
	return CALL(close, fd);
}

/* Descriptors that were made one after the other. */
static void close_all(int64_t first, int64_t last)
{
	FUZZ_CHECK(CALL(close_range, first, last) == 0);
}

/* ---- the four places ---- */

static void test_open(void)
{
	int64_t fd;

	allow();
	eq(CALL(openat, AT_FDCWD, "/d/../l", O_RDONLY), 0, "open: allowed");
	told("open /d/f;", "... and told the file that the link leads to");
	CALL(close, 0);
	fd = CALL(openat, AT_FDCWD, "/d/new", O_WRONLY | O_CREAT, 0600);
	told("create /d/new;open+ /d/new;", "open that creates: both are told");
	CALL(close, fd);
	CALL(openat, AT_FDCWD, "/d/none", O_RDONLY);
	told("", "what is not there is not asked about");
	CALL(close, CALL(openat, AT_FDCWD, "/d/f", O_PATH));
	told("", "nor O_PATH");

	refuse("open ", -EXDEV);
	stopped(CALL(openat, AT_FDCWD, "/l", O_RDWR | O_TRUNC), "open /d/f", "open: refused");
	eq(size_of("/d/f"), 4, "... before it was truncated");
	refuse("create ", -EXDEV);
	stopped(CALL(openat, AT_FDCWD, "/d/x", O_WRONLY | O_CREAT, 0600), "create /d/x",
		"creating by open: refused as a name");
	ok(!exists("/d/x"), "... there is no file");
	refuse("open+", -EXDEV);
	stopped(CALL(openat, AT_FDCWD, "/d/x", O_WRONLY | O_CREAT, 0600), "open+ /d/x",
		"creating by open: refused as an open");
	ok(!exists("/d/x"), "... there is no file");
	refuse("open", -EXDEV);
	stopped(CALL(openat, AT_FDCWD, "/d", O_WRONLY | O_TMPFILE, 0600), "open /d",
		"O_TMPFILE: refused");
	eq(CALL(dup, 0), -EBADF, "no refusal left a descriptor behind");
}

static void test_names(void)
{
	refuse("create", -EXDEV);
	stopped(CALL(mkdir, "/d/n", 0700), "create /d/n", "mkdir: refused");
	ok(!exists("/d/n"), "... no effect");
	refuse("create", -EXDEV);
	stopped(CALL(mknod, "/d/n", S_IFIFO | 0600, 0), "create /d/n", "mknod: refused");
	ok(!exists("/d/n"), "... no effect");
	refuse("create", -EXDEV);
	stopped(CALL(symlink, "f", "/d/n"), "create /d/n", "symlink: refused");
	ok(!exists("/d/n"), "... no effect");
	refuse("link", -EXDEV);
	stopped(CALL(link, "/d/f", "/e/../d/n"), "link /d/f /d/n", "link: refused");
	ok(!exists("/d/n"), "... no effect");
	refuse("rename", -EXDEV);
	stopped(CALL(rename, "/d/f", "/e/n"), "rename /d/f /e/n", "rename: refused");
	ok(exists("/d/f") && !exists("/e/n"), "... no effect");
	refuse("exchange", -EXDEV);
	stopped(CALL(renameat2, AT_FDCWD, "/d/f", AT_FDCWD, "/e", 2), "exchange /d/f /e",
		"exchange: refused");
	eq(size_of("/d/f"), 4, "... no effect");
	refuse("remove", -EXDEV);
	stopped(CALL(unlink, "/d/f"), "remove /d/f", "unlink: refused");
	ok(exists("/d/f"), "... no effect");
	refuse("remove", -EXDEV);
	stopped(CALL(rmdir, "/e"), "remove /e", "rmdir: refused");
	ok(exists("/e"), "... no effect");

	eq(CALL(mkdir, "/d/n", 0700), 0, "mkdir: allowed");
	told("create /d/n;", "... and told");
	eq(CALL(rename, "/d/n", "/e/m"), 0, "rename: allowed");
	told("rename /d/n /e/m;", "... and told");
	eq(CALL(link, "/d/f", "/e/h"), 0, "link: allowed");
	told("link /d/f /e/h;", "... and told");
	eq(CALL(rmdir, "/e/m"), 0, "rmdir: allowed");
	told("remove /e/m;", "... and told");
	eq(CALL(unlink, "/e/h"), 0, "unlink: allowed");
	told("remove /e/h;", "... and told");
	eq(CALL(mkdir, "/d", 0700), -EEXIST, "a change that cannot be");
	told("", "... is not asked about");
}

static int64_t run_exec(struct task *t, const struct sysargs *a)
{
	return exec_prepare(t, AT_FDCWD, (const char *)a->a[0], LOOKUP_FOLLOW, 0);
}

static void test_exec(void)
{
	struct proc *p = world_task()->proc;

	file_make("/d/script", "#!/d/interp\n", 0755);
	file_make("/d/interp", "no program", 0755);
	allow();
	eq(world_call(run_exec, (uint64_t) "/d/script", 0, 0, 0, 0, 0), -ENOEXEC, "exec: allowed");
	told("exec /d/script;exec /d/interp;", "... and told the script, then its interpreter");
	refuse("exec /d/script", -EXDEV);
	stopped(world_call(run_exec, (uint64_t) "/d/script", 0, 0, 0, 0, 0), "exec /d/script",
		"exec: refused");
	refuse("exec /d/interp", -EXDEV);
	stopped(world_call(run_exec, (uint64_t) "/d/script", 0, 0, 0, 0, 0), "exec /d/interp",
		"exec: refused for its interpreter");
	ok(!p->exec, "... nothing is ready to be started");
	eq(exec_prepare(world_task(), AT_FDCWD, "/d/script", LOOKUP_FOLLOW, 0), -ENOEXEC,
	   "what no call asks for");
	told("", "... hooks are not asked about");
}

static struct sockaddr_in at_port(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
}

static void test_inet(void)
{
	struct sockaddr_in a = at_port(7000), b = at_port(7001), out = at_port(53);
	int64_t l = CALL(socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int64_t c = CALL(socket, AF_INET, SOCK_STREAM, 0);
	int64_t u = CALL(socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int64_t v = CALL(socket, AF_INET, SOCK_DGRAM, 0);
	char byte;

	out.sin_addr.s_addr = htonl(0x08000008);
	refuse("bind", -EXDEV);
	stopped(CALL(bind, l, &a, sizeof(a)), "bind 0.0:7000", "bind: refused");
	eq(CALL(bind, c, &a, sizeof(a)), 0, "... the port is free");
	told("bind 0.0:7000;", "... and told");
	CALL(close, c);
	c = CALL(socket, AF_INET, SOCK_STREAM, 0);
	FUZZ_CHECK(CALL(bind, l, &a, sizeof(a)) == 0 && CALL(listen, l, 5) == 0);

	refuse("connect", -EXDEV);
	stopped(CALL(connect, c, &a, sizeof(a)), "connect 127.1:7000", "connect: refused");
	eq(CALL(accept, l, 0, 0), -EAGAIN, "... nobody has connected");
	eq(CALL(connect, c, &a, sizeof(a)), 0, "connect: allowed");
	told("connect 127.1:7000;", "... and told, with the address that \"any\" stands for");
	CALL(connect, v, &out, sizeof(out));
	told("connect 8.8:53;", "a destination outside of the cell is asked about as well");

	FUZZ_CHECK(CALL(bind, u, &b, sizeof(b)) == 0);
	refuse("send", -EXDEV);
	stopped(CALL(sendto, v, "x", 1, 0, &b, sizeof(b)), "send 127.1:7001", "send: refused");
	eq(CALL(recvfrom, u, &byte, 1, 0), -EAGAIN, "... nothing has arrived");
	eq(CALL(sendto, v, "x", 1, 0, &b, sizeof(b)), 1, "send: allowed");
	told("send 127.1:7001;", "... and told");
	FUZZ_CHECK(CALL(connect, v, &b, sizeof(b)) == 0);
	allow();
	eq(CALL(sendto, v, "x", 1, 0, 0, 0), 1, "send without an address");
	told("", "... goes where connect was asked about");
	close_all(l, v);
}

static struct sockaddr_un at_path(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(a.sun_path, path);
	return a;
}

static void test_unix(void)
{
	struct sockaddr_un a = at_path("/d/../e/s"), no = at_path("/e/no");
	int64_t l = CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int64_t c = CALL(socket, AF_UNIX, SOCK_STREAM, 0);

	refuse("bind", -EXDEV);
	stopped(CALL(bind, l, &no, sizeof(no)), "bind /e", "bind to a path: refused");
	ok(!exists("/e/no"), "... it was not made");
	refuse("create", -EXDEV);
	stopped(CALL(bind, l, &no, sizeof(no)), "create /e/no",
		"bind to a path: refused as a name");
	ok(!exists("/e/no"), "... it was not made");
	FUZZ_CHECK(CALL(bind, l, &a, sizeof(a)) == 0 && CALL(listen, l, 5) == 0);
	refuse("connect", -EXDEV);
	stopped(CALL(connect, c, &a, sizeof(a)), "connect /e/s", "connect to a path: refused");
	eq(CALL(accept, l, 0, 0), -EAGAIN, "... nobody has connected");
	eq(CALL(connect, c, &a, sizeof(a)), 0, "connect: allowed");
	told("connect /e/s;", "... and told the place of the socket");
	CALL(close, l);
	CALL(close, c);
}

/* ---- calls that wait ---- */

/* Enters a call as the gate does, and runs it once. */
static int64_t first_run(int64_t (*handler)(struct task *t, const struct sysargs *a),
			 enum call_way way, const struct sysargs *a)
{
	struct task *t = world_task();
	struct host_call in = { .nr = 1, .tid = t->tid };
	int64_t ret;

	memcpy(in.args, a->a, sizeof(in.args));
	call_enter(t, &in, 1, way);
	task_current = t;
	ret = handler(t, &t->call.args);
	task_current = NULL;
	return ret;
}

static int64_t next_run(int64_t (*handler)(struct task *t, const struct sysargs *a))
{
	struct task *t = world_task();
	int64_t ret;

	call_resume(t);
	task_current = t;
	ret = handler(t, &t->call.args);
	task_current = NULL;
	return ret;
}

/* Two listeners without room, and who wants to connect. */
static int64_t la, lb, c1, c2, c3;
static struct sockaddr_un here; /* where c3 connects to */
static struct sysargs to_here;

static void listeners_fill(void)
{
	struct sockaddr_un a = at_path("/e/a"), b = at_path("/e/b");

	la = CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	lb = CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	c1 = CALL(socket, AF_UNIX, SOCK_STREAM, 0);
	c2 = CALL(socket, AF_UNIX, SOCK_STREAM, 0);
	c3 = CALL(socket, AF_UNIX, SOCK_STREAM, 0);
	FUZZ_CHECK(CALL(bind, la, &a, sizeof(a)) == 0 && CALL(listen, la, 0) == 0);
	FUZZ_CHECK(CALL(bind, lb, &b, sizeof(b)) == 0 && CALL(listen, lb, 0) == 0);
	FUZZ_CHECK(CALL(connect, c1, &a, sizeof(a)) == 0 && CALL(connect, c2, &b, sizeof(b)) == 0);
	here = a;
	to_here = (struct sysargs){ { (uint64_t)c3, (uint64_t)&here, sizeof(here) } };
}

static void test_waiting_connect(void)
{
	allow();
	eq(first_run(sys_connect, WAY_NOTIFY, &to_here), WAITING, "connect waits for room");
	eq(next_run(sys_connect), WAITING, "... and again");
	told("connect /e/a;", "... asked about once");
	here = at_path("/e/b");
	refuse("connect /e/b", -EXDEV);
	stopped(next_run(sys_connect), "connect /e/b",
		"an address that was changed meanwhile is another question");
	eq(next_run(sys_connect), WAITING, "... which may be allowed");
	told("connect /e/b;", "... once");
	call_leave(world_task(), CALL_LOST);
	here = at_path("/e/a");
}

/* A posted call that would wait has no second run: it is made again as a notification. */
static void test_posted(void)
{
	allow();
	eq(first_run(sys_connect, WAY_POST, &to_here), WAITING, "a posted call that would wait");
	call_leave(world_task(), WAITING);
	eq(first_run(sys_connect, WAY_NOTIFY, &to_here), WAITING, "... is made again");
	told("connect /e/a;", "... and was asked about once");
	call_leave(world_task(), CALL_LOST);
	eq(first_run(sys_connect, WAY_NOTIFY, &to_here), WAITING, "the next call");
	told("connect /e/a;", "... is asked about anew");
	call_leave(world_task(), CALL_LOST);
	close_all(la, c3);
}

static void test_waiting_fifo(void)
{
	struct sysargs args = { { (uint64_t)AT_FDCWD, (uint64_t) "/d/fifo", O_RDONLY } };

	FUZZ_CHECK(CALL(mknod, "/d/fifo", S_IFIFO | 0600, 0) == 0);
	allow();
	eq(first_run(sys_openat, WAY_NOTIFY, &args), WAITING, "open waits for the other side");
	eq(next_run(sys_openat), WAITING, "... and again");
	told("open /d/fifo;", "... asked about once");
	call_leave(world_task(), CALL_LOST);
}

static void test_waiting_hook(void)
{
	struct sysargs args = { { (uint64_t) "/d/w", 0700 } };

	refuse("create", WAITING);
	eq(first_run(sys_mkdir, WAY_NOTIFY, &args), WAITING, "a hook makes the call wait");
	eq(next_run(sys_mkdir), WAITING, "... and is asked again in the next run");
	eq(asked, 2, "... once in each");
	eq(seen, 0, "... which observers do not see");
	call_leave(world_task(), CALL_LOST);
	ok(!exists("/d/w"), "a call that ended there has had no effect");
	refuse("create", WAITING);
	eq(first_run(sys_mkdir, WAY_NOTIFY, &args), WAITING, "once more");
	allow();
	eq(next_run(sys_mkdir), 0, "until the hook lets it go on");
	told("create /d/w;", "... which observers see");
	call_leave(world_task(), CALL_LOST);
	ok(exists("/d/w"), "... and which happened");
}

/* More things than a call remembers: none is let through unasked. */
static void test_many(void)
{
	struct task *t = world_task();
	int asked_now = 0;

	FUZZ_CHECK(first_run(sys_getppid, WAY_NOTIFY, &(struct sysargs){ { 0 } }) >= 0);
	for (uint64_t i = 0; i < ASKED_MAX + 3; i++) {
		asked_now += !call_was_asked(t, i);
		call_note_asked(t, i);
	}
	eq(asked_now, ASKED_MAX + 3, "all are asked about in the first run");
	call_resume(t);
	asked_now = 0;
	for (uint64_t i = 0; i < ASKED_MAX + 3; i++)
		asked_now += !call_was_asked(t, i);
	eq(asked_now, 3, "in the second those that were not remembered");
	call_resume(t);
	ok(call_was_asked(t, 0) && !call_was_asked(t, 7),
	   "another one in the middle is asked about");
	call_note_asked(t, 7);
	call_resume(t);
	ok(call_was_asked(t, 0) && call_was_asked(t, 7) && !call_was_asked(t, 2),
	   "... and what came after it is forgotten");
	call_leave(t, CALL_LOST);
}

static void test_siphash(void)
{
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	uint8_t in[15];

	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = i;
	ok(siphash(key, in, 15) == 0xa129ca6149be45e5, "SipHash-2-4: the example of its paper");
	ok(siphash(key, in, 8) == 0x93f5f5799a932462, "... of a whole word");
	ok(siphash(key, in, 0) == 0x726fdb47dd0e0e31, "... of nothing");
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	char dir[] = "/tmp/test_hooks.XXXXXX";

	if (!mkdtemp(dir))
		return 1;
	setenv("TMPDIR", dir, 1);
	upcalls_init();
	hooks_add(&decide_hooks);
	hooks_add(&observe_hooks);
	hooks_wanted(true);
	world_task();
	FUZZ_CHECK(CALL(mkdir, "/d", 0755) == 0 && CALL(mkdir, "/e", 0755) == 0);
	file_make("/d/f", "four", 0644);
	FUZZ_CHECK(CALL(symlink, "d/f", "/l") == 0);
	world_mark();
	test_siphash();
	test_open();
	test_names();
	test_exec();
	test_inet();
	test_unix();
	listeners_fill();
	test_waiting_connect();
	test_posted();
	test_waiting_fifo();
	test_waiting_hook();
	test_many();
	world_check(); /* no file, socket or name is left over */
	(void)nftw(dir, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
	return tap_end();
}
