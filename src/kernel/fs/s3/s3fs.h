/* Objects of an S3 bucket as a file system of the cell (viv run --mount s3://BUCKET/PREFIX:DST). */
#ifndef VIV_KERNEL_FS_S3_S3FS_H
#define VIV_KERNEL_FS_S3_S3FS_H

#include "base/base.h"

struct fs;

/* What the viv-s3 behind sock (taken; SOCK_SEQPACKET, wire/s3.h) shows, with refs = 1; NULL: no
 * memory. All files are shown as owned by uid and gid. */
struct fs *must_check s3fs_new(int sock, bool readonly, uint32_t uid, uint32_t gid);
/* The cell ends: waits until what was written is uploaded, and tells what could not be. Any fs;
 * harmless for others. */
void s3fs_finish(struct fs *fs);

#endif
