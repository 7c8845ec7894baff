/* /proc/PID/maps, smaps, numa_maps: the host's list of mappings with the stub taken out and the
 * host's files replaced by the cell's names, as the reader's root shows them. A file mapping
 * without a note (procmap.h) is shown without a name: no name of the host ever gets through. */
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
#include "kernel/vfs/path.h"

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

/* The host's text, read and then gone through in as many turns as it takes. */
struct maps_text {
	struct textbuf host;
	int fd; /* until all of it is read; -1 */
	bool hidden; /* what follows is about a mapping that is not shown */
	uint64_t rss, anon; /* of the mapping, in KiB */
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

static struct maps_text *maps_text_of(struct proc *p, const char *file, struct textbuf *b)
{
	struct maps_text *m = b->state;

	if (m || !(m = obj_new(&maps_text_type)))
		return m;
	m->fd = hostview_open(p->pid, 0, file);
	b->state = m;
	b->state_free = CALLBACK(maps_text_free);
	return m;
}

/* What is shown of the lines of the host's file. */
enum maps_form { MAPS, SMAPS, NUMA_MAPS };

/* "Key:   value" of smaps. Only keys that are known get through. */
static void detail_show(struct textbuf *b, struct maps_text *text, const char *s, size_t len,
			enum maps_form form)
{
	static const char *const keys[] = {
		"Size:",	  "KernelPageSize:", "MMUPageSize:",	 "Rss:",
		"Pss:",		  "Pss_Dirty:",	     "Shared_Clean:",	 "Shared_Dirty:",
		"Private_Clean:", "Private_Dirty:",  "Referenced:",	 "Anonymous:",
		"KSM:",		  "LazyFree:",	     "AnonHugePages:",	 "ShmemPmdMapped:",
		"FilePmdMapped:", "Shared_Hugetlb:", "Private_Hugetlb:", "Swap:",
		"SwapPss:",	  "Locked:",	     "THPeligible:",	 "ProtectionKey:",
		"VmFlags:",
	};

	if (form == SMAPS) {
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (!strncmp(s, keys[i], strlen(keys[i]))) {
				text_put(b, s, len + 1);
				return;
			}
		return;
	}
	if (!strncmp(s, "Rss:", 4))
		text->rss = strtoull(s + 4, NULL, 10);
	else if (!strncmp(s, "Anonymous:", 10))
		text->anon = strtoull(s + 10, NULL, 10);
	else if (!strncmp(s, "VmFlags:", 8)) { /* the last of a mapping */
		if (text->anon)
			text_printf(b, " anon=%lu dirty=%lu", text->anon / 4, text->anon / 4);
		if (text->rss > text->anon)
			text_printf(b, " mapped=%lu", (text->rss - text->anon) / 4);
		if (text->rss)
			text_printf(b, " N0=%lu kernelpagesize_kB=4", text->rss / 4);
		text_puts(b, "\n");
		text->rss = text->anon = 0;
	}
}

/* The start of a mapping's line in numa_maps: all memory is on one node. */
static void numa_show(struct textbuf *b, const struct mapline *m, const char *label)
{
	text_printf(b, "%08lx default", m->start);
	if (label) {
		text_puts(b, " file=");
		for (; *label; label++)
			if (strchr(" \t\n\\", *label))
				text_printf(b, "\\%03o", (unsigned char)*label);
			else
				text_put(b, label, 1);
	} else if (m->name_len == 6 && !memcmp(m->name, "[heap]", 6)) {
		text_puts(b, " heap");
	} else if (m->name_len == 7 && !memcmp(m->name, "[stack]", 7)) {
		text_puts(b, " stack");
	}
}

/* The text of the reader's root, which names are shown without; *ret_len 0: the real root. */
static const char *root_text(const struct task *t, size_t *ret_len)
{
	static char buf[PATH_MAX_LEN];
	const struct path *root = reader_root(t);
	char *text;
	size_t len;

	*ret_len = 0;
	if (!root || path_text(root, NULL, false, buf, sizeof(buf), &text, &len) < 0 || len < 3)
		return "";
	*ret_len = len - 1;
	return text;
}

static void mapline_show(struct textbuf *b, const struct mapline *m, struct task *t,
			 enum maps_form form)
{
	struct procnote note = { .label = NULL };
	bool is_file = m->name_len && m->name[0] != '[';
	const char *root;
	size_t len;

	if (is_file && procmap_find(m->host_dev, m->host_ino, &note)) {
		root = root_text(t, &len);
		if (len && !strncmp(note.label, root, len) && note.label[len] == '/')
			note.label += len;
	}
	if (form == NUMA_MAPS)
		numa_show(b, m, note.label);
	else if (!is_file)
		mapline_print(b, m, m->off, 0, 0, m->name, m->name_len);
	else if (note.label)
		mapline_print(b, m, m->off, note.dev, note.ino, note.label, strlen(note.label));
	else
		mapline_print(b, m, 0, 0, 0, "", 0);
}

static void line_show(struct textbuf *b, struct maps_text *text, struct task *t, const char *s,
		      const char *end, enum maps_form form)
{
	struct mapline m;

	if ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f')) {
		text->hidden = !mapline_parse(s, end, &m) ||
			       (m.start < STUB_BASE + STUB_SPAN && m.end > STUB_BASE);
		if (!text->hidden)
			mapline_show(b, &m, t, form);
	} else if (!text->hidden) {
		detail_show(b, text, s, (size_t)(end - s), form);
	}
}

static int maps_show(struct pinode *pi, struct task *t, struct textbuf *b, enum maps_form form)
{
	struct proc *p = pi_proc(pi);
	struct maps_text *text;
	char *s, *end;
	uint64_t n = 0;

	if (!p || p->state == PROC_ZOMBIE)
		return 0;
	text = maps_text_of(p, form == MAPS ? "maps" : "smaps", b);
	if (!text)
		return -ENOMEM;
	if (text->fd >= 0) {
		if (!hostview_text_some(text->fd, &text->host)) {
			b->more = true;
			return 0;
		}
		host_close(text->fd);
		text->fd = -1;
		/* A text that is longer than TEXT_MAX is cut there; a byte more is always free. */
		if (text->host.data)
			text->host.data[text->host.len] = 0;
	}
	for (s = text->host.data + b->at; text->host.data && *s; s = end + 1) {
		end = strchr(s, '\n');
		if (!end)
			break;
		line_show(b, text, t, s, end, form);
		b->at = (uint64_t)(end + 1 - text->host.data);
		if (text_pause(b, n++))
			return 0;
	}
	return 0;
}

int show_maps(struct pinode *pi, struct task *t, struct textbuf *b)
{
	return maps_show(pi, t, b, MAPS);
}

int show_smaps(struct pinode *pi, struct task *t, struct textbuf *b)
{
	return maps_show(pi, t, b, SMAPS);
}

int show_numa_maps(struct pinode *pi, struct task *t, struct textbuf *b)
{
	return maps_show(pi, t, b, NUMA_MAPS);
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
