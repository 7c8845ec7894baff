/* Files of certificates that programs trust: the image's own, with the cell's CA (cell.spec.ca) in
 * them. Each is /etc/NAME, to which variables of the cell point, and is what the image's file of
 * the kind shows, wherever it has it. An image without one has a file with the CA alone. */
#ifndef VIV_KERNEL_FS_IMAGE_TRUST_H
#define VIV_KERNEL_FS_IMAGE_TRUST_H

#include "base/base.h"

enum trust_kind {
	TRUST_BUNDLE, /* PEM, one after the other: of OpenSSL, GnuTLS, Go ... */
	TRUST_KEYSTORE, /* Java's */
	TRUST_KINDS,
};

#define TRUST_MAX (2u << 20) /* bytes of an image's file */

struct trust_file {
	const char *name; /* below /etc */
	const char *paths[6]; /* where images have theirs, below the root; NULL: no more */
	/* Adds the CA to len bytes in buf, which has room for size: the new length, or 0: that is
	 * not possible, and the image's own is shown as it is. */
	size_t (*complete)(char *buf, size_t len, size_t size);
};
extern const struct trust_file trust_files[TRUST_KINDS];

/* What complete() adds at most. */
size_t trust_room(void);
/* The texts of /etc/NAME without an image's own; -1: there is no CA. */
int trust_make_bundle(char *buf, size_t size);
int trust_make_keystore(char *buf, size_t size);

#endif
