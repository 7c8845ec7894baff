/* viv doctor: what one check has found. */
#ifndef VIV_CLI_DOCTOR_H
#define VIV_CLI_DOCTOR_H

#include "base/base.h"

enum level { OK, WARN, FAIL };

struct finding {
	enum level level;
	char text[512], remedy[512];
};

void found(struct finding *f, enum level level, const char *remedy, const char *fmt, ...)
	printf_like(4, 5);

/* ---- doctornet.c ---- */

/* The name servers that gates ask. */
void resolvers_check(struct finding *f);
/* The certificates by which gates believe servers. */
void bundle_check(struct finding *f);

#endif
