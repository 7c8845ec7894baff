/* The lines of /proc/sysvipc, in Linux's columns. Everybody sees all objects there. */
#include "kernel/ipc/procipc.h"

#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/ipc/msg.h"
#include "kernel/ipc/sem.h"
#include "kernel/ipc/shm.h"

static void msg_line(struct textbuf *b, const struct ipc_obj *o)
{
	const struct msg_queue *q = (const struct msg_queue *)o;

	text_printf(b, "%10d %10d  %4o  %10lu %10lu %5d %5d %5u %5u %5u %5u %10ld %10ld %10ld\n",
		    o->key, o->id, o->mode, q->cbytes, q->qnum, q->lspid, q->lrpid, o->uid, o->gid,
		    o->cuid, o->cgid, q->stime, q->rtime, o->ctime);
}

static void sem_line(struct textbuf *b, const struct ipc_obj *o)
{
	const struct sem_set *s = (const struct sem_set *)o;

	text_printf(b, "%10d %10d  %4o %10u %5u %5u %5u %5u %10ld %10ld\n", o->key, o->id, o->mode,
		    s->nsems, o->uid, o->gid, o->cuid, o->cgid, s->otime, o->ctime);
}

static void shm_line(struct textbuf *b, const struct ipc_obj *o)
{
	const struct shm *s = (const struct shm *)o;

	text_printf(b,
		    "%10d %10d  %4o %21lu %5d %5d  %5u %5u %5u %5u %5u %10ld %10ld %10ld %21lu "
		    "%21lu\n",
		    o->key, o->id, o->mode, s->size, s->cpid, s->lpid, s->nattch, o->uid, o->gid,
		    o->cuid, o->cgid, s->atime, s->dtime, o->ctime, s->pages * PAGE_SIZE, 0ul);
}

/* In parts: b->at is the next place in the table. */
void procipc_show(enum proc_ipc_table table, struct textbuf *b)
{
	static const struct {
		const struct ipc_table *table;
		void (*line)(struct textbuf *b, const struct ipc_obj *o);
	} kinds[] = {
		[PROC_IPC_MSG] = { &msg_table, msg_line },
		[PROC_IPC_SEM] = { &sem_table, sem_line },
		[PROC_IPC_SHM] = { &shm_table, shm_line },
	};
	const struct ipc_table *tb = kinds[table].table;
	int highest = ipc_highest(tb);

	for (uint64_t n = 0; tb->used && b->at <= (uint64_t)highest; n++) {
		const struct ipc_obj *o = ipc_at(tb, (int)b->at++);

		if (o)
			kinds[table].line(b, o);
		if (text_pause(b, n))
			return;
	}
}
