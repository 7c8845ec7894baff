/* A gzip stream, its checksums compared (libarchive reads them and does not look). */
#ifndef VIV_IMPORT_GUNZIP_H
#define VIV_IMPORT_GUNZIP_H

#include <sys/types.h>

#include "base/base.h"

#define GUNZIP_MAGIC 4 /* bytes that gunzip_is wants to see */

/* Reads more of the compressed stream: how much, 0 at its end, -1 when it failed. */
typedef ssize_t gunzip_source(void *arg, const void **block);

struct gunzip;

bool gunzip_is(const uint8_t magic[GUNZIP_MAGIC]);
/* source is asked for what comes next. */
struct gunzip *gunzip_new(gunzip_source *source, void *arg);
void gunzip_free(struct gunzip *g);
/* The next bytes, valid until the next call; 0 when the source has ended and all of it was right.
 * -1: why tells what is wrong with the stream, NULL when the source failed. */
ssize_t gunzip_read(struct gunzip *g, const void **block, const char **why);

#endif
