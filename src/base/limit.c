/* See limit.h. */
#include "base/limit.h"

#include <sys/resource.h>

#include "base/base.h"

void limit_files_raise(unsigned long most)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return;
	r.rlim_cur = MAX(r.rlim_cur, most ? MIN(r.rlim_max, (rlim_t)most) : r.rlim_max);
	(void)setrlimit(RLIMIT_NOFILE, &r);
}
