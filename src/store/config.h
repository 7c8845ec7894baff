/* The configuration of an image: how to start what is in it. Tagged values in the last table of its
 * index: tag (u32), length (u32), bytes, zeros up to a multiple of 8. Tags ascend; those that may
 * be repeated keep their order. Read without allocation, every length checked. */
#ifndef VIV_STORE_CONFIG_H
#define VIV_STORE_CONFIG_H

#include "base/base.h"

enum config_tag {
	CONFIG_ENTRYPOINT = 1, /* an argument; repeated */
	CONFIG_CMD, /* an argument; repeated */
	CONFIG_ENV, /* K=V; repeated */
	CONFIG_USER, /* USER, UID, USER:GROUP or UID:GID; a name is of the image's /etc/passwd */
	CONFIG_WORKDIR,
	CONFIG_LABEL, /* K=V; repeated, sorted */
	CONFIG_PORT, /* 80/tcp; repeated, sorted */
	CONFIG_VOLUME, /* a path; repeated, sorted */
	CONFIG_STOP_SIGNAL, /* SIGTERM, or a number */
	CONFIG_OS,
	CONFIG_ARCH,
	CONFIG_TAGS,
};

#define CONFIG_VALUE_MAX (1u << 20)

struct config_item {
	uint32_t tag;
	uint32_t len;
	const char *value; /* not terminated, without NUL */
};

/* The item at *at, and moves *at behind it; start with 0. 0, -ENOENT at the end, -EBADMSG. A tag of
 * CONFIG_TAGS or more is of a later version and to be skipped. */
int must_check config_next(const void *config, size_t len, size_t *at, struct config_item *ret);

/* The word for a tag in messages and JSON. */
const char *config_tag_name(uint32_t tag);

#endif
