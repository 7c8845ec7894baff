/* See kept.h. */
#include "kernel/sys/kept.h"

#include "kernel/fs/layer/layer.h"
#include "kernel/fs/pipe/pipe.h"
#include "kernel/ipc/msg.h"
#include "kernel/task/call.h"
#include "kernel/vfs/file.h"

void kept_release(const struct call_kept *kept)
{
	switch (kept->kind) {
	case KEPT_FILE:
		file_put(kept->file);
		break;
	case KEPT_SYNC:
		layer_sync_drop(kept->sync.request);
		if (kept->sync.file)
			file_put(kept->sync.file);
		break;
	case KEPT_FIFO:
		fifo_wait_cancel(kept->fifo);
		break;
	case KEPT_POLL:
		poll_kept_free(kept->poll);
		break;
	case KEPT_QUEUE:
		msg_queue_put(kept->queue);
		break;
	case KEPT_SEM:
		sem_wait_free(kept->sem);
		break;
	case KEPT_NOTHING:
	case KEPT_MOVED:
		break;
	}
}
