/* /proc/PID/mounts and mountinfo: the mounts that the process can reach from its root. */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/fs/proc/proc_priv.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/path.h"

const struct pwatch mounts_watch = { &mount_events, &mounts_q };

/* Blanks and backslashes in names are written in octal, as the readers of these files expect. */
static void put_escaped(struct textbuf *b, const char *s)
{
	for (; *s; s++) {
		if (strchr(" \t\n\\#", *s))
			text_printf(b, "\\%03o", (unsigned char)*s);
		else
			text_put(b, s, 1);
	}
}

static const struct path *root_of(struct pinode *pi)
{
	struct task *t = pi_task(pi);

	return t && t->fs ? &t->fs->root : NULL;
}

/* Where it is mounted, as text; NULL: out of reach. */
static const char *mount_place(struct mount *m, const struct path *root)
{
	static char buf[PATH_MAX_LEN];
	struct path p = { .mnt = m, .name = m->root };
	char *text;
	size_t len;

	return path_text(&p, root, false, buf, sizeof(buf), &text, &len) == 0 ? text : NULL;
}

static void put_options(struct textbuf *b, const struct mount *m, bool readonly)
{
	text_puts(b, readonly ? "ro" : "rw");
	if (m->flags & MNT_NOSUID)
		text_puts(b, ",nosuid");
	if (m->flags & MNT_NODEV)
		text_puts(b, ",nodev");
	if (m->flags & MNT_NOEXEC)
		text_puts(b, ",noexec");
	if (m->flags & MNT_NOATIME)
		text_puts(b, ",noatime");
	if (m->flags & MNT_NODIRATIME)
		text_puts(b, ",nodiratime");
	if (!(m->flags & (MNT_NOATIME | MNT_STRICTATIME)))
		text_puts(b, ",relatime");
	if (m->flags & MNT_NOSYMFOLLOW)
		text_puts(b, ",nosymfollow");
}

static void put_source(struct textbuf *b, const struct mount *m)
{
	put_escaped(b, m->source[0] ? m->source : "none");
}

int show_mounts(struct pinode *pi, struct task *t, struct textbuf *b)
{
	const struct path *root = root_of(pi);
	const char *place;

	(void)t;
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m)) {
		place = mount_place(m, root);
		if (!place)
			continue;
		put_source(b, m);
		text_puts(b, " ");
		put_escaped(b, place);
		text_printf(b, " %s ", m->fs->type_name);
		put_options(b, m, m->flags & MNT_RDONLY || m->fs->readonly);
		text_puts(b, m->options);
		text_puts(b, " 0 0\n");
	}
	return 0;
}

int show_mountinfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	static char inside[PATH_MAX_LEN];
	const struct path *root = root_of(pi);
	const char *place;

	(void)t;
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m)) {
		place = mount_place(m, root);
		if (!place)
			continue;
		text_printf(b, "%d %d %u:%u ", m->id, m->parent ? m->parent->id : 0,
			    major(m->fs->dev), minor(m->fs->dev));
		put_escaped(b, mount_root_text(m, inside, sizeof(inside)));
		text_puts(b, " ");
		put_escaped(b, place);
		text_puts(b, " ");
		put_options(b, m, m->flags & MNT_RDONLY);
		text_printf(b, " - %s ", m->fs->type_name);
		put_source(b, m);
		text_printf(b, " %s%s\n", m->fs->readonly || m->flags & MNT_RDONLY ? "ro" : "rw",
			    m->options);
	}
	return 0;
}
