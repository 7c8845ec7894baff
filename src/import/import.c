/* The life of one import; what its sources share. */
#include "import/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/progress.h"

#define WARNINGS_SHOWN 10

static void lock_waits(void)
{
	progress_warn("waiting for 'viv image gc' to end");
}

int import_init(struct import *im, const struct store *s, const struct import_options *opt,
		struct err *e)
{
	*im = (struct import){ .store = s, .opt = *opt, .work.fd = -1, .held = -1 };
	im->lock = store_lock(s, false, opt->quiet ? NULL : lock_waits, e);
	if (im->lock < 0)
		return -1;
	work_collect(s);
	if (work_new(s, &im->work, e) < 0) {
		close(im->lock);
		return -1;
	}
	tree_init(&im->tree, opt->max_entries ? opt->max_entries : IMPORT_MAX_ENTRIES);
	objects_init(&im->objects, s, im->work.fd, opt->max_size ? opt->max_size : IMPORT_MAX_SIZE);
	return 0;
}

void import_fini(struct import *im)
{
	if (im->held >= 0)
		close(im->held);
	work_free(im->store, &im->work);
	/* Where others import as well, it is left to gc. */
	if (!im->published && !interrupted() && flock(im->lock, LOCK_EX | LOCK_NB) == 0)
		objects_drop(&im->objects);
	tree_fini(&im->tree);
	objects_fini(&im->objects);
	buf_free(&im->pycs);
	config_clear(&im->config);
	close(im->lock);
}

void import_warn(struct import *im, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (++im->warnings > WARNINGS_SHOWN || im->opt.quiet) {
		if (im->warnings == WARNINGS_SHOWN + 1 && !im->opt.quiet)
			progress_warn("more warnings are not shown");
		return;
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	progress_warn("%s", line);
}

void import_owner(const struct import *im, struct tree_attr *attr)
{
	if (!im->opt.owner_set)
		return;
	attr->uid = im->opt.uid;
	attr->gid = im->opt.gid;
}

bool import_is_pyc(const char *name, size_t len)
{
	return len > 4 && !memcmp(name + len - 4, ".pyc", 4);
}

void import_content(struct import *im, uint32_t node, uint32_t object, uint64_t size,
		    int64_t pyc_time)
{
	struct tree_node *n = tree_node(&im->tree, node);

	n->size = size;
	n->a = object == OBJECT_NONE ? 0 : (uint64_t)object + 1;
	if (pyc_time != PYC_NONE) {
		struct import_pyc p = { .node = node,
					.object = object,
					.time = (uint32_t)pyc_time };

		buf_add(&im->pycs, &p, sizeof(p));
	}
	progress_add(size, 1);
}
