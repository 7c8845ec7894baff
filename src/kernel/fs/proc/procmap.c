/* Notes of mapped files: a hash table of fixed size by the host's inode number, with chains of a
 * fixed length; a new note takes the place of the oldest of its chain. */
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/proc/procmap.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define CHAINS 256
#define CHAIN 8

struct note {
	uint64_t host_dev, host_ino;
	uint64_t ino;
	const struct name *name; /* only compared */
	uint32_t dev, len;
	char *label;
};

struct chain {
	uint32_t next; /* which one goes next */
	struct note note[CHAIN];
};

static struct chain *chains[CHAINS];

static struct chain *chain_of(uint64_t ino, bool make)
{
	struct chain **c = &chains[(ino ^ ino >> 8 ^ ino >> 16) % CHAINS];

	if (!*c && make) {
		*c = blob_new(sizeof(**c));
		if (*c)
			memset(*c, 0, sizeof(**c));
	}
	return *c;
}

static struct note *note_find(uint64_t dev, uint64_t ino)
{
	struct chain *c = chain_of(ino, false);

	for (int i = 0; c && i < CHAIN; i++)
		if (c->note[i].label && c->note[i].host_ino == ino && c->note[i].host_dev == dev)
			return &c->note[i];
	return NULL;
}

void procmap_name_gone(struct name *n)
{
	static const char mark[] = " (deleted)";

	for (uint32_t i = 0; i < CHAINS * CHAIN; i++) {
		struct chain *c = chains[i / CHAIN];
		struct note *note = c ? &c->note[i % CHAIN] : NULL;
		char *label;

		if (!note || !note->label || note->name != n || note->ino != n->inode->ino ||
		    note->dev != n->inode->fs->dev)
			continue;
		label = blob_new(note->len + sizeof(mark));
		if (!label)
			return;
		memcpy(label, note->label, note->len);
		memcpy(label + note->len, mark, sizeof(mark));
		blob_free(note->label, note->len + 1);
		note->label = label;
		note->len += sizeof(mark) - 1;
		note->name = NULL;
	}
}

void procmap_note(int host_fd, struct file *f)
{
	static char text[PATH_MAX_LEN + 16];
	struct note *n;
	struct stat st;
	int len;

	if (host_fstat(host_fd, &st) < 0)
		return;
	len = file_label(f, NULL, text, sizeof(text) - 1);
	if (len <= 0)
		return;
	n = note_find(st.st_dev, st.st_ino);
	if (n && n->len == (uint32_t)len && !memcmp(n->label, text, (size_t)len) &&
	    n->ino == f->inode->ino && n->name == f->path.name)
		return;
	if (!n) {
		struct chain *c = chain_of(st.st_ino, true);

		if (!c)
			return;
		n = &c->note[c->next++ % CHAIN];
	}
	if (n->label)
		blob_free(n->label, n->len + 1);
	n->label = blob_strndup(text, (size_t)len);
	n->name = f->path.name;
	f->inode->mapped = true;
	n->len = (uint32_t)len;
	n->host_dev = st.st_dev;
	n->host_ino = st.st_ino;
	n->ino = f->inode->ino;
	n->dev = f->inode->fs->dev;
}

bool procmap_find(uint64_t host_dev, uint64_t host_ino, struct procnote *ret_)
{
	const struct note *n = note_find(host_dev, host_ino);

	if (!n)
		return false;
	ret_->ino = n->ino;
	ret_->dev = n->dev;
	ret_->label = n->label;
	return true;
}
