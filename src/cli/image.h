/* Images that are sent to vivd. */
#ifndef VIV_CLI_IMAGE_H
#define VIV_CLI_IMAGE_H

#include "cli/args.h"

struct image_upload {
	int fd; /* what it is made from */
	const char *name; /* of that, for errors */
	bool quiet; /* no bar */
	bool silent; /* the image is not printed */
	/* Called when all was sent; -1: it is not to become an image. NULL: it is. */
	int (*whole)(void *arg, struct err *e);
	void *arg;
};
/* PUTs it to the path and prints the image. 0 or -1. */
int must_check image_put(const struct args *a, const char *path, const struct image_upload *u,
			 struct err *e);

#endif
