/* What only the host knows about a runner: mappings, sizes, times, state. Read from the cell's
 * own /proc of the host, by number, with a path that is made here; nothing of it is passed on
 * without being parsed or filtered by the caller. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"

int hostview_open(pid_t pid, pid_t tid, const char *file)
{
	char path[96];

	if (cell.proc_fd < 0)
		return -ENOENT;
	if (tid)
		snprintf(path, sizeof(path), "%d/task/%d/%s", pid, tid, file);
	else if (pid)
		snprintf(path, sizeof(path), "%d/%s", pid, file);
	else
		snprintf(path, sizeof(path), "%s", file);
	return host_open_beneath(cell.proc_fd, path, O_RDONLY, 0);
}

size_t hostview_read(pid_t pid, pid_t tid, const char *file, char *buf, size_t size)
{
	int fd = hostview_open(pid, tid, file);
	size_t len = 0;
	int64_t n;

	buf[0] = 0;
	if (fd < 0)
		return 0;
	while (len < size - 1) {
		n = host_read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	buf[len] = 0;
	host_close(fd);
	return len;
}

bool hostview_text_some(int fd, struct textbuf *b)
{
	static char buf[32768];
	int64_t n;

	while (!b->failed && (n = host_read(fd, buf, sizeof(buf))) > 0) {
		text_put(b, buf, (size_t)n);
		if (turn_is_long())
			return false;
	}
	return true;
}

void hostview_text(pid_t pid, const char *file, struct textbuf *b)
{
	int fd = hostview_open(pid, 0, file);

	if (fd < 0)
		return;
	while (!hostview_text_some(fd, b))
		;
	host_close(fd);
}

void hostview_stat(pid_t pid, pid_t tid, struct hoststat *out)
{
	char buf[1024], *p;

	memset(out, 0, sizeof(*out));
	out->state = 'S';
	if (!hostview_read(pid, tid, "stat", buf, sizeof(buf)))
		return;
	p = strrchr(buf, ')'); /* the name before it may hold anything */
	if (!p || p[1] != ' ' || !p[2])
		return;
	out->state = p[2];
	p += 3;
	for (int i = 4; i <= 52; i++)
		out->f[i] = *p == ' ' && p[1] == '-' ? (uint64_t)strtoll(p, &p, 10)
						     : strtoull(p, &p, 10);
	out->valid = true;
}

const char *text_field(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text && *text) {
		if (strncmp(text, key, len) == 0) {
			text += len;
			return text + strspn(text, " \t:");
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

static uint64_t ticks_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 100 + (uint64_t)tv->tv_usec / 10000;
}

/* All of them are in the sum. Asked anew are as many as a turn has time for, in turn, the others
 * are as they were. */
void hostview_sum(struct usage_sum *out)
{
	static pid_t last; /* that was asked */
	const pid_t from = last;
	struct hoststat st;
	bool reached = false;
	uint32_t n = 0;

	memset(out, 0, sizeof(*out));
	for (int round = 0; round < 2 && !reached; round++)
		for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
			if (p->state == PROC_ZOMBIE || (round ? p->pid > from : p->pid <= from))
				continue;
			if (++n % 16 == 0 && turn_is_long()) {
				reached = true;
				break;
			}
			hostview_stat(p->pid, 0, &st);
			p->shown.rss = st.f[24] * PAGE_SIZE;
			p->shown.utime = st.f[14];
			p->shown.stime = st.f[15];
			p->shown.running = st.state == 'R';
			last = p->pid;
		}
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		if (p->state == PROC_ZOMBIE)
			continue;
		out->rss += p->shown.rss;
		out->utime += p->shown.utime + ticks_of(&p->child_usage.ru_utime);
		out->stime += p->shown.stime + ticks_of(&p->child_usage.ru_stime);
		out->running += p->shown.running;
	}
}
