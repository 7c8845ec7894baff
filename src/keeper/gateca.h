/* The CA of a cell whose gate opens connections (gateca.c). */
#ifndef VIV_KEEPER_GATECA_H
#define VIV_KEEPER_GATECA_H

#include "base/err.h"

struct buf;

/* Makes it, once for the life of the cell; some milliseconds. */
int must_check gate_ca_make(struct err *e);
/* The certificate, for the cell's files; borrows. NULL: there is none. */
const char *gate_ca_pem(void);
/* Adds the line of the gate's settings that has certificate and key. */
void gate_ca_add(struct buf *to);

#endif
