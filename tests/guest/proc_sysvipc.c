/* needs: root */
/* /proc/sysvipc lists shared memory, semaphores and queues. */
#include "guest.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

/* The line of an id: the fields at the columns given are printed. */
static void line_of(const char *path, int id, const char *columns)
{
	char line[512], *field[32] = { 0 }, *save;
	FILE *f = fopen(path, "r");
	int n = 0;

	if (!f || !fgets(line, sizeof(line), f)) {
		printf("%s: %s\n", path, ename(errno));
		return;
	}
	printf("%s", line);
	while (fgets(line, sizeof(line), f)) {
		n = 0;
		for (char *p = strtok_r(line, " \n", &save); p && n < 32;
		     p = strtok_r(NULL, " \n", &save))
			field[n++] = p;
		if (n > 2 && atoi(field[1]) == id)
			break;
		n = 0;
	}
	fclose(f);
	if (!n) {
		printf("not there\n");
		return;
	}
	printf("%d fields:", n);
	for (; *columns; columns++)
		printf(" %s", field[*columns - 'a']);
	printf("\n");
}

static int shm, sem, msg;

static void other(void)
{
	drop_to_user();
	if (getuid() != 1000)
		return;
	line_of("/proc/sysvipc/shm", shm, "");
	line_of("/proc/sysvipc/sem", sem, "c");
}

int main(void)
{
	struct {
		long type;
		char text[5];
	} m = { 1, "hello" };
	void *at;

	shm = shmget(0x1234abcd, 10000, IPC_CREAT | 0600);
	sem = semget(IPC_PRIVATE, 3, IPC_CREAT | 0644);
	msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	at = shmat(shm, NULL, 0);
	CHECK(at != (void *)-1);
	CHECK(msgsnd(msg, &m, 5, 0) == 0);
	line_of("/proc/sysvipc/shm", shm, "acdg");
	line_of("/proc/sysvipc/sem", sem, "acd");
	line_of("/proc/sysvipc/msg", msg, "acde");
	if (geteuid() == 0)
		in_child(other);
	shmdt(at);
	shmctl(shm, IPC_RMID, NULL);
	semctl(sem, 0, IPC_RMID);
	msgctl(msg, IPC_RMID, NULL);
	line_of("/proc/sysvipc/shm", shm, "");
	return 0;
}
