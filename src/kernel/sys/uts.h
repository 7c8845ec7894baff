/* The cell's names: nodename is cell.spec.hostname; both can be changed by root of the cell. */
#ifndef VIV_KERNEL_SYS_UTS_H
#define VIV_KERNEL_SYS_UTS_H

#include "base/base.h"

struct sysargs;
struct task;

#define UTS_LEN 64

/* sethostname, or setdomainname when domain is set. */
int64_t uts_set(struct task *t, const struct sysargs *a, bool domain);

#endif
