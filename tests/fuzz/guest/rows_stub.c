/* The stub's own questions in any order, never confirmed, confirmed twice or by another thread;
 * calls that are posted; and floods, which make one call very often, to where there is no more of
 * something. */
#include "guest.h"

#include <linux/seccomp.h>
#include <sys/socket.h>

#include "../../hostile/box.h"

#define BIRTH OF(SIGCHLD, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, CLONE_VFORK | CLONE_VM | SIGCHLD, CLONE_FILES | SIGCHLD, \
		 CLONE_FS | SIGCHLD, CLONE_PARENT | SIGCHLD, CLONE_PIDFD | SIGCHLD, CLONE_NEWNS | SIGCHLD)

/* A process that is made behind the kernel's back, and then says who it is, or says something else
 * first. */
static void native_clone(struct run *run)
{
	uint64_t token = r(run, 3) ? world->tokens[r(run, SLOTS)] : (uint64_t)RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD, 0);
	bool parent = r(run, 8), says = r(run, 4);
	int n = (int)r(run, 5);
	long pid;

	if (run->depth > 1)
		return;
	say(run, "token %#lx%s", (unsigned long)token, says ? "" : ", says nothing");
	pid = MARKED(SYS_clone, (parent ? CLONE_PARENT : 0) | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		run->depth++;
		if (says)
			RAW(HC_CHILD, token);
		steps_in_child(run, n);
		if (r(run, 2))
			RAW(HC_CHILD, token);
		RAW(SYS_exit_group, 0);
	}
	if (pid > 0)
		world->pids[r(run, SLOTS)] = (int32_t)pid;
}

/* An exec that is asked for, then not made, or by a clone of the address space. */
static void exec_asked(struct run *run)
{
	static const char *const paths[] = { "/proc/self/exe", "/usr/bin/env", "a", "d/a", "/bin/sh" };
	const char *path = paths[r(run, 5)];

	say(run, "%s", path);
	RAW(HC_EXEC_PREP, AT_FDCWD, path, 0, r(run, 2) ? 0 : r(run, 1UL << 40));
	if (r(run, 2))
		RAW(HC_EXEC_CANCEL);
}

/* Any call, as the stub has it made again. */
static void forwarded(struct run *run)
{
	long a[6];
	const struct row *row = call_any(run, a);

	say(run, "%s", row ? row->name : "nothing");
	if (row)
		raw(row->nr + HC_FORWARD, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const struct row rows_stub[] = {
	{ DO("forwarded", forwarded), .weight = 1 },
	{ STUBCALL(HC_WAIT_END, MEM), .weight = 1 },
	{ STUBCALL(HC_CLONE_PREP, BIRTH, OF(SIGCHLD, 0, SIGUSR1, 64, 99), MEM), .gives = G_TOKEN, .weight = 3 },
	{ STUBCALL(HC_CHILD, TOKEN), .weight = 1 },
	{ STUBCALL(HC_CLONE_CANCEL, TOKEN, BELOW(2)), .weight = 2 },
	{ DO("native_clone", native_clone), .weight = 2 },
	{ STUBCALL(HC_EXEC_PREP, DIRFD, PATH, OF(0, 0x1000), BELOW(1 << 30)), .weight = 1 },
	{ DO("exec_asked", exec_asked), .weight = 2 },
	{ STUBCALL(HC_EXEC_CANCEL), .weight = 1 },
	{ STUBCALL(HC_EXEC_BOOT, MEM, BELOW(3)), .deadly = 1 },
	{ STUBCALL(HC_EXEC_DONE, MEM) },
	{ STUBCALL(HC_MMAP, MAPAT, OF(4096, 65536), OF(1, 3, 5), OF(MAP_SHARED, MAP_PRIVATE), ANYFD, OF(0, 4096)), .gives = G_HOSTFD, .weight = 2 },
	{ STUBCALL(HC_SIGACTION, SIG, OF(0, 1, 0x400000), BELOW(16), BELOW(2)) },
	{ STUBCALL(HC_REROUTE, SIG, SIGINFO), .weight = 1 },
	{ STUBCALL(HC_TAKEN, SIG, BELOW(6), BELOW(6)), .weight = 1 },
	{ STUBCALL(HC_HOLD, SIG, SIGINFO, BELOW(2)), .weight = 1 },
	{ STUBCALL(HC_PSELECT6, BELOW(150), FDSET, FDSET, FDSET, TIME, MARK) },
	{ NUMBER("ppoll(armed)", SYS_ppoll, POLLS, BELOW(9), TIME, SIGSET, V(8), MARK), .weight = 1 },
	{ NUMBER("epoll_pwait(armed)", SYS_epoll_pwait, FD(K_EPOLL), MEM, V(8), OF(-1, 5), SIGSET, MARK) },
	{ STUBCALL(HC_SHMAT, ID(ID_SHM), MAPAT, OF(0, 010000, 040000), MEM), .gives = G_HOSTFD, .weight = 3 },
	{ STUBCALL(HC_SHMAT_DONE, MAPAT), .weight = 2 },
	{ STUBCALL(HC_SHMDT, MAPAT), .weight = 1 },
	{ CALL(shmget, OF(0, 1), V(8192), V(01666)), .gives = G_ID, .kind = ID_SHM, .weight = 1 },
	{ CALL(shmctl, ID(ID_SHM), V(0), MEM), .weight = 1 },
	{ STUBCALL(HC_SECCOMP, OF(SECCOMP_SET_MODE_FILTER, 0, 2, 3), OF(0, SECCOMP_FILTER_FLAG_TSYNC, 17, 2, 4, 8), FPROG, MEM) },
	{ STUBCALL(HC_SECCOMP_DONE, OF(-1, -22, 0)) },
	{ STUBCALL(HC_SECCOMP_ASK, MEM), .weight = 1 },
	{ STUBCALL(HC_SIGSYS_DIE), .deadly = 1 },
	{ STUBCALL(HC_IO_SETUP, BELOW(20), MEM, MAPAT), .gives = G_CTX, .weight = 1 },
	{ STUBCALL(HC_IO_DESTROY, CTX) },
	{ STUBCALL(HC_IO_DESTROY, MAPAT) },
	{ CALL(io_submit, CTX, BELOW(4), IOCBS) },
	{ CALL(io_getevents, CTX, BELOW(3), BELOW(8), MEM, TIME) },
	{ STUBCALL(HC_POST, BELOW(3)), .gives = G_HOSTFD },
	{ STUBCALL(HC_SEED, MEM, TOKEN) },
	{ STUBCALL(HC_SEED_FILL, TOKEN, MEM) },
	{ STUBCALL(HC_SEED_BORN, TOKEN) },
	{ STUBCALL(HC_SEED_FAIL, TOKEN, OF(-12, 0)) },
	{ CALL(exit, BELOW(3)), .deadly = 1 },
	{ CALL(seccomp, V(SECCOMP_SET_MODE_FILTER), OF(0, SECCOMP_FILTER_FLAG_TSYNC), FPROG) },
	{ CALL(wait4, V(-1), MEM, V(WNOHANG), V(0)) },
};

/* ---- posted calls ---- */

static struct post_box *box_find(void)
{
	static struct post_box *box;
	static int of;

	if (of == getpid())
		return box;
	of = getpid();
	box = box_map();
	/* The stub has it. */
	if (!box && MARKED(SYS_rt_sigprocmask, 0, 0, POST_BASE + POST_SIZE - 8, 8, 0) == 0)
		box = (void *)POST_BASE;
	return box;
}

/* A call through the box, in the name of this thread or of another. */
static void post(struct run *run)
{
	struct post_box *box = box_find();
	struct post_slot *s;
	const struct row *row;
	unsigned i = (unsigned)r(run, 3);
	long a[6];

	row = call_any(run, a);
	if (!box || !row)
		return;
	s = &box->slot[i];
	s->nr = (uint64_t)row->nr;
	memcpy(s->a, a, sizeof(s->a));
	s->nin = (uint32_t)(r(run, 4) ? 0 : r(run, 6));
	for (int k = 0; k < POST_INS; k++)
		s->in[k] = (struct post_in){ (uint64_t)a[1], (uint32_t)r(run, 2000), (uint32_t)r(run, 2000) };
	s->out = (uint64_t)a[r(run, 6)];
	s->out_room = (uint32_t)r(run, r(run, 8) ? POST_ROOM : 100000);
	s->stream = (uint32_t)(r(run, 4) ? 0 : r(run, 4));
	s->stream_len = (uint32_t)r(run, 200000);
	s->stream_at = (uint32_t)r(run, AREA_SIZE);
	s->ready = (uint32_t)(r(run, 2) ? READY_NO_MORE | r(run, 200000) : r(run, 200000));
	__atomic_store_n(&box->state[i], POST_STATE(r(run, 6) ? RAW(SYS_gettid) : world->worker[r(run, WORKERS)].tid, POST_POSTED), __ATOMIC_SEQ_CST);
	for (int k = 0; k < 20; k++) {
		if (POST_STEP(__atomic_load_n(&box->state[i], __ATOMIC_ACQUIRE)) != POST_POSTED)
			break;
		RAW(SYS_lseek, -1, 0, 0); /* it is awake for who makes calls */
	}
	if (r(run, 4))
		__atomic_store_n(&box->state[i], 0, __ATOMIC_SEQ_CST);
}

/* Makes calls until it is awake. */
static void busy(struct run *run)
{
	long n = (long)r(run, 200);

	say(run, "%ld", n);
	for (long i = 0; i < n; i++)
		RAW(SYS_lseek, FD_FIRST, 0, 1);
}

/* The same call from the same place of libc, which is what the stub rewrites, answers by itself and
 * posts. Large ones go as streams. */
static void libc_calls(struct run *run)
{
	int fd = fd_any(run, r(run, 3) ? K_FILE : K_ANY), other = fd_any(run, K_PIPE);
	unsigned what = (unsigned)r(run, 12);
	int n = 1 + (int)r(run, 60);
	struct stat st;

	say(run, "%d times kind %u on %d", n, what, fd);
	for (int i = 0; i < n; i++) {
		size_t len = r(run, 4) ? r(run, 4000) : r(run, ROOM);
		char *at = run->data + r(run, ROOM - len);

		switch (what) {
		case 0: (void)!pread(fd, at, len, (off_t)r(run, 100000)); break;
		case 1: (void)!pwrite(fd, at, len, (off_t)r(run, 100000)); break;
		case 2: (void)!read(other, at, r(run, 3000)); break;
		case 3: (void)!write(other, at, r(run, 3000)); break;
		case 4: lseek(fd, (off_t)r(run, 1000), (int)r(run, 3)); break;
		case 5: fstat(fd, &st); break;
		case 6: stat(path_any(run), &st); break;
		case 7: access(path_any(run), (int)r(run, 8)); break;
		case 8: fd_keep(run, K_FILE, open(path_any(run), O_RDWR | O_NONBLOCK | (r(run, 2) ? O_CREAT : 0), 0600)); break;
		case 9: (void)!readlink(path_any(run), at, 100); break;
		case 10: (void)!unlink(path_any(run)); break;
		case 11: (void)!write(fd, at, len); break;
		}
	}
}

static const struct row rows_post[] = {
	{ DO("libc_calls", libc_calls), .weight = 4 },
	{ DO("post", post), .weight = 8 },
	{ DO("busy", busy) },
	{ CALL(openat, DIRFD, PATH, V(O_RDWR | O_CREAT), V(0600)), GIVES(K_FILE), .weight = 1 },
	{ CALL(ftruncate, FD(K_FILE), BELOW(400000)) },
	{ CALL(pread64, FD(K_FILE), MEM, LEN, BELOW(10000)) },
	{ CALL(pwrite64, FD(K_FILE), MEM, OF(65536, 40000, 200000), BELOW(10000)) },
	{ CALL(close, FD(K_FILE)) },
};

/* ---- floods ---- */

/* The same call again and again, each time with other arguments. */
static void burst(struct run *run)
{
	const struct row *row = call_any(run, NULL);
	int n = 20 + (int)r(run, 150);
	struct run each = *run;

	say(run, "%d times %s", n, row ? row->name : "nothing");
	for (int i = 0; row && i < n; i++) {
		long a[6] = { 0 };

		each.used = 0;
		each.text_len = sizeof(each.text);
		for (int k = 0; k < 6; k++)
			a[k] = arg_make(&each, &row->a[k]);
		if (row->nr == SYS_kill || row->nr == SYS_tgkill || row->nr == SYS_tkill)
			a[row->nr == SYS_tgkill ? 2 : 1] = 34;
		raw(row->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

/* Descriptors of one kind, up to the limit. They stay. */
static void flood(struct run *run)
{
	static const char name[] = "x";
	unsigned what = (unsigned)r(run, 10);
	int n = 30 + (int)r(run, 250), p[2];

	say(run, "%d of kind %u", n, what);
	for (int i = 0; i < n; i++) {
		long fd = -1;

		switch (what) {
		case 0: fd = RAW(SYS_socket, AF_UNIX, SOCK_STREAM, 0); break;
		case 1: fd = RAW(SYS_epoll_create1, 0); break;
		case 2: fd = RAW(SYS_eventfd2, 0, 0); break;
		case 3: fd = RAW(SYS_timerfd_create, 1, 0); break;
		case 4: fd = RAW(SYS_inotify_init1, 0); break;
		case 5: fd = RAW(SYS_memfd_create, name, 0); break;
		case 6: fd = RAW(SYS_socket, AF_INET, SOCK_STREAM, 0); break;
		case 7: fd = RAW(SYS_pipe2, p, 0) == 0 ? p[0] : -1; break;
		case 8: fd = RAW(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR); break;
		case 9: fd = RAW(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY); break;
		}
		if (fd < 0)
			return;
		if (fd < FD_FLOOD) {
			RAW(SYS_fcntl, fd, F_DUPFD, FD_FLOOD);
			RAW(SYS_close, fd);
		}
		if (what == 7) {
			RAW(SYS_fcntl, p[1], F_DUPFD, FD_FLOOD);
			RAW(SYS_close, p[1]);
		}
	}
}

static void ebb(struct run *run)
{
	unsigned from = FD_FLOOD + (unsigned)r(run, 3) * 20;

	say(run, "from %u", from);
	RAW(SYS_close_range, from, ~0U, 0);
}

static const struct row rows_flood[] = {
	{ DO("burst", burst), .weight = 1 },
	{ DO("flood", flood), .weight = 1 },
	{ DO("ebb", ebb), .weight = 1 },
};

#define rows rows_stub
TABLE(table_stub, "stub");
#undef rows
#define rows rows_post
TABLE(table_post, "post");
#undef rows
#define rows rows_flood
TABLE(table_flood, "flood");
