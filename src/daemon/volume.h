/* Volumes: making and removing them. Both wait for locks and disks, so a thread does it. */
#ifndef VIV_DAEMON_VOLUME_H
#define VIV_DAEMON_VOLUME_H

#include "base/err.h"
#include "store/store.h"

/* ERR_CONFLICT: there is one. */
int volume_make(const struct store *s, const char *name, struct err *e);
/* ERR_CONFLICT: somebody uses it. ERR_NOT_FOUND: there is none. */
int volume_drop(const struct store *s, const char *name, struct err *e);

#endif
