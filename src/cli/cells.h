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

/* Prints what an image that was made is called: its hash, or an object with its tag. */
struct args;
struct json;
void image_print(const struct args *a, const struct json *image);

#endif
