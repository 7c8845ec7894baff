/* Reading the configuration of an image; see config.h. */
#include "store/config.h"

#include <errno.h>
#include <string.h>

int config_next(const void *config, size_t len, size_t *at, struct config_item *ret)
{
	const uint8_t *p = config;
	uint32_t head[2];

	if (*at == len)
		return -ENOENT;
	if (*at > len || len - *at < sizeof(head))
		return -EBADMSG;
	memcpy(head, p + *at, sizeof(head));
	if (!head[0] || head[1] > CONFIG_VALUE_MAX ||
	    ALIGN_UP((size_t)head[1], 8) > len - *at - sizeof(head))
		return -EBADMSG;
	ret->tag = head[0];
	ret->len = head[1];
	ret->value = (const char *)p + *at + sizeof(head);
	if (memchr(ret->value, '\0', ret->len))
		return -EBADMSG;
	*at += sizeof(head) + ALIGN_UP((size_t)head[1], 8);
	return 0;
}

const char *config_tag_name(uint32_t tag)
{
	static const char *const names[CONFIG_TAGS] = {
		[CONFIG_ENTRYPOINT] = "entrypoint",
		[CONFIG_CMD] = "cmd",
		[CONFIG_ENV] = "env",
		[CONFIG_USER] = "user",
		[CONFIG_WORKDIR] = "workdir",
		[CONFIG_LABEL] = "labels",
		[CONFIG_PORT] = "ports",
		[CONFIG_VOLUME] = "volumes",
		[CONFIG_STOP_SIGNAL] = "stopsignal",
		[CONFIG_OS] = "os",
		[CONFIG_ARCH] = "architecture",
	};

	return tag && tag < CONFIG_TAGS ? names[tag] : "unknown";
}
