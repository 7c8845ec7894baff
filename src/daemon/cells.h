/* Cells as vivd knows them. */
#ifndef VIV_DAEMON_CELLS_H
#define VIV_DAEMON_CELLS_H

#include "daemon/daemon.h"

#define CELL_ID_LEN 32

int cells_open(struct daemon *d, struct err *e);
void cells_close(struct daemon *d);
/* The id of the cell that a name or an id means. */
int cell_id_find(struct daemon *d, const char *text, char ret[CELL_ID_LEN + 1], struct fault *f);

#endif
