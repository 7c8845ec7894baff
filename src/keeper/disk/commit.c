/* An image of a cell's files: a kernel writes its tree as a tar archive, viv-store imports it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/disk/tool.h"

/* The tar stream of the tree goes straight into the importer. */
static int import_run(int in, const char *tag, const char *image, const char *labels)
{
	const char *words[14] = { "image",    "import", "-",	  "--tag",     tag,
				  "--format", "tar",	"--json", "--progress" };
	unsigned n = 9;
	int status;
	pid_t pid;

	if (strcmp(image, "host")) {
		words[n++] = "--base";
		words[n++] = image;
	}
	if (*labels) {
		words[n++] = "--labels";
		words[n++] = labels;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct err e;

		dup2(in, 0);
		program_run("viv-store", (char **)(uintptr_t)words, &e);
		_exit(report(&e));
	}
	close(in);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return ERR_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ERR_FAILED;
}

/* The tree has to stand still: the cell is sealed first. One that cannot be, as there are too many
 * layers, is held instead, if it does not run. */
static int commit_view(struct view *v, const struct store *s, const struct cell_ref *ref,
		       struct err *e)
{
	struct layer_ref sealed;
	struct err other;
	int err;

	if (ref->snapshot[0])
		return view_open(v, s, ref, DISK_PEEK, e);
	if (cell_seal(s, ref->name, "", &sealed, e) < 0)
		return e->kind == ERR_FAILED && view_open(v, s, ref, DISK_SHARED, &other) == 0 ? 0
											       : -1;
	if (view_open(v, s, ref, DISK_PEEK, e) < 0)
		return -1;
	disk_chain_close(&v->rootfs.chain);
	err = disk_chain_with(s->fd, &v->rootfs.disk, sealed.n, &v->rootfs.chain);
	if (err) {
		view_close(v);
		return err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read: %s", ref->name,
			       strerror(-err));
	}
	return 0;
}

int commit_make(const struct store *s, const struct cell_ref *ref, const char *tag,
		const char *labels, struct err *e)
{
	static struct view v;
	struct run_tell what = { .mode = MODE_TAR, .whole = true };
	struct disk_kernel t;
	int status, change;

	/* The importer would say so too, but after others have begun to talk to it. */
	if (!tag_is_valid(tag))
		return tag_set(s, tag, "", e);
	if (commit_view(&v, s, ref, e) < 0)
		return -1;
	what.objects = v.rootfs.stored;
	if (disk_kernel_start(&v.rootfs, &what, &t, e) < 0) {
		view_close(&v);
		return -1;
	}
	status = import_run(t.fd, tag, v.rootfs.cell.image, labels);
	t.fd = -1;
	change = disk_kernel_end(&t, e);
	view_close(&v);
	if (status) /* it has said why */
		return err_set(e, status > 0 && status <= 5 ? (enum err_kind)status : ERR_FAILED,
			       "no image was made of cell '%s'", ref->name);
	return change ? err_wrap(e, "no image was made of cell '%s'", ref->name) : 0;
}
