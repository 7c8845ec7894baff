/* /proc/sysvipc: the headers of the tables, whose lines the objects' own code gives (proc.h). */
#include "kernel/fs/proc/proc_priv.h"

void (*proc_ipc_show)(enum proc_ipc_table table, struct textbuf *b) SEALED;

static int show_table(struct textbuf *b, const char *head, enum proc_ipc_table table)
{
	if (!b->len)
		text_puts(b, head);
	if (proc_ipc_show)
		proc_ipc_show(table, b);
	return 0;
}

static int show_msg(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	return show_table(
		b,
		"       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid "
		" cuid  cgid      stime      rtime      ctime\n",
		PROC_IPC_MSG);
}

static int show_sem(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	return show_table(
		b,
		"       key      semid perms      nsems   uid   gid  cuid  cgid      otime "
		"     ctime\n",
		PROC_IPC_SEM);
}

static int show_shm(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	return show_table(
		b,
		"       key      shmid perms                  size  cpid  lpid nattch   uid "
		"  gid  cuid  cgid      atime      dtime      ctime                   rss "
		"                 swap\n",
		PROC_IPC_SHM);
}

const struct pnode sysvipc_nodes[] = {
	P_FILE("msg", 0444, show_msg),
	P_FILE("sem", 0444, show_sem),
	P_FILE("shm", 0444, show_shm),
	{ 0 },
};
