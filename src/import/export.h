/* Writing an image out again. */
#ifndef VIV_IMPORT_EXPORT_H
#define VIV_IMPORT_EXPORT_H

#include "base/base.h"
#include "base/err.h"
#include "import/buf.h"
#include "store/store.h"

struct archive;

/* All files of the image into an archive that was opened. */
int image_export_tar(const struct image *i, struct archive *a, struct err *e);

#endif
