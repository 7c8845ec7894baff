/* Control groups for one cell; see cgroup.h. Where a hierarchy is mounted comes from
 * /proc/self/mountinfo, where the caller is in it from /proc/self/cgroup. Names are
 * viv.PID.RANDOM, with the PID of the viv that made it: a directory whose viv is gone is removed
 * by the next one. */
#include "host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 512
#define CPU_PERIOD 100000ULL /* us */

static const char *const controller_names[CGROUP_CONTROLLERS] = { "memory", "cpu", "pids" };

/* ---- small files ---- */

static bool file_write(const char *dir, const char *name, const char *text)
{
	char path[PATH_SIZE + 64];
	bool ok;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) >= 0;
	err = errno;
	close(fd);
	errno = err;
	return ok;
}

static bool file_read(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_SIZE + 64];
	ssize_t n;
	int fd;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return true;
}

static bool number_write(const char *dir, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return file_write(dir, name, text);
}

/* Whether word is one of the words of list, which sep (or a newline) separates. */
static bool list_has(const char *list, const char *word, char sep)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == sep) && (!p[n] || p[n] == sep || p[n] == '\n'))
			return true;
	return false;
}

/* ---- where the caller is ---- */

/* The directory of the caller's own cgroup: controller NULL for v2. */
static bool own_dir(const char *controller, char *out)
{
	char line[4096], path[PATH_SIZE] = "", root[PATH_SIZE], point[PATH_SIZE], type[32],
			 super[512];
	bool found = false;
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		char *list = strchr(line, ':'), *p = list ? strchr(list + 1, ':') : NULL;

		if (!p)
			continue;
		*p++ = '\0';
		list++;
		p[strcspn(p, "\n")] = '\0';
		if (controller ? !list_has(list, controller, ',') : *list != '\0')
			continue;
		snprintf(path, sizeof(path), "%s", p);
		found = true;
	}
	fclose(f);
	f = found ? fopen("/proc/self/mountinfo", "re") : NULL;
	if (!f)
		return false;
	for (found = false; !found && fgets(line, sizeof(line), f);) {
		char *dash = strstr(line, " - ");
		size_t n;

		if (!dash || sscanf(line, "%*s %*s %*s %511s %511s", root, point) != 2 ||
		    sscanf(dash, " - %31s %*s %511s", type, super) != 2)
			continue;
		if (controller ? strcmp(type, "cgroup") || !list_has(super, controller, ',')
			       : strcmp(type, "cgroup2"))
			continue;
		/* In a container the mount's root may be our own cgroup, or the path may lie
		 * outside of the mount. */
		n = strcmp(root, "/") ? strlen(root) : 0;
		if (strncmp(path, root, n) || (n && path[n] && path[n] != '/'))
			snprintf(out, PATH_SIZE, "%.511s", point);
		else if ((size_t)snprintf(out, PATH_SIZE, "%.255s%.255s", point, path + n) >=
			 PATH_SIZE)
			continue;
		if (access(out, F_OK))
			snprintf(out, PATH_SIZE, "%.511s", point);
		n = strlen(out);
		while (n > 1 && out[n - 1] == '/')
			out[--n] = '\0';
		found = true;
	}
	fclose(f);
	return found;
}

/* ---- making and removing ---- */

/* A viv in another PID namespace looks dead from here, and its cgroup is empty until its cell is
 * there. */
#define STALE_AGE 5 /* s */

static bool is_old(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       time(NULL) - st.st_ctime > STALE_AGE;
}

/* Removes the directories of cells whose viv is gone. One that is still in use cannot be
 * removed. */
static void stale_remove(const char *parent)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	int pid, tail;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (sscanf(e->d_name, "viv.%d.%n", &pid, &tail) == 1 && kill(pid, 0) < 0 &&
		    errno == ESRCH && is_old(dirfd(d), e->d_name))
			(void)!unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

/* Makes parent/viv.PID.RANDOM; out gets its path. */
static bool dir_make(const char *parent, char *out)
{
	uint32_t r = 0;

	(void)!getrandom(&r, sizeof(r), 0);
	if ((size_t)snprintf(out, PATH_SIZE, "%s/viv.%d.%08x", parent, (int)getpid(), r) <
		    PATH_SIZE &&
	    !mkdir(out, 0755)) {
		stale_remove(parent);
		return true;
	}
	out[0] = '\0';
	return false;
}

static void dir_remove(char *dir)
{
	/* The last process may be dead and not quite gone. */
	for (int i = 0; *dir && rmdir(dir) < 0 && errno == EBUSY && i < 200; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	dir[0] = '\0';
}

/* The nearest cgroup, from our own upwards, in which we may make one with as many of the wanted
 * controllers as can be. */
static int v2_parent_find(const bool *want, char *parent)
{
	char dir[PATH_SIZE], list[256];
	int best = 0;

	if (!own_dir(NULL, dir))
		return 0;
	for (;;) {
		int n = 0, wanted = 0;
		char *slash;

		/* Fails when the group holds processes itself; then a group above may do. */
		for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
			char word[16];

			snprintf(word, sizeof(word), "+%s", controller_names[c]);
			if (want[c] &&
			    file_read(dir, "cgroup.subtree_control", list, sizeof(list)) &&
			    !list_has(list, controller_names[c], ' '))
				file_write(dir, "cgroup.subtree_control", word);
		}
		if (!file_read(dir, "cgroup.subtree_control", list, sizeof(list)))
			break;
		for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
			wanted += want[c];
			n += want[c] && list_has(list, controller_names[c], ' ');
		}
		if (n > best && !access(dir, W_OK)) {
			best = n;
			snprintf(parent, PATH_SIZE, "%s", dir);
		}
		slash = strrchr(dir, '/');
		if (best == wanted || !slash || slash == dir)
			break;
		*slash = '\0';
	}
	return best;
}

/* ---- limits ---- */

/* A number, or what stands for none. */
static bool limit_write(const char *dir, const char *name, uint64_t value, const char *none)
{
	return value ? number_write(dir, name, value) : file_write(dir, name, none);
}

static bool v2_limit(const char *dir, const struct cgroup_limits *l, enum cgroup_controller c)
{
	char text[64];

	switch (c) {
	case CGROUP_MEMORY:
		if (!limit_write(dir, "memory.max", l->memory, "max"))
			return false;
		/* Swapped memory would not count: the limit is for all of it. */
		file_write(dir, "memory.swap.max", l->memory ? "0" : "max");
		return true;
	case CGROUP_CPU:
		snprintf(text, sizeof(text), "%llu %llu", CPU_PERIOD * l->cpu_milli / 1000,
			 CPU_PERIOD);
		return file_write(dir, "cpu.max", l->cpu_milli ? text : "max");
	case CGROUP_PIDS:
		return limit_write(dir, "pids.max", l->pids, "max");
	case CGROUP_CONTROLLERS:
		break;
	}
	return false;
}

static bool v1_limit(const char *dir, const struct cgroup_limits *l, enum cgroup_controller c)
{
	bool ok;
	int err;

	switch (c) {
	case CGROUP_MEMORY:
		/* That with swap is never the smaller one: it goes first when both grow, and last
		 * when they shrink. */
		limit_write(dir, "memory.memsw.limit_in_bytes", l->memory, "-1");
		ok = limit_write(dir, "memory.limit_in_bytes", l->memory, "-1");
		err = errno;
		limit_write(dir, "memory.memsw.limit_in_bytes", l->memory, "-1");
		errno = err;
		return ok;
	case CGROUP_CPU:
		return number_write(dir, "cpu.cfs_period_us", CPU_PERIOD) &&
		       limit_write(dir, "cpu.cfs_quota_us", CPU_PERIOD * l->cpu_milli / 1000, "-1");
	case CGROUP_PIDS:
		return limit_write(dir, "pids.max", l->pids, "max");
	case CGROUP_CONTROLLERS:
		break;
	}
	return false;
}

static void v2_create(struct cgroup *cg, const struct cgroup_limits *l, const bool *want)
{
	char parent[PATH_SIZE];
	bool *ok = cg->enforced;

	if (!v2_parent_find(want, parent) || !dir_make(parent, cg->v2))
		return;
	for (int c = 0; c < CGROUP_CONTROLLERS; c++)
		ok[c] = want[c] && v2_limit(cg->v2, l, (enum cgroup_controller)c);
	cg->v2_fd = open(cg->v2, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (cg->v2_fd < 0 || (!ok[CGROUP_MEMORY] && !ok[CGROUP_CPU] && !ok[CGROUP_PIDS])) {
		memset(cg->enforced, 0, sizeof(cg->enforced));
		cgroup_remove(cg);
	}
}

static bool v1_create(struct cgroup *cg, const struct cgroup_limits *l, enum cgroup_controller c)
{
	char parent[PATH_SIZE], *dir = cg->v1[c];

	if (!own_dir(controller_names[c], parent) || !dir_make(parent, dir))
		return false;
	if (v1_limit(dir, l, c))
		return true;
	dir_remove(dir);
	return false;
}

void cgroup_create(struct cgroup *cg, const struct cgroup_limits *l)
{
	const bool want[CGROUP_CONTROLLERS] = { l->memory != 0, l->cpu_milli != 0, l->pids != 0 };

	*cg = (struct cgroup){ .v2_fd = -1 };
	if (!want[CGROUP_MEMORY] && !want[CGROUP_CPU] && !want[CGROUP_PIDS])
		return;
	v2_create(cg, l, want);
	for (int c = 0; c < CGROUP_CONTROLLERS; c++)
		if (want[c] && !cg->enforced[c])
			cg->enforced[c] = v1_create(cg, l, (enum cgroup_controller)c);
}

int cgroup_set(const struct cgroup *cg, const struct cgroup_limits *l, enum cgroup_controller c)
{
	bool ok = cg->v1[c][0] ? v1_limit(cg->v1[c], l, c) : v2_limit(cg->v2, l, c);

	return ok ? 0 : -errno;
}

/* ---- a cell that runs already ---- */

#define PASSES 64
#define PROCS_MAX 65536

/* The kernel and its children, which are all processes of the cell: how many, or -1. */
static int procs_list(pid_t kernel, pid_t *list)
{
	char path[64];
	FILE *f;
	int n = 1;

	list[0] = kernel;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)kernel, (int)kernel);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (n < PROCS_MAX && fscanf(f, "%d", &list[n]) == 1)
		n++;
	fclose(f);
	return n;
}

static int pid_compare(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

/* Children of what was moved are born where it is; of what was not, they are found in the next
 * pass. */
static bool procs_move(const char *dir, pid_t kernel)
{
	pid_t *now = calloc(PROCS_MAX, sizeof(*now)), *moved = calloc(PROCS_MAX, sizeof(*moved));
	int n = 0, nmoved = 0, news = 1;

	for (int pass = 0; now && moved && pass < PASSES && news && n >= 0; pass++) {
		pid_t *swap;

		n = procs_list(kernel, now);
		news = 0;
		for (int i = 0; i < n; i++) {
			if (bsearch(&now[i], moved, (size_t)nmoved, sizeof(*moved), pid_compare))
				continue;
			news++;
			/* One that has just ended needs no place. */
			if (!number_write(dir, "cgroup.procs", (uint64_t)now[i]) && errno != ESRCH)
				n = -1;
		}
		swap = moved;
		moved = now;
		now = swap;
		nmoved = MAX(n, 0);
		qsort(moved, (size_t)nmoved, sizeof(*moved), pid_compare);
	}
	free(now);
	free(moved);
	return n >= 0 && !news;
}

bool cgroup_enter(const struct cgroup *cg, pid_t kernel)
{
	bool ok = !cg->v2[0] || procs_move(cg->v2, kernel);

	for (int c = 0; c < CGROUP_CONTROLLERS && ok; c++)
		ok = !cg->v1[c][0] || procs_move(cg->v1[c], kernel);
	return ok;
}

/* Adds a controller to the cell's own group. */
static bool v2_add(struct cgroup *cg, const struct cgroup_limits *l, enum cgroup_controller c)
{
	char parent[PATH_SIZE], word[16], *slash;

	snprintf(parent, sizeof(parent), "%s", cg->v2);
	slash = strrchr(parent, '/');
	if (!slash)
		return false;
	*slash = '\0';
	snprintf(word, sizeof(word), "+%s", controller_names[c]);
	file_write(parent, "cgroup.subtree_control", word);
	return v2_limit(cg->v2, l, c);
}

bool cgroup_add(struct cgroup *cg, const struct cgroup_limits *l, enum cgroup_controller c,
		pid_t kernel)
{
	bool want[CGROUP_CONTROLLERS] = { false }, made;
	struct cgroup new = { .v2_fd = -1 };

	if (c >= CGROUP_CONTROLLERS)
		return false;
	want[c] = true;
	if (cg->v2[0] && v2_add(cg, l, c))
		return cg->enforced[c] = true;
	if (!cg->v2[0]) {
		v2_create(&new, l, want);
		made = new.enforced[c] && procs_move(new.v2, kernel);
		if (made) {
			strcpy(cg->v2, new.v2);
			cg->v2_fd = new.v2_fd;
			return cg->enforced[c] = true;
		}
		cgroup_remove(&new);
	}
	if (!v1_create(cg, l, c))
		return false;
	cg->enforced[c] = procs_move(cg->v1[c], kernel);
	return cg->enforced[c];
}

bool cgroup_is_joined_late(const struct cgroup *cg, int born_fd)
{
	return (cg->v2[0] && born_fd < 0) || cg->v1[CGROUP_MEMORY][0] || cg->v1[CGROUP_CPU][0] ||
	       cg->v1[CGROUP_PIDS][0];
}

int cgroup_join(const struct cgroup *cg, int born_fd, pid_t pid)
{
	if (cg->v2[0] && born_fd < 0 && !number_write(cg->v2, "cgroup.procs", (uint64_t)pid))
		return -errno;
	for (int c = 0; c < CGROUP_CONTROLLERS; c++)
		if (cg->v1[c][0] && !number_write(cg->v1[c], "cgroup.procs", (uint64_t)pid))
			return -errno;
	return 0;
}

unsigned long cgroup_oom_kills(const struct cgroup *cg)
{
	char text[1024], *p = NULL;

	if (cg->v2[0] && file_read(cg->v2, "memory.events", text, sizeof(text)))
		p = strstr(text, "oom_kill ");
	else if (cg->v1[CGROUP_MEMORY][0] &&
		 file_read(cg->v1[CGROUP_MEMORY], "memory.oom_control", text, sizeof(text)))
		p = strstr(text, "oom_kill ");
	return p ? strtoul(p + strlen("oom_kill "), NULL, 10) : 0;
}

/* v1: an eventfd that is registered for memory.oom_control. */
static int oom_watch_v1(const char *dir)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd, control;
	char path[600], text[32];
	bool ok;

	snprintf(path, sizeof(path), "%s/memory.oom_control", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/cgroup.event_control", dir);
	control = open(path, O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d %d", efd, fd);
	ok = efd >= 0 && fd >= 0 && control >= 0 &&
	     write(control, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	if (control >= 0)
		close(control);
	if (ok)
		return efd;
	if (efd >= 0)
		close(efd);
	return -1;
}

int cgroup_oom_watch(const struct cgroup *cg)
{
	char path[600];
	int fd;

	if (!cg->enforced[CGROUP_MEMORY])
		return -1;
	if (!cg->v2[0])
		return cg->v1[CGROUP_MEMORY][0] ? oom_watch_v1(cg->v1[CGROUP_MEMORY]) : -1;
	snprintf(path, sizeof(path), "%s/memory.events", cg->v2);
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) >= 0)
		return fd;
	close(fd);
	return -1;
}

void cgroup_remove(struct cgroup *cg)
{
	if (cg->v2_fd >= 0)
		close(cg->v2_fd);
	cg->v2_fd = -1;
	dir_remove(cg->v2);
	for (int c = 0; c < CGROUP_CONTROLLERS; c++)
		dir_remove(cg->v1[c]);
}
