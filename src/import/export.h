/* Writing an image out again. */
#ifndef VIV_IMPORT_EXPORT_H
#define VIV_IMPORT_EXPORT_H

#include "base/base.h"
#include "base/err.h"
#include "base/buf.h"
#include "store/store.h"

struct archive;

/* All files of the image into an archive that was opened. */
int image_export_tar(const struct image *i, struct archive *a, struct err *e);

/* An OCI layout at path, which must not be there yet. ref (may be NULL): its name in there. */
int image_export_oci(const struct image *i, const char *path, const char *ref, struct err *e);
/* An archive of such a layout, into one that was opened. */
int image_export_oci_archive(const struct image *i, struct archive *a, const char *ref,
			     struct err *e);

#endif
