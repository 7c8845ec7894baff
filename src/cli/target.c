/* See target.h. */
#include "cli/target.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int target_parse(const char *text, struct target *t, struct err *e)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);

	*t = (struct target){ .proc = KEEP_FIRST, .fd = -1 };
	if (n >= sizeof(t->cell))
		return err_set(e, ERR_NOT_FOUND, "the cell name is too long");
	memcpy(t->cell, text, n);
	if (!colon)
		return 0;
	if (!value_u32(colon + 1, &t->proc) || !t->proc)
		return err_set(e, ERR_USAGE,
			       "'%s': after ':' comes the number of a process, as 'viv exec -d' "
			       "prints it",
			       text);
	t->proc_given = true;
	return 0;
}

int target_open(const char *text, struct target *t, struct err *e)
{
	if (target_parse(text, t, e) < 0 || keep_find(t->cell, t->id, e) < 0)
		return -1;
	t->fd = keep_connect(t->id, 0, e);
	return t->fd < 0 ? -1 : 0;
}
