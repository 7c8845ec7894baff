/* A round: what its seed makes of it, the workers, the director that hands out steps, and tidying
 * up. */
#include "guest.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

const struct table *const tables[] = { &table_file,   &table_mount,  &table_io,	    &table_unix, &table_inet, &table_event, &table_ipc,	 &table_proc,
				       &table_signal, &table_memory, &table_stub, &table_lock, &table_tty,  &table_flood, &table_post };
const unsigned ntables = sizeof(tables) / sizeof(tables[0]);

#define ROWS_MAX 1024
static const struct row *all[ROWS_MAX]; /* of this round, each with ... */
static uint32_t upto[ROWS_MAX]; /* ... the sum of the weights up to it */
static unsigned nall;
static struct step {
	const struct row *row;
	uint64_t seed;
	uint8_t worker;
} steps[STEPS_MAX];

struct world *world;
int verbose;
const char *base_dir = "/tmp";
static bool own_mounts, at_once;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (x ^ x >> 31) | 1;
}

/* ---- what the seed says ---- */

static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p++)
		if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

/* Few tables at a time, and not all of their rows: calls that have to do with each other come close
 * together. */
static void rows_choose(struct run *run, const char *list)
{
	uint32_t sum = 0, hot = 0;
	bool everything = r(run, 8) == 0;

	for (uint64_t i = 0, n = 1 + r(run, 3); i < n; i++)
		hot |= 1u << r(run, ntables);
	nall = 0;
	for (unsigned i = 0; i < ntables; i++) {
		bool here = list ? is_named(list, tables[i]->name) : everything || hot >> i & 1;

		for (unsigned k = 0; k < tables[i]->n && nall < ROWS_MAX; k++) {
			const struct row *row = &tables[i]->rows[k];
			uint64_t luck = r(run, 8);

			/* A little of the others, too. */
			if (here ? luck == 0 : luck || list || r(run, 4))
				continue;
			if (row->deadly && r(run, 4))
				continue;
			sum += here ? 4u * (1 + row->weight) : 1;
			if (row->deadly)
				sum -= here ? 4u * (1 + row->weight) - 1 : 0;
			all[nall] = row;
			upto[nall++] = sum;
		}
	}
}

static const struct row *row_any(struct run *run)
{
	uint64_t at = nall ? r(run, upto[nall - 1]) : 0;

	for (unsigned i = 0; i < nall; i++)
		if (at < upto[i])
			return all[i];
	return NULL;
}

const struct row *call_any(struct run *run, long a[6])
{
	for (int tries = 0; tries < 8; tries++) {
		const struct row *row = row_any(run);

		if (!row || row->fn || row->deadly)
			continue;
		for (int i = 0; a && i < 6; i++)
			a[i] = arg_make(run, &row->a[i]);
		return row;
	}
	return NULL;
}

static void plan_make(const struct plan *p)
{
	struct run run = { .state = mix(p->seed) };

	rows_choose(&run, p->tables);
	own_mounts = r(&run, 2) != 0;
	at_once = r(&run, 4) == 0;
	for (unsigned i = 0; i < p->steps && i < STEPS_MAX; i++) {
		struct run one = { .state = mix(p->seed * 0x9e3779b97f4a7c15ull + i + 1) };
		uint64_t a = r(&one, WORKERS), b = r(&one, WORKERS);

		steps[i] = (struct step){ row_any(&one), mix(one.state), (uint8_t)(a < b ? a : b) };
	}
}

/* ---- a step ---- */

static void result_keep(struct run *run, const struct row *row, long ret, const long *a)
{
	int two[2];

	if (row->gives == G_TOKEN ? ret <= 0 : ret < 0)
		return;
	switch (row->gives) {
	case G_FD:
		fd_keep(run, row->kind, (int)ret);
		break;
	case G_PAIR:
		memcpy(two, (void *)(row->nr == SYS_socketpair ? a[3] : a[0]), sizeof(two));
		fd_keep(run, row->kind, two[0]);
		fd_keep(run, row->kind, two[1]);
		break;
	case G_ID:
		world->ids[row->kind][r(run, 2) ? 0 : r(run, SLOTS)] = (int32_t)ret;
		break;
	case G_TOKEN:
		world->tokens[r(run, SLOTS)] = run->token = (uint64_t)ret;
		break;
	case G_CTX:
		memcpy(&own.contexts[r(run, 3)], (void *)a[1], 8);
		break;
	case G_TIMER:
		memcpy(&own.timers[r(run, 3)], (void *)a[2], 4);
		break;
	case G_HOSTFD:
		if (!(ret & STUB_FD_KEEP))
			MARKED(SYS_close, ret & 0xffff, 0, 0, 0, 0);
		break;
	}
}

void step_run(struct run *run, const struct row *row, unsigned index)
{
	long a[6] = { 0 }, ret = 0;

	run->used = run->text_len = 0;
	run->ndrawn = 0;
	run->peer = WORKERS;
	say(run, "# %u w%d %s(", index, run->worker + 10 * run->depth, row->name);
	if (row->nr == SYS_exit && !run->depth)
		__atomic_store_n(&world->worker[run->worker].state, W_NONE, __ATOMIC_SEQ_CST);
	if (row->fn) {
		if (verbose) {
			say(run, ")\n");
			RAW(SYS_write, 2, run->text, run->text_len);
			run->text_len = 0;
		}
		row->fn(run);
	} else {
		for (int i = 0; i < 6 && row->a[i].kind; i++) {
			say(run, i ? ", " : "");
			a[i] = arg_make(run, &row->a[i]);
		}
		say(run, ")\n");
		if (verbose)
			RAW(SYS_write, 2, run->text, run->text_len < sizeof(run->text) ? run->text_len : sizeof(run->text));
		ret = raw(row->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		result_keep(run, row, ret, a);
		if (ret == -EBADF || (row->nr == SYS_close && ret == 0))
			for (int i = 0; i < run->ndrawn; i++)
				fd_is_there(run->drawn[i], false);
	}
	if (verbose) {
		run->text_len = 0;
		say(run, "#   w%d: %ld\n", run->worker + 10 * run->depth, ret);
		RAW(SYS_write, 2, run->text, run->text_len);
	}
}

void steps_in_child(struct run *run, int n)
{
	for (int i = 0; i < n; i++) {
		const struct row *row = row_any(run);

		if (row)
			step_run(run, row, (unsigned)i);
	}
}

/* ---- workers ---- */

static void futex_wait(uint32_t *at, uint32_t value, long nsec)
{
	struct timespec ts = { 0, nsec };

	RAW(SYS_futex, at, FUTEX_WAIT, value, nsec ? &ts : NULL, 0, 0);
}

static void state_set(struct worker *w, uint32_t state)
{
	__atomic_store_n(&w->state, state, __ATOMIC_SEQ_CST);
	RAW(SYS_futex, &w->state, FUTEX_WAKE, 10, 0, 0, 0);
}

static uint32_t state_of(const struct worker *w)
{
	return __atomic_load_n(&w->state, __ATOMIC_SEQ_CST);
}

static void *guarded(void)
{
	char *p = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + ROOM, 4096);
	return p;
}

static void *worker_main(void *arg)
{
	struct worker *w = &world->worker[(long)arg];
	struct run run = { .worker = (int)(long)arg, .room = guarded(), .data = guarded() };

	w->tid = (int32_t)RAW(SYS_gettid);
	w->pid = getpid();
	state_set(w, W_IDLE);
	for (;;) {
		const struct step *s;

		while (state_of(w) != W_BUSY)
			futex_wait(&w->state, W_IDLE, 0);
		s = &steps[w->step];
		run.state = s->seed;
		if (s->row)
			step_run(&run, s->row, w->step);
		state_set(w, W_IDLE);
	}
	return NULL;
}

/* Which workers are threads of one process. */
static const struct {
	uint8_t first, n;
} crews[] = { { 0, 4 }, { 4, 2 }, { 6, 1 }, { 7, 1 } };
#define CREWS 4
static pid_t crew_pid[CREWS];

static void nothing(int s)
{
	(void)s;
}

static void crew_main(unsigned c)
{
	struct sigaction cut = { .sa_handler = nothing };
	pthread_t t;
	char dir[128];

	setsid();
	close(0);
	open("/dev/null", O_RDWR); /* locks on that of us all would stay */
	sigaction(SIGUSR1, &cut, NULL);
	sigaction(SIGUSR2, &cut, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (own_mounts)
		unshare(CLONE_NEWNS);
	snprintf(dir, sizeof(dir), "%s/fz", base_dir);
	(void)!chdir(dir);
	for (unsigned i = 1; i < crews[c].n; i++)
		pthread_create(&t, NULL, worker_main, (void *)(long)(crews[c].first + i));
	worker_main((void *)(long)crews[c].first);
}

static void crew_start(unsigned c)
{
	for (unsigned i = 0; i < crews[c].n; i++)
		world->worker[crews[c].first + i].state = W_NONE;
	crew_pid[c] = fork();
	if (crew_pid[c] == 0) {
		crew_main(c);
		_exit(0);
	}
	if (crew_pid[c] > 0)
		world->pids[c] = crew_pid[c];
	for (unsigned i = 0; i < crews[c].n; i++)
		for (int tries = 0; tries < 100 && state_of(&world->worker[crews[c].first + i]) == W_NONE; tries++)
			futex_wait(&world->worker[crews[c].first + i].state, W_NONE, 2000000);
}

static unsigned crew_of(unsigned worker)
{
	return worker < 4 ? 0 : worker < 6 ? 1 : worker - 4;
}

/* ---- the director ---- */

static void dead_note(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (unsigned c = 0; c < CREWS; c++)
			if (crew_pid[c] == pid) {
				crew_pid[c] = 0;
				for (unsigned i = 0; i < crews[c].n; i++)
					world->worker[crews[c].first + i].state = W_NONE;
			}
}

/* Cuts short what takes long; who does not listen is gone, or stopped, or blocks all signals. A
 * process of its own, as to signal somebody who is gone may take its time while births are
 * pending. */
static void kicker_start(void)
{
	if (fork())
		return;
	for (;;) {
		naptime(10);
		for (unsigned i = 0; i < WORKERS; i++) {
			struct worker *w = &world->worker[i];
			double since = seconds() - w->since;

			if (state_of(w) != W_BUSY || since < 0.02)
				continue;
			if (RAW(SYS_tgkill, w->pid, w->tid, SIGUSR1) == -ESRCH)
				__atomic_store_n(&w->state, W_NONE, __ATOMIC_SEQ_CST);
			if (since > 0.1)
				RAW(SYS_kill, w->pid, SIGCONT);
			if (since > 0.5)
				RAW(SYS_kill, w->pid, SIGKILL);
		}
	}
}

/* A worker for the step: the one it names, or the next that has nothing to do. */
static struct worker *worker_for(const struct step *s, int *lives)
{
	for (int tries = 0; tries < 200; tries++) {
		for (unsigned k = 0; k < WORKERS; k++) {
			unsigned i = (s->worker + k) % WORKERS, c = crew_of(i);
			struct worker *w = &world->worker[i];

			if (state_of(w) == W_IDLE)
				return w;
			if (state_of(w) == W_NONE && crew_pid[c] <= 0 && *lives > 0) {
				--*lives;
				crew_start(c);
			}
		}
		dead_note();
		naptime(1);
	}
	return NULL;
}

static void steps_hand_out(const struct plan *p)
{
	double end = seconds() + 15;
	int lives = 12;

	for (unsigned i = 0; i < p->steps && seconds() < end; i++) {
		struct worker *w;

		if (p->only && !p->only[i])
			continue;
		w = worker_for(&steps[i], &lives);
		if (!w)
			return;
		w->step = i;
		w->since = seconds();
		state_set(w, W_BUSY);
		/* One after the other, but for those that wait. */
		for (int tries = 0; !at_once && tries < 3 && state_of(w) == W_BUSY; tries++)
			futex_wait(&w->state, W_BUSY, 1000000);
		if (i % 16 == 0)
			dead_note();
	}
	naptime(at_once ? 20 : 2);
}

/* Things that all workers have in common. */
static void common_make(void)
{
	int p[2];

#define PLACE(kind, k) (FD_FIRST + (kind)*FD_PER_KIND + (k))
#define MOVE(fd, to)            \
	do {                    \
		int from = fd;  \
		if (dup2(from, to) >= 0) \
			fd_is_there(to, true); \
		close(from);    \
	} while (0)
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p) == 0) {
		MOVE(p[0], PLACE(K_UNIX, 0));
		MOVE(p[1], PLACE(K_UNIX, 1));
	}
	if (pipe2(p, O_NONBLOCK) == 0) {
		MOVE(p[0], PLACE(K_PIPE, 0));
		MOVE(p[1], PLACE(K_PIPE, 1));
	}
	MOVE(open("a", O_RDWR | O_CREAT, 0600), PLACE(K_FILE, 0));
	MOVE(open(".", O_RDONLY | O_DIRECTORY), PLACE(K_DIR, 0));
	MOVE(epoll_create1(0), PLACE(K_EPOLL, 0));
	world->ids[ID_SHM][0] = (int32_t)RAW(SYS_shmget, 0, 8192, 01666);
	world->ids[ID_SEM][0] = (int32_t)RAW(SYS_semget, 0, 4, 01666);
	world->ids[ID_MSG][0] = (int32_t)RAW(SYS_msgget, 0, 01666);
}

/* A list of the children of this process: opened before mounts change and files run out. */
static int children = -1;

static void children_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = open(path, O_RDONLY);
}

/* Kills whoever is below this process until nobody is. */
static bool everybody_end(void)
{
	char list[4096] = "";
	double end = seconds() + 3;

	while (seconds() < end) {
		ssize_t n;
		pid_t pid;

		if (children < 0)
			children_open(); /* there was no room for it */
		n = pread(children, list, sizeof(list) - 1, 0);
		list[n > 0 ? n : 0] = 0;
		for (char *at = list, *next; (pid = (pid_t)strtol(at, &next, 10)) > 0; at = next)
			kill(pid, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return true;
		naptime(1);
	}
	return false;
}

static void tree_remove(const char *path, int depth)
{
	DIR *d;
	struct dirent *e;
	char sub[512];

	while (umount2(path, MNT_DETACH) == 0)
		;
	if (unlink(path) == 0 || depth > 6 || !(d = opendir(path)))
		return;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
			snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
			tree_remove(sub, depth + 1);
		}
	closedir(d);
	rmdir(path);
}

/* The ids of System V go round: the kernel says how far. */
static void ipc_remove_all(void)
{
	static const struct {
		int nr, info, stat, sem; /* sem: the argument that semctl has more */
	} kinds[] = { { SYS_shmctl, 14, 13, 0 }, { SYS_msgctl, 12, 11, 0 }, { SYS_semctl, 19, 18, 1 } };
	static char room[256];

	for (int k = 0; k < 3; k++) {
		int sem = kinds[k].sem;
		long last = sem ? RAW(kinds[k].nr, 0, 0, kinds[k].info, room) : RAW(kinds[k].nr, 0, kinds[k].info, room);

		for (long i = 0, id; i <= last; i++)
			if ((id = sem ? RAW(kinds[k].nr, i, 0, kinds[k].stat, room) : RAW(kinds[k].nr, i, kinds[k].stat, room)) >= 0)
				(void)(sem ? RAW(kinds[k].nr, id, 0, IPC_RMID) : RAW(kinds[k].nr, id, IPC_RMID));
	}
}

static void tidy_up(void)
{
	char dir[128];

	(void)!chdir("/");
	snprintf(dir, sizeof(dir), "%s/fz", base_dir);
	tree_remove(dir, 0);
	tree_remove("/dev/shm/fz", 0);
	for (int i = 0; i < 2; i++)
		RAW(SYS_mq_unlink, i ? "a" : "b");
	ipc_remove_all();
}

static void director(const struct plan *p)
{
	char dir[128];

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	unshare(CLONE_NEWNS); /* so that the next round has its root */
	snprintf(dir, sizeof(dir), "%s/fz", base_dir);
	umask(0);
	mkdir(dir, 0777);
	mkdir("/dev/shm/fz", 0777);
	if (chdir(dir) < 0)
		_exit(3);
	mkdir("d", 0777);
	mkdir("d/e", 0777);
	mkdir("m", 0777);
	mkdir("n", 0777);
	(void)!symlink("d", "l");
	mkfifo("p", 0666);
	for (int i = 0; i < 3; i++)
		close(open((const char *[]){ "b", "d/a", "d/b" }[i], O_RDWR | O_CREAT, 0666));
	common_make();
	for (unsigned c = 0; c < CREWS; c++)
		crew_start(c);
	RAW(SYS_close_range, 3, ~0U, 0);
	children_open();
	kicker_start();
	steps_hand_out(p);
	everybody_end();
	_exit(0);
}

void round_run(const struct plan *p)
{
	pid_t pid;
	double end = seconds() + 40;

	if (!world)
		world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(world, 0, sizeof(*world));
	plan_make(p);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (children < 0)
		children_open();
	pid = fork();
	if (pid == 0)
		director(p);
	while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0 && seconds() < end)
		naptime(2);
	if (!everybody_end())
		check(0, "every process can be ended");
	tidy_up();
}
