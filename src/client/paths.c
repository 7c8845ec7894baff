/* See paths.h. */
#include "client/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"

static int path_make(const char *path, struct err *e)
{
	char part[4096];

	for (size_t i = 1; i < sizeof(part); i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST && errno != EROFS)
			return err_set(e, ERR_FAILED, "cannot make '%s': %s", part,
				       strerror(errno));
		if (!path[i])
			return 0;
	}
	return err_set(e, ERR_FAILED, "a path in the environment is too long");
}

static int path_fits(int n, size_t size, struct err *e)
{
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_FAILED, "a path in the environment is too long");
	return 0;
}

int path_run(char *path, size_t size, bool make, struct err *e)
{
	if (store_run_path(path, size, e) < 0)
		return -1;
	return make ? path_make(path, e) : 0;
}

int path_state(char *path, size_t size, struct err *e)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state && *state == '/')
		n = snprintf(path, size, "%s/vivarium", state);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.local/state/vivarium", home);
	else if (!geteuid())
		n = snprintf(path, size, "/var/lib/vivarium/state");
	else
		return err_set(e, ERR_FAILED,
			       "neither XDG_STATE_HOME nor HOME is an absolute path" REMEDY
			       "set one to "
			       "say where vivd keeps its state");
	return path_fits(n, size, e) < 0 ? -1 : path_make(path, e);
}
