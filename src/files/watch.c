/* viv-files: changes of a file or a directory, with inotify.
 *
 * With recursive, each directory below is watched by itself, those that come later too; what is in
 * them by then is told as created, perhaps twice. Directories of other file systems are not
 * entered. A directory that is moved takes its path along, because a watch knows only its name and
 * the one above it. A move is told when both ends are seen; else it is a removal or a creation.
 * What the kernel drops, and directories for which there is no watch, are told as an overflow: who
 * wants to know lists again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/ops.h"
#include "files/say.h"
#include "files/stored.h"

#define NODES 65536
#define BUCKETS 16384
#define MASK                                                                           \
	(IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
	 IN_DELETE_SELF | IN_MOVE_SELF)
#define PAIR_MS 20 /* the second half of a move is this late at most */
#define NONE (-1)
#define ROOT 0

struct node {
	int wd; /* 0: free */
	int above, next; /* next: in its bucket, or among those that are free */
	unsigned life, above_life; /* its slot's how manieth, and which one of above it is in */
	char *name;
};

static struct {
	int fd;
	bool recursive;
	dev_t dev;
	const char *path;
	struct node *nodes;
	int nnodes, free;
	int buckets[BUCKETS];
	int *queue; /* directories that are still to be read */
	size_t nqueue;
	/* the first half of a move */
	uint32_t cookie;
	int moved; /* its node; NONE: no directory that is watched */
	bool moved_dir;
	char from[FILES_PATH + 1];
} w;

static void event_say(enum files_event event, bool dir, const char *path, const char *second)
{
	record_say((struct files_record){ .event = event, .mode = dir ? S_IFDIR : S_IFREG }, NULL,
		   path, second);
}

/* ---- nodes ---- */

static int node_find(int wd)
{
	int i = w.buckets[wd & (BUCKETS - 1)];

	while (i != NONE && w.nodes[i].wd != wd)
		i = w.nodes[i].next;
	return i;
}

static void node_drop(int i)
{
	int *p = &w.buckets[w.nodes[i].wd & (BUCKETS - 1)];

	while (*p != i)
		p = &w.nodes[*p].next;
	*p = w.nodes[i].next;
	free(w.nodes[i].name);
	w.nodes[i] = (struct node){ .next = w.free, .life = w.nodes[i].life + 1 };
	w.free = i;
}

static void node_place(int i, int above)
{
	w.nodes[i].above = above;
	w.nodes[i].above_life = w.nodes[above].life;
}

/* The node that it is in; NONE: that is gone, and something else may have its slot. */
static int node_above(int i)
{
	int above = w.nodes[i].above;

	return w.nodes[above].life == w.nodes[i].above_life ? above : NONE;
}

/* The path of name in node i (NULL: of the node itself); false: it is too long, or the way up is
 * gone. */
static bool path_make(int i, const char *name, char *path)
{
	size_t at = FILES_PATH;
	char text[FILES_PATH + 1];

	text[at] = '\0';
	for (int depth = 0; depth < NODES; depth++) {
		size_t n = name ? strlen(name) : 0;

		if (name && n + 1 > at)
			return false;
		if (name) {
			at -= n;
			memcpy(text + at, name, n);
			text[--at] = '/';
		}
		if (i == ROOT)
			break;
		if (i == NONE || !w.nodes[i].wd)
			return false;
		name = w.nodes[i].name;
		i = node_above(i);
	}
	snprintf(path, FILES_PATH, "%s%s", w.path[1] || at == FILES_PATH ? w.path : "", text + at);
	return true;
}

static void overflow_say(void)
{
	event_say(FILES_EV_OVERFLOW, false, w.path, NULL);
}

/* Watches a directory, whose content is read later. */
static void node_add(int above, const char *name)
{
	char path[FILES_PATH + 1];
	struct stat st;
	int wd, i, *queue;

	if (!path_make(above, name, path) || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_dev != w.dev)
		return;
	wd = inotify_add_watch(w.fd, path, MASK | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (wd < 0 && (errno == ENOSPC || errno == ENAMETOOLONG))
		overflow_say();
	if (wd <= 0)
		return;
	i = node_find(wd);
	if (i == NONE && w.free == NONE && w.nnodes == NODES) {
		inotify_rm_watch(w.fd, wd);
		overflow_say();
		return;
	}
	if (i == NONE) {
		i = w.free != NONE ? w.free : w.nnodes++;
		if (i == w.free)
			w.free = w.nodes[i].next;
		w.nodes[i] = (struct node){ .wd = wd,
					    .next = w.buckets[wd & (BUCKETS - 1)],
					    .life = w.nodes[i].life };
		w.buckets[wd & (BUCKETS - 1)] = i;
	} else {
		free(w.nodes[i].name);
	}
	node_place(i, above);
	w.nodes[i].name = strdup(name);
	queue = realloc(w.queue, (w.nqueue + 1) * sizeof(*queue));
	if (!queue || !w.nodes[i].name)
		_exit(1);
	w.queue = queue;
	w.queue[w.nqueue++] = i;
}

/* Reads the directories that were added; tell: what is in them is new. */
static void queue_read(bool tell)
{
	char path[FILES_PATH + 1];

	while (w.nqueue) {
		int i = w.queue[--w.nqueue];
		DIR *d = path_make(i, NULL, path) ? opendir(path) : NULL;
		struct dirent *e;
		struct stat st;

		while (d && (e = readdir(d))) {
			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
			    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			if (tell && path_make(i, e->d_name, path))
				event_say(FILES_EV_CREATED, S_ISDIR(st.st_mode), path, NULL);
			if (S_ISDIR(st.st_mode) && w.recursive)
				node_add(i, e->d_name);
		}
		if (d)
			closedir(d);
	}
}

/* ---- events ---- */

/* The second half did not come: it went out of sight. */
static void move_flush(void)
{
	if (!w.cookie)
		return;
	w.cookie = 0;
	event_say(FILES_EV_REMOVED, w.moved_dir, w.from, NULL);
	/* What is below it goes on elsewhere; its watches tell nothing that could be named. */
	if (w.moved != NONE && w.nodes[w.moved].wd)
		inotify_rm_watch(w.fd, w.nodes[w.moved].wd);
}

static int child_find(int above, const char *name)
{
	for (int i = 0; i < w.nnodes; i++)
		if (i != ROOT && w.nodes[i].wd && node_above(i) == above &&
		    !strcmp(w.nodes[i].name, name))
			return i;
	return NONE;
}

static void move_begin(int i, const struct inotify_event *e, const char *path)
{
	move_flush();
	w.cookie = e->cookie;
	w.moved_dir = e->mask & IN_ISDIR;
	w.moved = w.moved_dir && w.recursive ? child_find(i, e->name) : NONE;
	strcpy(w.from, path);
}

static void came_say(int i, const struct inotify_event *e, const char *path)
{
	event_say(FILES_EV_CREATED, e->mask & IN_ISDIR, path, NULL);
	if ((e->mask & IN_ISDIR) && w.recursive) {
		node_add(i, e->name);
		queue_read(true);
	}
}

static void move_end(int i, const struct inotify_event *e, const char *path)
{
	if (!w.cookie || e->cookie != w.cookie) {
		move_flush();
		came_say(i, e, path);
		return;
	}
	w.cookie = 0;
	event_say(FILES_EV_MOVED, e->mask & IN_ISDIR, w.from, path);
	if (w.moved != NONE && w.nodes[w.moved].wd) {
		char *name = strdup(e->name);

		if (!name)
			_exit(1);
		free(w.nodes[w.moved].name);
		w.nodes[w.moved].name = name;
		node_place(w.moved, i);
	}
}

/* False: what was watched is gone. */
static bool event_take(const struct inotify_event *e)
{
	int i = node_find(e->wd);
	char path[FILES_PATH + 1];

	if (e->mask & IN_Q_OVERFLOW)
		overflow_say();
	if (i == NONE)
		return true;
	if (i == ROOT && (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT))) {
		move_flush();
		event_say(FILES_EV_REMOVED, false, w.path, NULL);
		return false;
	}
	if (e->mask & IN_IGNORED) {
		node_drop(i);
		return true;
	}
	if ((!e->len && i != ROOT) || !path_make(i, e->len ? e->name : NULL, path))
		return true;
	if (w.cookie && !(e->mask & IN_MOVED_TO))
		move_flush();
	if (e->mask & IN_CREATE)
		came_say(i, e, path);
	else if (e->mask & IN_MOVED_FROM)
		move_begin(i, e, path);
	else if (e->mask & IN_MOVED_TO)
		move_end(i, e, path);
	else if (e->mask & IN_DELETE)
		event_say(FILES_EV_REMOVED, e->mask & IN_ISDIR, path, NULL);
	else if (e->mask & IN_MODIFY)
		event_say(FILES_EV_MODIFIED, false, path, NULL);
	else if (e->mask & IN_ATTRIB)
		event_say(FILES_EV_ATTRIBUTES, e->mask & IN_ISDIR, path, NULL);
	return true;
}

static int watch_begin(const char *path, bool recursive)
{
	struct stat st;
	int wd;

	w.path = path;
	w.free = NONE;
	w.nodes = calloc(NODES, sizeof(*w.nodes));
	memset(w.buckets, 0xff, sizeof(w.buckets));
	w.fd = inotify_init1(IN_CLOEXEC);
	if (w.fd < 0 || !w.nodes)
		return -errno;
	wd = inotify_add_watch(w.fd, path, MASK);
	if (wd < 0 || stat(path, &st) < 0)
		return -errno;
	w.dev = st.st_dev;
	w.recursive = recursive && S_ISDIR(st.st_mode);
	w.nodes[ROOT] = (struct node){ .wd = wd, .above = NONE, .next = NONE };
	w.buckets[wd & (BUCKETS - 1)] = ROOT;
	w.nnodes = 1;
	w.queue = malloc(sizeof(*w.queue));
	if (w.recursive && w.queue) {
		w.queue[w.nqueue++] = ROOT;
		queue_read(false);
	}
	event_say(FILES_EV_READY, S_ISDIR(st.st_mode), path, NULL);
	return 0;
}

int watch_op(char **words)
{
	static char buf[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	struct pollfd p = { .events = POLLIN };
	size_t len = strlen(words[0]);
	int ret;

	while (len > 1 && words[0][len - 1] == '/')
		words[0][--len] = '\0';
	ret = stored_check(words[0], 0);
	if (ret == 0)
		ret = watch_begin(words[0], word_is_on(words[1]));
	if (ret < 0)
		return error_say(-ret, words[0]);
	for (p.fd = w.fd;;) {
		ssize_t n;

		if (poll(&p, 1, w.cookie ? PAIR_MS : -1) == 0) {
			move_flush();
			continue;
		}
		n = read(w.fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_say(n < 0 ? errno : EIO, words[0]);
		for (char *at = buf; at < buf + n;) {
			const struct inotify_event *e = (const struct inotify_event *)(void *)at;

			if (!event_take(e))
				return end_say();
			at += sizeof(*e) + e->len;
		}
	}
}
