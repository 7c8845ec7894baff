/* Named cells and their disks, as the verbs use them. */
#ifndef VIV_CLI_CELLS_H
#define VIV_CLI_CELLS_H

#include "base/err.h"
#include "store/named.h"
#include "store/store.h"

struct cell_ref {
	char name[DISK_NAME_MAX + 1];
	char snapshot[DISK_NAME_MAX + 1]; /* "": none given */
};

/* CELL or CELL@SNAPSHOT. */
int cell_ref_parse(const char *text, struct cell_ref *ret, struct err *e);

#endif
