/* The tables of /proc, /sys and /dev over the real VFS, with two made-up processes: this test
 * itself, so that the host's view is there, and one of another user. */
/* objects: src/base/ src/host/file.c src/host/sys.c src/host/procmem.c src/host/child.c src/kernel/vfs/ src/kernel/task/waitq.c src/kernel/task/cred.c src/kernel/task/timer.c src/kernel/task/cputime.c src/kernel/platform/cell.c src/kernel/platform/fastmem.c src/kernel/platform/gueststream.c src/kernel/platform/uio.c src/kernel/fs/pseudo/ src/kernel/fs/dev/ src/kernel/fs/stream/ src/kernel/fs/tty/ src/kernel/fs/pty/ src/kernel/fs/sys/ src/kernel/fs/proc/ src/kernel/task/hooks.c src/kernel/task/observe.c */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/fs/dev/dev.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/fs/proc/procmap.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/sys/sysfs.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/loop.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/upcalls.h"
#include "tap.h"

static struct proc procs[2];
static struct task tasks[2];
#define OTHER 3999999
static uint32_t armed;
static struct hostwatch *armed_watch;

/* ---- what other layers give ---- */
int call_wait(struct task *t, struct waitq *q, uint32_t events, enum park_kind kind)
{
	return (void)t, (void)q, (void)events, (void)kind, WAITING;
}
int call_wait_outside(struct task *t, struct waitq *q)
{
	return (void)t, (void)q, WAITING;
}
int call_wait_turn(struct task *t)
{
	return (void)t, WAITING;
}
static bool measured;
void loop_measure(bool on)
{
	measured = on;
}
bool loop_is_measured(void)
{
	return measured;
}
int64_t loop_longest_turn(void)
{
	return 2345678;
}
void call_set_timeout(struct task *t, int64_t rel_ns)
{
	(void)t, (void)rel_ns;
}
bool call_is_expired(const struct task *t)
{
	return t->call.has_deadline;
}
bool pgrp_is_orphaned(pid_t pgid)
{
	return pgid == 0;
}
struct task *task_current;

bool turn_is_long(void)
{
	return false;
}

void now_update(void)
{
}
int64_t now_mono(void)
{
	return 500 * NSEC_PER_SEC;
}
int64_t now_real(void)
{
	return 1000 * NSEC_PER_SEC;
}
struct proc *proc_find(pid_t pid)
{
	return pid == procs[0].pid ? &procs[0] : pid == OTHER ? &procs[1] : NULL;
}
uint32_t task_timerslack(const struct task *t)
{
	return t->timerslack_ns;
}

struct task *task_find(pid_t tid)
{
	return tid == procs[0].pid ? &tasks[0] : tid == OTHER ? &tasks[1] : NULL;
}
struct proc *proc_next(struct proc *after)
{
	return !after ? &procs[0] : after == &procs[0] ? &procs[1] : NULL;
}
uint32_t proc_count(void)
{
	return 2;
}
uint32_t task_count(void)
{
	return 2;
}
struct task *proc_leader(struct proc *p)
{
	return p->state == PROC_ZOMBIE ? NULL : &tasks[p - procs];
}
pid_t proc_ppid(const struct proc *p)
{
	return p == &procs[0] ? 1 : procs[0].pid;
}
bool pgrp_exists(pid_t pgid, pid_t sid)
{
	return pgid == 7 && (sid == 0 || sid == 7);
}
int signal_send_pgrp(pid_t p, int s, const struct linux_siginfo *i)
{
	return (void)p, (void)s, (void)i, 0;
}
int signal_send_proc(struct proc *p, int s, const struct linux_siginfo *i)
{
	return (void)p, (void)s, (void)i, 0;
}
int signal_send_task(struct task *t, int s, const struct linux_siginfo *i)
{
	return (void)t, (void)s, (void)i, 0;
}
int guest_read(pid_t t, void *d, uaddr_t s, size_t n)
{
	return (void)t, memcpy(d, (void *)s, n), 0;
}
int guest_write(pid_t t, uaddr_t d, const void *s, size_t n)
{
	return (void)t, memcpy((void *)d, s, n), 0;
}
int64_t guest_move(pid_t tid, const struct iovec *local, unsigned nlocal,
		   const struct iovec *remote, unsigned nremote, bool towards_guest)
{
	return towards_guest ? process_vm_writev(tid, local, nlocal, remote, nremote, 0)
			     : process_vm_readv(tid, local, nlocal, remote, nremote, 0);
}
size_t guest_read_some(pid_t t, void *d, uaddr_t s, size_t n)
{
	return (void)t, s < PAGE_SIZE ? 0 : (memcpy(d, (void *)s, n), n);
}
size_t guest_write_some(pid_t t, uaddr_t d, const void *s, size_t n)
{
	return (void)t, memcpy((void *)d, s, n), n;
}
void hostwatch_init_with(struct hostwatch *w, int fd,
			 void (*const *fn)(struct hostwatch *, uint32_t))
{
	w->fd = fd, w->fn = fn;
}
int hostwatch_arm(struct hostwatch *w, uint32_t events)
{
	return armed = events, armed_watch = w, 0;
}
void hostwatch_fini(struct hostwatch *w)
{
	(void)w, armed = 0;
}

static char text[1 << 20];

static int64_t slurp_as(struct task *t, const char *path, uint32_t flags)
{
	struct path p;
	struct file *f;
	struct uio u;
	int64_t n = 0, got;
	int err = path_lookup(t, AT_FDCWD, path, LOOKUP_FOLLOW, &p);

	text[0] = 0;
	if (err)
		return err;
	err = file_open(t, &p, flags, &f);
	path_put(&p);
	if (err)
		return err;
	do {
		uio_init_guest(&u, t->tid, (uaddr_t)(text + n), 300);
		got = file_read(f, &u, n);
		n += got > 0 ? got : 0;
	} while (got > 0 && n < (int64_t)sizeof(text) - 400);
	text[n] = 0;
	file_put(f);
	return got < 0 ? got : n;
}

static int64_t slurp(const char *path)
{
	return slurp_as(&tasks[0], path, O_RDONLY);
}

static int64_t spit(const char *path, const char *s)
{
	struct path p;
	struct file *f;
	struct uio u;
	int64_t n = path_lookup(&tasks[0], AT_FDCWD, path, LOOKUP_FOLLOW, &p);

	if (n)
		return n;
	n = file_open(&tasks[0], &p, O_WRONLY | O_TRUNC, &f);
	path_put(&p);
	if (n)
		return n;
	uio_init_guest(&u, tasks[0].tid, (uaddr_t)s, strlen(s));
	n = file_write(f, &u, 0);
	file_put(f);
	return n;
}

static int link_of(const char *path, char *buf, size_t size)
{
	struct path p;
	int n = path_lookup(&tasks[0], AT_FDCWD, path, 0, &p);

	memset(buf, 0, size);
	if (n)
		return n;
	n = p.name->inode->ops->readlink(p.name->inode, &tasks[0], buf, size - 1);
	path_put(&p);
	return n;
}

static struct {
	struct dirsink sink;
	int count, most;
	char names[65536];
} list;

static bool list_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino, unsigned type,
		      int64_t next)
{
	(void)s, (void)len, (void)ino, (void)type, (void)next;
	if (list.count == list.most)
		return false;
	list.count++;
	strcat(strcat(list.names, name), " ");
	return true;
}

/* Lists a directory a few entries at a time, and looks each one up. */
static int list_dir(const char *path)
{
	struct path p;
	struct file *f;
	int err = path_lookup(&tasks[0], AT_FDCWD, path, LOOKUP_FOLLOW, &p), total = 0;

	list.names[0] = 0;
	if (!err)
		err = file_open(&tasks[0], &p, O_RDONLY | O_DIRECTORY, &f);
	if (err)
		return err;
	path_put(&p);
	do {
		list.sink.emit = list_emit;
		list.count = 0;
		list.most = 3;
		err = f->ops->iterate(f, &list.sink);
		total += list.count;
	} while (!err && list.count);
	file_put(f);
	return err ? err : total;
}

/* Reads every file below dir; depth first with a list of directories. */
static int read_all(const char *dir)
{
	static char queue[512][128];
	int head = 0, tail = 0, bad = 0;

	strcpy(queue[tail++], dir);
	while (head < tail) {
		const char *at = queue[head++];
		static char names[65536];
		char path[256], *s;

		if (list_dir(at) < 0) {
			printf("# cannot list %s\n", at), bad++;
			continue;
		}
		strcpy(names, list.names);
		for (s = strtok(names, " "); s; s = strtok(NULL, " ")) {
			struct path p;

			if (s[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%.120s/%.120s", at, s);
			if (path_lookup(&tasks[0], AT_FDCWD, path, 0, &p)) {
				printf("# listed but not there: %s\n", path), bad++;
				continue;
			}
			bool is_dir = p.name->inode && inode_is_dir(p.name->inode);
			bool is_reg = p.name->inode && inode_is_reg(p.name->inode);
			path_put(&p);
			if (is_dir && tail < 512)
				snprintf(queue[tail++], sizeof(queue[0]), "%.127s", path);
			int64_t n = is_reg ? slurp(path) : 0;
			if (n < 0 && !strstr(path, "mem") && !strstr(path, "kmsg") &&
			    !strstr(path, "stack") && !strstr(path, "syscall") &&
			    !strstr(path, "pagemap")) /* gives whole entries only */
				printf("# %s: %ld\n", path, (long)n), bad++;
		}
	}
	return bad;
}

static void make_tasks(void)
{
	static char args[] = "prog\0arg\0A=1\0B=2";

	for (int i = 0; i < 2; i++) {
		procs[i].pid = tasks[i].tid = i ? OTHER : getpid();
		procs[i].pgid = procs[i].sid = 7;
		procs[i].dumpable = 1;
		procs[i].start_time = 100 + i;
		procs[i].nthreads = 1;
		tasks[i].proc = &procs[i];
		strcpy(tasks[i].comm, i ? "other" : "self");
		list_init(&procs[i].children);
		list_init(&procs[i].threads);
		list_append(&procs[i].threads, &tasks[i].thread_link);
		procs[i].arg_start = (uaddr_t)args;
		procs[i].arg_end = procs[i].env_start = (uaddr_t)args + 9;
		procs[i].env_end = (uaddr_t)args + sizeof(args);
	}
	tasks[0].cred =
		(struct cred){ 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, .ngroups = 0 };
}

static void test_proc(void)
{
	char path[128], buf[4096];
	int map_fd = open("/proc/self/exe", O_RDONLY);
	void *map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, map_fd, 4096);
	struct path p;
	struct file *f;

	ok(slurp("/pts/self/status") > 500 && strstr(text, "Name:\tself\n") &&
		   strstr(text, "State:\tR") && strstr(text, "Uid:\t1000\t"),
	   "status");
	ok(slurp("/pts/self/stat") > 100, "stat");
	int fields = 1;
	for (char *s = text; *s; s++)
		fields += *s == ' ';
	eq(fields, 52, "stat has 52 fields");
	ok(slurp("/pts/self/cmdline") == 9 && memcmp(text, "prog\0arg", 9) == 0, "cmdline");
	ok(slurp("/pts/self/environ") == 8 && memcmp(text, "A=1\0B=2", 8) == 0, "environ");
	snprintf(path, sizeof(path), "/pts/%d/environ", OTHER);
	eq(slurp(path), -EACCES, "another user's environ");
	snprintf(path, sizeof(path), "/pts/%d/maps", OTHER);
	eq(slurp(path), -EACCES, "another user's maps");
	eq(slurp("/pts/self/mem"), -EIO, "mem: there is nothing at 0");
	eq(slurp("/pts/1/comm"), 5, "process 1");
	eq(slurp("/pts/1/mem"), -ENOENT, "process 1 has no mem");
	eq(slurp("/pts/77/comm"), -ENOENT, "no such process");
	eq(slurp("/pts/007/comm"), -ENOENT, "no such name");
	eq(spit("/pts/self/comm", "renamed-to-a-long-name\n"), 23, "comm is written");
	ok(strcmp(tasks[0].comm, "renamed-to-a-lo") == 0, "comm is cut");
	eq(spit("/pts/self/oom_score_adj", "500\n"), 4, "oom_score_adj goes up");
	eq(spit("/pts/self/oom_score_adj", "100"), -EACCES, "and not down");
	eq(spit("/pts/self/oom_score_adj", "x"), -EINVAL, "nonsense");
	eq(spit("/pts/sys/kernel/hostname", "x"), -EACCES, "settings are fixed");
	ok(slurp("/pts/cpuinfo") > 50 && strstr(text, "processor\t: 2\n") &&
		   !strstr(text, "processor\t: 3\n"),
	   "cpuinfo has the cell's CPUs");
	ok(slurp("/pts/meminfo") > 500 && strstr(text, "MemTotal:          65536 kB"), "meminfo");
	ok(slurp("/pts/sys/kernel/random/boot_id") == 37, "boot_id");
	ok(slurp("/pts/self/mounts") > 10 && strstr(text, "src /pts proc rw"), "mounts");

	snprintf(path, sizeof(path), "%d", getpid());
	ok(link_of("/pts/self", buf, sizeof(buf)) > 0 && strcmp(buf, path) == 0, "self");
	ok(link_of("/pts/self/cwd", buf, sizeof(buf)) == 1 && buf[0] == '/', "cwd");
	eq(path_lookup(&tasks[0], AT_FDCWD, "/zero", 0, &p), 0, "a file");
	eq(file_open(&tasks[0], &p, O_RDWR, &f), 0, "opens");
	path_put(&p);
	procmap_note(map_fd, f);
	eq(fd_install(&tasks[0], f, 5, true), 5, "a descriptor");
	ok(link_of("/pts/self/fd/5", buf, sizeof(buf)) == 5 && strcmp(buf, "/zero") == 0,
	   "its link");
	eq(link_of("/pts/self/fd/6", buf, sizeof(buf)), -ENOENT, "no such descriptor");
	ok(slurp("/pts/self/fdinfo/5") > 10 && strstr(text, "pos:\t0\nflags:\t0"), "fdinfo");
	eq(list_dir("/pts/self/fd"), 3, "listing of fd");

	ok(slurp("/pts/self/maps") > 500, "maps");
	snprintf(path, sizeof(path), "%lx-%lx r--p 00001000 ", (uaddr_t)map, (uaddr_t)map + 8192);
	ok(strstr(text, path) && strstr(text, " /zero\n"), "a noted mapping has its name");
	ok(!strstr(text, "test_proc") && !strstr(text, ".so"), "no name of the host");
	ok(strstr(text, "[stack]"), "the stack is there");
	list_dir("/pts");
	ok(strstr(list.names, " 1 ") && strstr(list.names, "3999999") &&
		   strstr(list.names, "cpuinfo"),
	   "listing");
	snprintf(path, sizeof(path), "/pts/%d", getpid());
	eq(read_all(path), 0, "all of a process can be read");
	eq(slurp("/pts/1/environ"), -EACCES, "process 1 is root's");
	tasks[0].cred.cap_effective = UINT64_MAX >> 23;
	eq(read_all("/pts/1"), 0, "all of process 1 can be read");
	eq(read_all("/pts/sys"), 1, "all of the settings can be read but one");
	eq(slurp("/pts/sys/vm/drop_caches"), -EACCES, "... that is only written to");
	ok(slurp("/pts/1/sched") > 0 && !strstr(text, "exec_max"), "turns of the kernel are not measured");
	eq(spit("/pts/sys/kernel/sched_schedstats", "1"), -EACCES, "no capability makes them root's");
	const uint32_t user = tasks[0].cred.fsuid;
	tasks[0].cred.fsuid = 0;
	eq(spit("/pts/sys/kernel/sched_schedstats", "2"), -EINVAL, "they are or they are not");
	eq(spit("/pts/sys/kernel/sched_schedstats", "1\n"), 2, "... until it is asked for");
	ok(slurp("/pts/1/sched") > 0 && strstr(text, " :             2.345678\n"), "then the longest is told");
	tasks[0].cred.fsuid = user;
	eq(read_all("/shm"), 0, "all of /sys can be read");
	procs[0].state = PROC_ZOMBIE;
	ok(slurp("/pts/self/stat") > 0 && strstr(text, ") Z "), "a zombie");
	eq(slurp("/pts/self/maps"), -EACCES + EACCES, "a zombie's maps are empty");
	procs[0].state = PROC_RUNNING;
	ok(slurp("/shm/devices/system/cpu/online") == 4 && strcmp(text, "0-2\n") == 0,
	   "CPUs online");
	ok(slurp("/shm/devices/system/cpu/cpu1/topology/thread_siblings") == 2 && text[0] == '2',
	   "siblings");
	eq(slurp("/shm/devices/system/cpu/cpu3/online"), -ENOENT, "no more CPUs");
	eq(fd_close(&tasks[0], 5), 0, "close");
	munmap(map, 8192);
}

static void test_dev(void)
{
	struct path p;
	struct file *f;
	struct mapping_req req = { .prot = PROT_READ, .flags = MAP_SHARED, .len = 100 };
	struct stat first, second;
	uint64_t off = 0;
	char buf[64];
	struct uio u;

	eq(slurp("/null"), 0, "null is empty");
	eq(spit("/null", "abc"), 3, "and takes all");
	eq(spit("/full", "abc"), -ENOSPC, "full");
	eq(slurp("/tty"), -ENXIO, "no terminal");
	path_lookup(&tasks[0], AT_FDCWD, "/zero", 0, &p);
	eq(file_open(&tasks[0], &p, O_RDWR, &f), 0, "zero");
	path_put(&p);
	ok(fstat(f->ops->mmap(f, &req, &off), &first) == 0 &&
		   fstat(f->ops->mmap(f, &req, &off), &second) == 0 &&
		   first.st_ino != second.st_ino && off == 0,
	   "two mappings are of two files");
	memset(buf, 1, sizeof(buf));
	uio_init_kernel(&u, buf, sizeof(buf));
	eq(file_read(f, &u, 0), 64, "zero gives");
	ok(buf[0] == 0 && buf[63] == 0, "zeros");
	file_put(f);
}

/* In a child, because descriptors 0, 1 and 2 are taken. Exit status: which check failed. */
static int stream_child(int in, int out)
{
	struct file *files[3];
	char buf[64] = "";
	struct uio u;
	struct path p;
	struct file *again;

	dup2(in, 0), dup2(out, 1), dup2(out, 2);
	for (int i = 3; i < 20; i++)
		close(i);
	if (stream_files(files))
		return 1;
	if (files[1] != files[2] || files[0] == files[1])
		return 2;
	uio_init_kernel(&u, buf, 5);
	if (file_read(files[0], &u, 0) != 5 || memcmp(buf, "hello", 5) != 0)
		return 3;
	uio_init_kernel(&u, buf, 5);
	if (file_read(files[0], &u, 0) != -EAGAIN || armed != POLLIN)
		return 4;
	if (file_poll(files[0]) & POLLIN)
		return 5;
	(*armed_watch->fn)(armed_watch, POLLIN);
	if (!(file_poll(files[1]) & POLLOUT))
		return 6;
	if (file_place(files[1], &p) || file_open(&tasks[0], &p, O_WRONLY, &again))
		return 7;
	path_put(&p);
	if (file_label(again, NULL, buf, sizeof(buf)) < 6 || memcmp(buf, "pipe:[", 6) != 0)
		return 8;
	strcpy(buf, "out");
	uio_init_kernel(&u, buf, 3);
	if (file_write(again, &u, 0) != 3)
		return 9;
	file_put(files[1]);
	file_put(files[2]);
	if (fcntl(1, F_GETFD) < 0)
		return 10;
	file_put(again);
	if (fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
		return 11;
	file_put(files[0]);
	struct obj_type *type = obj_type_find("stream");
	return type && type->count == 0 ? 0 : 12;
}

static void test_stream(void)
{
	int in[2], out[2], status = 0;
	char buf[16] = "";
	pid_t pid;

	if (pipe(in) || pipe(out) || write(in[1], "hello", 5) != 5)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(stream_child(in[0], out[1]));
	close(out[1]);
	waitpid(pid, &status, 0);
	eq(WEXITSTATUS(status), 0, "streams");
	eq(read(out[0], buf, sizeof(buf)), 3, "what was written arrives");
	eq(read(out[0], buf, sizeof(buf)), 0, "and then the end");
}

int main(void)
{
	struct mount *m[3];
	struct path root, at;

	if (arena_init())
		return 1;
	make_tasks();
	cell.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY);
	cell.spec.cpus = 3;
	cell.spec.memory = 64 << 20;
	cell.spec.hostname = "cell";
	cell.spec.uid = 1000;
	vfs_upcalls.dev_open = dev_open;
	vfs_upcalls.name_gone = procmap_name_gone;
	eq(mount_add(devfs_new(), NULL, 0, "src", &m[0]), 0, "/dev is the root here");
	root = (struct path){ m[0], m[0]->root };
	for (int i = 0; i < 2; i++) {
		tasks[i].fs = fsctx_new(&root, &root, 022);
		tasks[i].files = fdtable_new();
		for (int l = 0; l < RLIMITS; l++)
			procs[i].limits[l].cur = l == RLIMIT_NOFILE ? 100 : UINT64_MAX;
	}
	eq(path_lookup(&tasks[0], AT_FDCWD, "/pts", 0, &at), 0, "a place");
	eq(mount_add(procfs_new(), &at, 0, "src", &m[1]), 0, "/proc");
	path_put(&at);
	eq(path_lookup(&tasks[0], AT_FDCWD, "/shm", 0, &at), 0, "a place");
	eq(mount_add(sysfs_new(), &at, 0, "src", &m[2]), 0, "/sys");
	path_put(&at);
	test_proc();
	test_dev();
	test_stream();
	struct obj_type *type = obj_type_find("textbuf");
	eq(type ? type->count : 0, 0, "no snapshot is left");
	type = obj_type_find("notes");
	eq(type ? type->count : 0, 0, "no note is left");
	return tap_end();
}
