/* SysV message queues: order, types, limits, waiting on both sides, removal under a waiter. */
#include "guest.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>

#define EXCEPT 020000

struct m {
	long type;
	char text[9000];
};
static int id;
static struct m buf;

/* What a child says is shown when it has ended: the order of two processes is nobody's promise. */
static char *said;

static void say(const char *fmt, int r, const char *text)
{
	sprintf(said + strlen(said), fmt, r, text);
}

static int said_wait(pid_t pid)
{
	int status = xwait(pid);
	printf("%s", said);
	said[0] = 0;
	return status;
}

static int send_(long type, const char *text, int flg)
{
	struct m m = { .type = type };
	strcpy(m.text, text);
	return msgsnd(id, &m, strlen(text) + 1, flg);
}

static void receive(long type, size_t size, int flg)
{
	memset(&buf, 0, sizeof(buf));
	ssize_t n = msgrcv(id, &buf, size, type, flg | IPC_NOWAIT);
	if (n < 0)
		printf("receive %ld: %s\n", type, ename(errno));
	else
		printf("receive %ld: %zd type %ld %s\n", type, n, buf.type, buf.text);
}

int main(void)
{
	struct msqid_ds ds;
	pid_t pid;

	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	id = msgget(IPC_PRIVATE, 0600);
	CHECK(id >= 0);
	receive(0, 100, 0);
	for (int i = 0; i < 6; i++) {
		char text[16];
		sprintf(text, "number %d", i);
		SHOW(send_(5 - i % 3, text, 0));
	}
	CHECK(msgctl(id, IPC_STAT, &ds) == 0);
	printf("%lu messages, %lu bytes of %lu, sent by me %d, never received %d\n", ds.msg_qnum,
	       ds.__msg_cbytes, ds.msg_qbytes, ds.msg_lspid == getpid(), ds.msg_lrpid == 0);
	receive(4, 100, 0);
	receive(-4, 100, 0);
	receive(0, 100, 0);
	receive(9, 100, 0);
	receive(4, 100, EXCEPT);
	receive(0, 4, 0);
	receive(0, 4, MSG_NOERROR);
	receive(0, 100, 0);
	receive(0, 100, 0);
	SHOW(send_(0, "x", 0));
	SHOW(send_(-1, "x", 0));
	SHOW(msgsnd(id, &buf, 8193, 0));
	SHOW(msgsnd(id, (void *)8, 1, 0));
	SHOW(msgsnd(id + 1000000, &(struct m){ .type = 1 }, 1, 0));
	SHOW(msgrcv(-1, &buf, 1, 0, 0));
	SHOW(msgrcv(id, &buf, -1, 0, IPC_NOWAIT));
	SHOW(msgsnd(id, &(struct m){ .type = 1 }, 0, 0));
	SHOW(msgrcv(id, &buf, 0, 0, 0));

	/* Full, and room again. */
	SHOW(msgsnd(id, &(struct m){ .type = 1 }, 8192, 0));
	SHOW(msgsnd(id, &(struct m){ .type = 2 }, 8192, 0));
	SHOW(msgsnd(id, &(struct m){ .type = 3 }, 1, IPC_NOWAIT));
	pid = xfork();
	if (pid == 0) {
		int r = msgsnd(id, &(struct m){ .type = 3 }, 1, 0);
		say("child sent: %d%s\n", r, "");
		r = msgrcv(id, &buf, 10, 7, 0);
		say("child received %d: %s\n", r, buf.text);
		r = msgrcv(id, &buf, 10, 7, 0);
		say("child: %d %s\n", r, ename(errno));
		_exit(0);
	}
	usleep(20000);
	SHOW(msgrcv(id, &buf, 8192, 0, 0));
	SHOW(msgrcv(id, &buf, 8192, 3, 0));
	usleep(20000);
	SHOW(send_(6, "no", 0));
	SHOW(send_(7, "yes", 0));
	usleep(50000);
	ds.msg_qbytes = 100;
	ds.msg_perm.mode = 0660;
	SHOW(msgctl(id, IPC_SET, &ds));
	msgctl(id, IPC_STAT, &ds);
	printf("mode %o qbytes %lu\n", ds.msg_perm.mode, ds.msg_qbytes);
	SHOW(msgctl(id, IPC_RMID, NULL));
	show_status("child", said_wait(pid));
	SHOW(msgctl(id, IPC_RMID, NULL));
	SHOW(msgctl(id, IPC_STAT, &ds));
	return 0;
}
