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

/* The number of a group of the cell's. */
static bool group_find(struct task *t, const char *name, uint32_t *ret)
{
	char *at, *f[FIELDS];

	if (number(name, ret))
		return true;
	at = file_text(t, "/etc/group");
	while (line_next(&at, f))
		if (!strcmp(f[0], name) && number(f[2], ret))
			return true;
	return false;
}

/* In the order that Linux keeps them; once each. */
static void group_insert(uint32_t *groups, uint32_t *n, uint32_t gid)
{
	uint32_t i = 0;

	while (i < *n && groups[i] < gid)
		i++;
	if ((i < *n && groups[i] == gid) || *n >= NGROUPS_IN_CELL)
		return;
	memmove(groups + i + 1, groups + i, (*n - i) * sizeof(*groups));
	groups[i] = gid;
	++*n;
}

int groups_find_all(struct task *t, const char *list, struct groups *ret, const char **wrong)
{
	static char name[64];

	*ret = (struct groups){ 0 };
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		uint32_t gid;

		copy(name, MIN(strcspn(list, ",") + 1, sizeof(name)), list);
		if (!group_find(t, name, &gid)) {
			*wrong = name;
			return -ESRCH;
		}
		group_insert(ret->v, &ret->n, gid);
	}
	return 0;
}

void groups_add(struct cred *c, const struct groups *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		group_insert(c->groups, &c->ngroups, more->v[i]);
}

static bool is_member(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && !memcmp(list, name, n))
			return true;
	return false;
}

/* The groups that list the user. */
static void groups_of_user(struct task *t, struct user *u)
{
	char *at = file_text(t, "/etc/group"), *f[FIELDS];
	uint32_t gid;

	while (line_next(&at, f))
		if (number(f[2], &gid) && gid != u->gid && is_member(f[3], u->name))
			group_insert(u->groups, &u->ngroups, gid);
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
	if (colon && colon[1])
		return group_find(t, colon + 1, &u->gid) ? 0 : -ESRCH;
	groups_of_user(t, u);
	return 0;
}
