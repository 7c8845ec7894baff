/* Who may use and change SysV objects. */
/* needs: root */
#include "guest.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static int shm, sem, msg, mode;

static void user(void)
{
	struct { long type; char text[8]; } m = { .type = 1 };
	struct shmid_ds ds;
	char *p;

	drop_to_user();
	printf("mode %o\n", mode);
	p = shmat(shm, NULL, 0);
	printf("shmat: %s\n", p == (void *)-1 ? ename(errno) : "ok");
	p = shmat(shm, NULL, SHM_RDONLY);
	printf("shmat for reading: %s\n", p == (void *)-1 ? ename(errno) : "ok");
	SHOW(shmctl(shm, IPC_STAT, &ds));
	SHOW(shmctl(shm, IPC_SET, &ds));
	SHOW(shmctl(shm, IPC_RMID, NULL));
	SHOW(semctl(sem, 0, GETVAL));
	SHOW(semctl(sem, 0, SETVAL, 1));
	SHOW(semop(sem, &(struct sembuf){ 0, 1, 0 }, 1));
	SHOW(semop(sem, &(struct sembuf){ 0, 0, IPC_NOWAIT }, 1));
	SHOW(semctl(sem, 0, IPC_RMID));
	SHOW(msgsnd(msg, &m, 4, IPC_NOWAIT));
	SHOW(msgrcv(msg, &m, 4, 0, IPC_NOWAIT));
	SHOW(msgctl(msg, IPC_RMID, NULL));
}

int main(void)
{
	static const int modes[] = { 0600, 0644, 0666, 0602 };

	for (int i = 0; i < 4; i++) {
		mode = modes[i];
		shm = shmget(IPC_PRIVATE, 100, mode);
		sem = semget(IPC_PRIVATE, 1, mode);
		msg = msgget(IPC_PRIVATE, mode);
		show_status("user", in_child(user));
		shmctl(shm, IPC_RMID, NULL);
		semctl(sem, 0, IPC_RMID);
		msgctl(msg, IPC_RMID, NULL);
	}
	return 0;
}
