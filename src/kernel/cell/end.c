/* The end of the cell: what it has changed reaches its disks, and viv learns how it ended. */
#include "kernel/cell/end.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "wire/bootspec.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/cell/journal.h"
#include "kernel/cell/launch.h"
#include "kernel/fs/dev/result.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/s3/s3fs.h"
#include "kernel/platform/cell.h"
#include "kernel/vfs/mount.h"

static void change_say(void *arg, char kind, const char *path)
{
	(void)arg;
	control_say(CTL_LOG, 1, "%c %s", kind, path);
}

/* Nothing of a guest runs any more that could still change them: no call is answered from here
 * on. */
static void disks_finish(void)
{
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		layer_finish(m->fs);
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		s3fs_finish(m->fs);
}

/* In as many messages as it takes. */
static void result_tell(void)
{
	struct ctl_msg m = { .type = CTL_RESULT };
	const char *bytes;
	size_t n, len;

	bytes = result_bytes(&len);
	for (size_t at = 0; at < len; at += n) {
		n = MIN(len - at, sizeof(m.text));
		m.a = (int32_t)n;
		memcpy(m.text, bytes + at, n);
		control_tell(&m);
	}
}

void cell_end(int wait_status)
{
	if (launch_lingers(wait_status))
		return;
	journal_end();
	if (cell.spec.changes)
		layer_changes(boot_layer(), change_say, NULL);
	disks_finish();
	if (cell.unknown && cell.spec.trace)
		log_warn("%lu calls were answered with ENOSYS", (unsigned long)cell.unknown);
	result_tell();
	control_flush();
	control_say(CTL_EXIT, wait_status, "exit");
	_exit(0);
}
