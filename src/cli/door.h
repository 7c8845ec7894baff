/* The door of a running cell: a socket at which other viv processes of the same user ask the one that runs it for what
 * only its kernel can do now. One request and one answer for each connection. */
#ifndef VIV_CLI_DOOR_H
#define VIV_CLI_DOOR_H

#include "base/err.h"
#include "store/disk.h"

enum door_op { DOOR_SEAL = 1 };

struct door_request {
	uint32_t op;
	char name[DISK_NAME_MAX + 1]; /* of the snapshot; "": only seal */
};

struct door_answer {
	int32_t kind; /* 0, or an enum err_kind */
	uint32_t layer; /* the one that was sealed */
	char text[200];
};

/* A listening socket for the disk; -1 with a message. */
int door_open(const char *disk, struct err *e);
void door_close(int fd, const char *disk);
/* The next request: a connection, or -1 when there is none. Who is not the same user is sent away. */
int door_accept(int fd, struct door_request *ret);
/* Closes the connection. */
void door_answer(int conn, const struct door_answer *a);

/* Asks the process that has the disk. ERR_NOT_FOUND: nobody is there. */
int door_ask(const char *disk, const struct door_request *q, struct door_answer *ret,
	     struct err *e);

#endif
