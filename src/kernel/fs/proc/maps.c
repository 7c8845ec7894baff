/* /proc/PID/maps: the host's list of mappings with the stub taken out and the host's files
 * replaced by the cell's names. A file mapping without a note (procmap.h) is shown without a
 * name: no name of the host ever gets through. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/fs/proc/procmap.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"

#define NAME_COLUMN 73

struct mapline {
	uaddr_t start, end;
	char perms[5];
	uint64_t off, host_dev, host_ino;
	const char *name; /* "" when it has none */
	size_t name_len;
};

/* "start-end perms off dev ino   name"; false: not such a line. */
static bool mapline_parse(const char *s, const char *end, struct mapline *m)
{
	unsigned long major, minor;
	char *p;

	m->start = strtoull(s, &p, 16);
	if (*p != '-')
		return false;
	m->end = strtoull(p + 1, &p, 16);
	if (*p != ' ' || end - p < 8)
		return false;
	memcpy(m->perms, p + 1, 4);
	m->perms[4] = 0;
	m->off = strtoull(p + 6, &p, 16);
	major = strtoul(p, &p, 16);
	if (*p != ':')
		return false;
	minor = strtoul(p + 1, &p, 16);
	m->host_dev = makedev(major, minor);
	m->host_ino = strtoull(p, &p, 10);
	p += strspn(p, " ");
	m->name = p < end ? p : end;
	m->name_len = (size_t)(end - m->name);
	return true;
}

static void mapline_print(struct textbuf *b, const struct mapline *m, uint64_t off, uint32_t dev,
			  uint64_t ino, const char *name, size_t len)
{
	size_t start = b->len;

	text_printf(b, "%08lx-%08lx %s %08lx %02x:%02x %lu ", m->start, m->end, m->perms, off,
		    major(dev), minor(dev), ino);
	if (len) {
		text_pad(b, start, NAME_COLUMN);
		text_put(b, name, len);
	}
	text_put(b, "\n", 1);
}

static void mapline_show(struct textbuf *b, const struct mapline *m)
{
	struct procnote note;

	if (m->start < STUB_BASE + STUB_SPAN && m->end > STUB_BASE)
		return;
	if (m->name_len == 0 || m->name[0] == '[') {
		mapline_print(b, m, m->off, 0, 0, m->name, m->name_len);
		return;
	}
	if (procmap_find(m->host_dev, m->host_ino, &note))
		mapline_print(b, m, m->off, note.dev, note.ino, note.label, strlen(note.label));
	else
		mapline_print(b, m, 0, 0, 0, "", 0);
}

/* The host's text, read and then gone through in as many turns as it takes. */
struct maps_text {
	struct textbuf host;
	int fd; /* until all of it is read; -1 */
};
OBJ_TYPE(maps_text_type, struct maps_text, 0);

static void maps_text_free(void *state)
{
	struct maps_text *m = state;

	if (m->fd >= 0)
		host_close(m->fd);
	text_free(&m->host);
	obj_free(&maps_text_type, m);
}

static struct maps_text *maps_text_of(struct proc *p, struct textbuf *b)
{
	struct maps_text *m = b->state;

	if (m || !(m = obj_new(&maps_text_type)))
		return m;
	m->fd = hostview_open(p->pid, 0, "maps");
	b->state = m;
	b->state_free = CALLBACK(maps_text_free);
	return m;
}

int show_maps(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct maps_text *text;
	struct mapline m;
	char *s, *end;
	uint64_t n = 0;

	(void)t;
	if (!p || p->state == PROC_ZOMBIE)
		return 0;
	text = maps_text_of(p, b);
	if (!text)
		return -ENOMEM;
	if (text->fd >= 0) {
		if (!hostview_text_some(text->fd, &text->host)) {
			b->more = true;
			return 0;
		}
		host_close(text->fd);
		text->fd = -1;
		text_put(&text->host, "", 1);
	}
	for (s = text->host.data + b->at; text->host.data && *s && !text->host.failed;
	     s = end + 1) {
		end = strchr(s, '\n');
		if (!end)
			break;
		if (mapline_parse(s, end, &m))
			mapline_show(b, &m);
		b->at = (uint64_t)(end + 1 - text->host.data);
		if (text_pause(b, n++))
			return 0;
	}
	return 0;
}

int show_smaps_rollup(struct pinode *pi, struct task *t, struct textbuf *b)
{
	static const char *const keys[] = {
		"Rss:",
		"Pss:",
		"Pss_Dirty:",
		"Pss_Anon:",
		"Pss_File:",
		"Pss_Shmem:",
		"Shared_Clean:",
		"Shared_Dirty:",
		"Private_Clean:",
		"Private_Dirty:",
		"Referenced:",
		"Anonymous:",
		"LazyFree:",
		"AnonHugePages:",
		"ShmemPmdMapped:",
		"FilePmdMapped:",
		"Shared_Hugetlb:",
		"Private_Hugetlb:",
		"Swap:",
		"SwapPss:",
		"Locked:",
	};
	struct proc *p = pi_proc(pi);
	char host[2048];
	const char *v;

	(void)t;
	if (!p || p->state == PROC_ZOMBIE)
		return 0;
	hostview_read(p->pid, 0, "smaps_rollup", host, sizeof(host));
	text_puts(b, "00400000-7ffffffff000 ---p 00000000 00:00 0 ");
	text_pad(b, 0, NAME_COLUMN);
	text_puts(b, "[rollup]\n");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		v = text_field(host, keys[i]);
		text_printf(b, "%-16s%8lu kB\n", keys[i], v ? strtoul(v, NULL, 10) : 0);
	}
	return 0;
}
