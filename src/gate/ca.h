/* The CA of a cell, which only this cell trusts: connections that the gate opens end with a
 * certificate of it.
 *
 * The keeper has it made once, by "viv-gate --make-ca", before the cell starts, and gives it to
 * each gate of the cell (settings line "ca"); the key is never in the cell. Certificates for names
 * are made when they are first needed, with one key that is drawn at the start of the gate. */
#ifndef VIV_GATE_CA_H
#define VIV_GATE_CA_H

#include <openssl/ssl.h>

#include "base/err.h"

#define CA_LEAVES 256 /* that are kept */

/* Makes a CA and writes "CERTIFICATE KEY\n" to standard output, both as base64 of DER. The exit
 * status. */
int ca_make(void);
/* Takes one in that form. The first one counts. */
int must_check ca_load(const char *cert, const char *key, struct err *e);
bool ca_is_loaded(void);
/* Gives ssl a certificate for exactly this name or address. */
int must_check ca_use(SSL *ssl, const char *name, struct err *e);

#endif
