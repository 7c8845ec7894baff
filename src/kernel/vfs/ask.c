/* See ask.h. */
#include "kernel/vfs/ask.h"

#include <string.h>

#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"

uint64_t path_print(uint64_t before, const struct path *p)
{
	static char text[PATH_MAX_LEN + 16];
	const struct inode *ino = p->name->inode;
	const uint64_t ids[] = { (uint64_t)p->mnt->id, ino ? ino->fs->dev : 0, ino ? ino->ino : 0 };
	uint64_t print = hooks_print(before, ids, sizeof(ids));
	char *start;
	size_t len;

	if (path_text(p, NULL, true, text, sizeof(text), &start, &len) == 0)
		return hooks_print(print, start, len);
	return hooks_print(print, p->name->str, p->name->len); /* it has no place in the tree */
}

int ask_open_hooks(struct task *t, const struct path *p, uint32_t flags)
{
	const uint32_t head[] = { PRINT_OPEN, flags };
	uint64_t print;

	if (!t->call.active)
		return 0;
	print = path_print(hooks_print(0, head, sizeof(head)), p);
	if (flags & OPEN_EXEC)
		return hooks_ask(t, print, exec, p, flags & OPEN_LINKER);
	return hooks_ask(t, print, open, p, flags);
}

int ask_change_hooks(struct task *t, const struct path *p)
{
	const uint32_t head[] = { PRINT_CHANGE, 0 };

	if (!t->call.active)
		return 0;
	return hooks_ask(t, path_print(hooks_print(0, head, sizeof(head)), p), change, p);
}

int ask_mount_hooks(struct task *t, const struct path *p)
{
	const uint32_t head[] = { PRINT_MOUNT, 0 };

	if (!t->call.active)
		return 0;
	return hooks_ask(t, path_print(hooks_print(0, head, sizeof(head)), p), mount, p);
}

int ask_name_hooks(struct task *t, const struct name_change *c)
{
	const uint64_t head[] = { PRINT_NAME, c->op, c->node ? c->node->mode : 0,
				  c->node ? c->node->rdev : 0 };
	uint64_t print;

	if (!t->call.active)
		return 0;
	print = path_print(hooks_print(0, head, sizeof(head)), &c->at);
	if (c->to.name)
		print = path_print(print, &c->to);
	if (c->node && c->node->target)
		print = hooks_print(print, c->node->target, strlen(c->node->target));
	return hooks_ask(t, print, name, c);
}
