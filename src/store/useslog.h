/* What runs of a named cell used of the network, beside its disk: 'viv run' in the foreground
 * writes it, as no vivd need be there, and 'viv policy learn' reads it. Lines of JSON, at most
 * USESLOG_MAX bytes. */
#ifndef VIV_STORE_USESLOG_H
#define VIV_STORE_USESLOG_H

#include "store/disk.h"

#define USESLOG_MAX (1 << 20)

/* Adds a line to that of a disk that is locked exclusively; what does not fit is left out. */
void useslog_add(const struct disk *d, const char *line);
/* As a new NUL-terminated buffer; 0, or -errno. */
int must_check useslog_read(int store, const char *disk, char **ret);
void useslog_remove(int store, const char *disk);

#endif
