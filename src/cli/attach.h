/* The output of a cell of vivd, shown as it was written. */
#ifndef VIV_CLI_ATTACH_H
#define VIV_CLI_ATTACH_H

#include "base/err.h"

/* Starts the cell and shows its output until it ends: its exit status, or -1. */
int start_attached(const char *cell, struct err *e);

#endif
