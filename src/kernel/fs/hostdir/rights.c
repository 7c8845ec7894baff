/* What a mode denies to the owner of a file.
 *
 * The VFS has decided who in the cell may do what, by the cell's owners and capabilities, before
 * anything here is asked. The host asks the mode again, of the one host user that we are, who has
 * no capability: root of the cell could not empty a directory of mode 0555 or read a file of mode
 * 0000, nor a member of its group a file of mode 0060. That user owns the file, so what the mode
 * denies is its own to grant: the bits are lent for the one call and taken back after it. A kernel
 * that is killed between the two leaves them set, for that user alone. Not on hosts before Linux
 * 6.6, which change no mode through our descriptors, and not where the host's user has set set-id
 * bits, which we may not set again. */
#include <errno.h>

#include "host/host.h"
#include "kernel/fs/hostdir/hnode.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

bool rights_lend(struct rights *r, struct hdnode *n, uint32_t bits, int64_t err)
{
	uint32_t mode = n ? n->inode.mode & 07777 : 0;

	r->n = NULL;
	if (err != -EACCES || !n || n->foreign || n->inode.fs->readonly || (mode & 06000) ||
	    (mode & bits) == bits)
		return false;
	change_begin();
	if (host_fchmodat(n->fd, "", mode | bits) < 0)
		return false;
	r->n = n;
	r->mode = mode;
	return true;
}

void rights_return(struct rights *r)
{
	if (!r->n)
		return;
	(void)host_fchmodat(r->n->fd, "", r->mode);
	change_end_of(r->n);
	r->n = NULL;
}
