/* The output of a cell of vivd, shown as it was written. */
#ifndef VIV_CLI_ATTACH_H
#define VIV_CLI_ATTACH_H

/* Starts the cell and shows its output until it ends: its exit status, or viv's own. */
int start_attached(const char *cell);

#endif
