/* See users.h. The files are the image's or the guest's own, so nothing about them is taken for
 * granted; only their first 64 KiB are looked at. */
#include "kernel/cell/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "host/host.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define FIELDS 7

static char text_buf[65536];

/* The file's text, NUL-terminated; empty when it cannot be read. */
static char *file_text(struct task *t, const char *name)
{
	struct path p;
	int64_t n = 0;
	int fd;

	text_buf[0] = '\0';
	if (path_lookup(t, AT_FDCWD, name, LOOKUP_FOLLOW, &p) < 0)
		return text_buf;
	if (inode_is_reg(p.name->inode) && p.name->inode->ops->hostfd) {
		fd = CHECKED(p.name->inode->ops)->hostfd(p.name->inode, false);
		n = fd < 0 ? 0 : host_pread(fd, text_buf, sizeof(text_buf) - 1, 0);
	}
	path_put(&p);
	text_buf[MAX(n, 0)] = '\0';
	return text_buf;
}

/* Cuts the next line into its fields; missing ones are "". False: no more lines. */
static bool line_next(char **at, char *field[FIELDS])
{
	static char nothing[1];
	char *line = *at, *end;

	if (!*line)
		return false;
	end = line + strcspn(line, "\n");
	*at = *end ? end + 1 : end;
	*end = '\0';
	for (int i = 0; i < FIELDS; i++) {
		char *colon = line ? strchr(line, ':') : NULL;

		field[i] = line ? line : nothing;
		if (colon)
			*colon = '\0';
		line = colon ? colon + 1 : NULL;
	}
	return true;
}

static bool number(const char *s, uint32_t *ret)
{
	char *end;
	unsigned long v;

	if (*s < '0' || *s > '9')
		return false;
	v = strtoul(s, &end, 10);
	*ret = (uint32_t)v;
	return !*end && v < UINT32_MAX;
}

static void copy(char *to, size_t size, const char *from)
{
	size_t n = MIN(strlen(from), size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

static bool passwd_find(struct task *t, const char *name, struct user *u)
{
	char *at = file_text(t, "/etc/passwd"), *f[FIELDS];
	uint32_t wanted = 0, uid, gid;
	bool by_number = number(name, &wanted);

	while (line_next(&at, f)) {
		if (!number(f[2], &uid) || !number(f[3], &gid))
			continue;
		if (strcmp(f[0], name) && !(by_number && uid == wanted))
			continue;
		u->uid = uid;
		u->gid = gid;
		copy(u->name, sizeof(u->name), f[0]);
		copy(u->home, sizeof(u->home), f[5][0] == '/' ? f[5] : "/");
		return true;
	}
	if (!by_number)
		return false;
	*u = (struct user){ .uid = wanted, .home = "/" };
	copy(u->name, sizeof(u->name), name);
	return true;
}

static bool is_member(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && !memcmp(list, name, n))
			return true;
	return false;
}

/* The groups that list the user, and the one called name, if that is not NULL: false if it is not
 * there. */
static bool groups_find(struct task *t, const char *name, struct user *u)
{
	char *at = file_text(t, "/etc/group"), *f[FIELDS];
	bool found = !name;
	uint32_t gid;

	if (name && number(name, &gid)) {
		u->gid = gid;
		found = true;
	}
	while (line_next(&at, f)) {
		if (!number(f[2], &gid))
			continue;
		if (!found && !strcmp(f[0], name)) {
			u->gid = gid;
			found = true;
		}
		if (!name && u->ngroups < NGROUPS_IN_CELL && gid != u->gid &&
		    is_member(f[3], u->name)) {
			uint32_t i = u->ngroups++;

			for (; i > 0 && u->groups[i - 1] > gid; i--)
				u->groups[i] = u->groups[i - 1];
			u->groups[i] = gid;
		}
	}
	return found;
}

int user_find(struct task *t, const char *text, struct user *u)
{
	const char *colon = strchr(text, ':');
	char name[64];

	*u = (struct user){ 0 };
	if ((colon ? (size_t)(colon - text) : strlen(text)) >= sizeof(name))
		return -ENOENT;
	copy(name, colon ? (size_t)(colon - text) + 1 : sizeof(name), text);
	if (!passwd_find(t, name[0] ? name : "0", u))
		return -ENOENT;
	return groups_find(t, colon && colon[1] ? colon + 1 : NULL, u) ? 0 : -ESRCH;
}
