/* System V, message queues, things to wait for: removed while others wait for them, in sets of
 * sets, at their limits. */
#include "guest.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/timerfd.h>

#define KEY OF(IPC_PRIVATE, 1, 2)
#define GETFLAGS OF(IPC_CREAT | 0666, IPC_CREAT | 0600, IPC_CREAT | IPC_EXCL | 0666, 0)
#define IPCFLAGS OF(IPC_NOWAIT, 0, 0, MSG_NOERROR, MSG_EXCEPT | IPC_NOWAIT, MSG_COPY | IPC_NOWAIT)

static const struct row rows_ipc[] = {
	{ CALL(shmget, KEY, OF(4096, 1, 65536), GETFLAGS), .gives = G_ID, .kind = ID_SHM, .weight = 3 },
	{ CALL(shmat, ID(ID_SHM), MAPAT, OF(0, SHM_RDONLY, SHM_REMAP, SHM_REMAP | SHM_RND, SHM_EXEC)), .weight = 2 },
	{ CALL(shmdt, MAPAT), .weight = 1 },
	{ CALL(shmctl, ID(ID_SHM), OF(IPC_RMID, IPC_RMID, IPC_STAT, IPC_SET, SHM_LOCK, SHM_STAT, SHM_INFO), MEM), .weight = 3 },
	{ STUBCALL(HC_SHMAT, ID(ID_SHM), MAPAT, OF(0, SHM_RDONLY, SHM_REMAP), MEM), .gives = G_HOSTFD, .weight = 6 },
	{ STUBCALL(HC_SHMAT_DONE, MAPAT), .weight = 1 },
	{ STUBCALL(HC_SHMDT, MAPAT), .weight = 1 },
	{ CALL(semget, KEY, BELOW(5), GETFLAGS), .gives = G_ID, .kind = ID_SEM, .weight = 3 },
	{ CALL(semop, ID(ID_SEM), SEMOPS, BELOW(4)), .weight = 4 },
	{ CALL(semtimedop, ID(ID_SEM), SEMOPS, BELOW(4), TIME), .weight = 3 },
	{ CALL(semctl, ID(ID_SEM), BELOW(4), OF(IPC_RMID, IPC_STAT, IPC_SET, GETALL, SETALL, GETNCNT, GETPID, SEM_STAT), MEM), .weight = 2 },
	{ CALL(semctl, ID(ID_SEM), BELOW(4), V(SETVAL), BELOW(3)), .weight = 1 },
	{ CALL(msgget, KEY, GETFLAGS), .gives = G_ID, .kind = ID_MSG, .weight = 3 },
	{ CALL(msgsnd, ID(ID_MSG), MSGBUF, BELOW(2000), IPCFLAGS), .weight = 4 },
	{ CALL(msgrcv, ID(ID_MSG), MSGBUF, BELOW(2000), OF(0, 1, 2, -2, -3), IPCFLAGS), .weight = 4 },
	{ CALL(msgctl, ID(ID_MSG), OF(IPC_RMID, IPC_STAT, IPC_SET, MSG_STAT, MSG_INFO), MEM), .weight = 2 },
	{ CALL(mq_open, TEXT("a", "b"), OF(O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_NONBLOCK, O_RDONLY), V(0600), OF(0)), GIVES(K_MQ), .weight = 3 },
	{ CALL(mq_unlink, TEXT("a", "b")) },
	{ CALL(mq_timedsend, FD(K_MQ), MEM, BELOW(100), BELOW(8), TIME), .weight = 3 },
	{ CALL(mq_timedreceive, FD(K_MQ), MEM, V(8192), MEM, TIME), .weight = 3 },
	{ CALL(mq_notify, FD(K_MQ), { A_SIGEVENT, 0, NULL }), .weight = 1 },
	{ CALL(mq_notify, FD(K_MQ), V(0)) },
	{ CALL(mq_getsetattr, FD(K_MQ), MEM, MEM) },
	{ CALL(close, FD(K_MQ)), .weight = 1 },
	{ CALL(unshare, V(CLONE_SYSVSEM)) },
};

#define MAKE OF(1 /* EPOLL_CTL_ADD */, 1, 2, 3)

static const struct row rows_event[] = {
	{ CALL(epoll_create1, V(0)), GIVES(K_EPOLL), .weight = 2 },
	{ CALL(epoll_ctl, FD(K_EPOLL), MAKE, ANYFD, EPEVENT), .weight = 5 },
	{ CALL(epoll_ctl, FD(K_EPOLL), MAKE, FD(K_EPOLL), EPEVENT), .weight = 3 },
	{ CALL(epoll_wait, FD(K_EPOLL), MEM, BELOW(8), BELOW(4)), .weight = 2 },
	{ CALL(epoll_wait, FD(K_EPOLL), MEM, V(8), V(-1)) },
	{ CALL(epoll_pwait, FD(K_EPOLL), MEM, BELOW(8), BELOW(4), SIGSET, V(8)) },
	{ NUMBER("epoll_pwait(armed)", SYS_epoll_pwait, FD(K_EPOLL), MEM, V(8), OF(-1, 5), SIGSET, MARK), .weight = 1 },
	{ NUMBER("epoll_pwait2", 441, FD(K_EPOLL), MEM, V(8), TIME, SIGSET, V(8)) },
	{ CALL(poll, POLLS, BELOW(9), OF(0, 1, 2, -1)), .weight = 2 },
	{ CALL(ppoll, POLLS, BELOW(9), TIME, SIGSET, V(8)), .weight = 1 },
	{ NUMBER("ppoll(armed)", SYS_ppoll, POLLS, BELOW(9), TIME, SIGSET, V(8), MARK), .weight = 1 },
	{ CALL(pselect6, BELOW(150), FDSET, FDSET, FDSET, TIME, V(0)) },
	{ STUBCALL(HC_PSELECT6, BELOW(150), FDSET, FDSET, FDSET, TIME, MARK) },
	{ CALL(select, BELOW(150), FDSET, FDSET, FDSET, TIME) },
	{ CALL(eventfd2, BELOW(5), OF(O_NONBLOCK, 0, O_NONBLOCK | 1)), GIVES(K_EVENTFD), .weight = 1 },
	{ CALL(read, FD(K_EVENTFD), MEM, V(8)) },
	{ CALL(write, FD(K_EVENTFD), MEM, V(8)) },
	{ CALL(timerfd_create, OF(0, 1, 7), V(TFD_NONBLOCK)), GIVES(K_TIMERFD), .weight = 1 },
	{ CALL(timerfd_settime, FD(K_TIMERFD), BELOW(4), ITIMER, V(0)), .weight = 2 },
	{ CALL(timerfd_gettime, FD(K_TIMERFD), MEM) },
	{ CALL(read, FD(K_TIMERFD), MEM, V(8)) },
	{ CALL(signalfd4, V(-1), SIGSET, V(8), V(O_NONBLOCK)), GIVES(K_SIGNALFD), .weight = 1 },
	{ CALL(signalfd4, FD(K_SIGNALFD), SIGSET, V(8), V(0)) },
	{ CALL(read, FD(K_SIGNALFD), MEM, V(512)) },
	{ CALL(rt_sigprocmask, BELOW(3), SIGSET, V(0), V(8)) },
	{ CALL(inotify_init1, OF(O_NONBLOCK, 0)), GIVES(K_INOTIFY), .weight = 2 },
	{ CALL(inotify_add_watch, FD(K_INOTIFY), PATH, OF(IN_ALL_EVENTS, IN_ALL_EVENTS | IN_ONESHOT, IN_ALL_EVENTS | IN_EXCL_UNLINK)), .weight = 3 },
	{ CALL(inotify_rm_watch, FD(K_INOTIFY), BELOW(8)), .weight = 1 },
	{ CALL(read, FD(K_INOTIFY), MEM, LEN), .weight = 1 },
	{ CALL(close, ANYFD), .weight = 3 },
	{ CALL(dup3, ANYFD, ANYFD, V(0)), .weight = 1 },
	{ CALL(pipe2, MEM, V(O_NONBLOCK)), .gives = G_PAIR, .kind = K_PIPE },
	{ CALL(fcntl, ANYFD, V(F_SETFL), OF(O_NONBLOCK, O_ASYNC | O_NONBLOCK)) },
	{ CALL(fcntl, ANYFD, V(F_SETOWN), PID) },
};

#define rows rows_ipc
TABLE(table_ipc, "ipc");
#undef rows
#define rows rows_event
TABLE(table_event, "event");
