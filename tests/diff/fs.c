/* Families that name files: opening, paths, attributes, extended attributes, listings. */
#include "diff.h"

#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>

static const struct sym open_flags[] = {
	S(O_CREAT), S(O_EXCL), S(O_TRUNC), S(O_APPEND), S(O_DIRECTORY), S(O_NOFOLLOW), S(O_PATH), S(O_CLOEXEC),
	S(O_NOCTTY), S(O_SYNC), S(O_DSYNC), S(O_NOATIME), S(O_LARGEFILE), S(O_ASYNC), S(__O_TMPFILE),
};
static const struct sym access_modes[] = { S(O_RDONLY), S(O_RDONLY), S(O_WRONLY), S(O_RDWR), S(O_RDWR), S(O_ACCMODE) };
static const struct sym modes[] = { S(0), S(0644), S(0600), S(0777), S(01777), S(02755), S(04711), S(07777), S(0100644), S(040755),
				    S(0444), S(0177777), S(0222) };
static const struct sym dir_fds[] = { S(AT_FDCWD), S(AT_FDCWD), S(AT_FDCWD), S(AT_FDCWD), S(-1), S(0), S(99), S(50), S(51), S(52) };

/* 50: the fixture's d, 51: file f, 52: d as O_PATH. */
static int dir_fd(const char **name)
{
	const struct sym *s = pick(dir_fds);

	if (s->v >= 50 && s->v <= 52) {
		int fd = open(s->v == 51 ? "f" : "d", s->v == 52 ? O_PATH : O_RDONLY);

		dup2(fd, (int)s->v);
		close(fd);
	}
	*name = s->name;
	return (int)s->v;
}

static void opened(int fd)
{
	struct stat st, root;

	if (fd < 0)
		return;
	note(" fl%o cx%d", (unsigned)fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	if (!fstat(fd, &st)) {
		/* How many directories the root has is the system's. */
		if (!stat("/", &root) && st.st_ino == root.st_ino && st.st_dev == root.st_dev)
			st.st_nlink = 0;
		stat_note(&st);
	}
	note(" pos%lld", (long long)lseek(fd, 0, SEEK_CUR));
}

static void fam_open(void)
{
	char text[400];
	const char *path = odd_path(), *dn;
	const struct sym *acc = pick(access_modes), *mode = pick(modes);
	long flags = pick_flags(open_flags, COUNT(open_flags), 13, text, sizeof(text)) | acc->v | O_NONBLOCK;
	int dfd = dir_fd(&dn);

	call("openat(%s, %s, %s|%s, %s)", dn, show(path), acc->name, text, mode->name);
	opened((int)res(sys(SYS_openat, dfd, chance(2) ? BAD_PTR : path, flags, mode->v)));
	tree_digest(".");
}

static const struct sym resolve_flags[] = { S(RESOLVE_NO_XDEV), S(RESOLVE_NO_MAGICLINKS), S(RESOLVE_NO_SYMLINKS), S(RESOLVE_BENEATH),
					    S(RESOLVE_IN_ROOT), S(RESOLVE_CACHED) };

static void fam_openat2(void)
{
	static const struct sym sizes[] = { S(24), S(24), S(24), S(24), S(24), S(24), S(0), S(16), S(23), S(32), S(4096), S(4097) };
	static const char *const more[] = { "/f", "..", "/", "d/../f", "d/../../z/f", "/proc/self/fd/0", "/proc/self/cwd/f", "/proc/self/fd/50",
					    "labs", "../../y", "ld/../f" };
	char text[400], rtext[200];
	const char *path = chance(35) ? more[rnd(COUNT(more))] : odd_path(), *dn;
	const struct sym *acc = pick(access_modes), *mode = pick(modes), *size = pick(sizes);
	unsigned char raw[8192] = { 0 };
	struct open_how *how = (void *)raw;
	int dfd = dir_fd(&dn);

	how->flags = (uint64_t)(pick_flags(open_flags, COUNT(open_flags), 8, text, sizeof(text)) | acc->v | O_NONBLOCK);
	how->resolve = (uint64_t)pick_flags(resolve_flags, COUNT(resolve_flags) - 1, 22, rtext, sizeof(rtext));
	if (chance(3))
		how->resolve |= 1u << 6 << rnd(20);
	if (chance(4))
		how->flags |= 1ull << 36;
	how->mode = how->flags & (O_CREAT | __O_TMPFILE) || chance(5) ? (uint64_t)mode->v : 0;
	if (chance(4))
		raw[24 + rnd(8)] = 1;
	if (path[0] == '/' || strstr(path, "labs")) /* what lies between is another file system on one side */
		how->resolve &= ~(uint64_t)RESOLVE_NO_XDEV;
	call("openat2(%s, %s, {%s|%s %llx, %llo, %s %llx tail%d}, %s)", dn, show(path), acc->name, text, how->flags, how->mode, rtext,
	     how->resolve, raw[24] | raw[25] | raw[26] | raw[27] | raw[28] | raw[29] | raw[30] | raw[31], size->name);
	opened((int)res(sys(SYS_openat2, dfd, path, how, size->v)));
	tree_digest(".");
}

static const struct sym at_flags[] = { S(AT_SYMLINK_NOFOLLOW), S(AT_EMPTY_PATH), S(AT_REMOVEDIR), S(AT_SYMLINK_FOLLOW), S(AT_NO_AUTOMOUNT),
				       S(AT_EACCESS), S(0x10000), S(0x2000) };

static void fam_path(void)
{
	static const struct sym kinds[] = { S(S_IFREG), S(S_IFIFO), S(S_IFSOCK), S(S_IFDIR), S(S_IFLNK), S(0), S(S_IFCHR), S(0170000) };
	static const struct sym access_bits[] = { S(F_OK), S(R_OK), S(W_OK), S(X_OK), S(R_OK | W_OK), S(R_OK | X_OK), S(7), S(8), S(-1) };
	static const struct sym sizes[] = { S(0), S(1), S(3), S(64), S(4096), S(-1) };
	static const struct sym lengths[] = { S(0), S(3), S(13), S(5000), S(-1), S(1L << 62) };
	char text[200], buf[8192], *cwd;
	const char *a = odd_path(), *b = odd_path(), *dn, *dn2;
	int dfd = dir_fd(&dn), dfd2 = dir_fd(&dn2);
	const struct sym *m = pick(modes), *s;
	struct stat st;
	long flags;

	memset(buf, 0, sizeof(buf));
	switch (rnd(16)) {
	case 0:
		flags = pick_flags(at_flags, COUNT(at_flags), 12, text, sizeof(text));
		call("newfstatat(%s, %s, %s)", dn, show(a), text);
		if (!res(sys(SYS_newfstatat, dfd, a, &st, flags)))
			stat_note(&st);
		break;
	case 1:
		s = pick(access_bits);
		flags = pick_flags(at_flags, COUNT(at_flags), 8, text, sizeof(text));
		call("faccessat2(%s, %s, %s, %s)", dn, show(a), s->name, text);
		res(sys(SYS_faccessat2, dfd, a, s->v, flags));
		break;
	case 2:
		s = pick(sizes);
		call("readlinkat(%s, %s, buf, %s)", dn, show(a), s->name);
		flags = sys(SYS_readlinkat, dfd, a, buf, s->v);
		if (buf[0] == '/')
			note(" = absolute");
		else
			res(flags);
		note(" '%.40s'", buf[0] == '/' ? "" : buf);
		break;
	case 3:
		call("mkdirat(%s, %s, %s)", dn, show(a), m->name);
		res(sys(SYS_mkdirat, dfd, a, m->v));
		break;
	case 4:
	case 5:
		flags = chance(40) ? AT_REMOVEDIR : 0;
		if (chance(4))
			flags |= AT_SYMLINK_NOFOLLOW;
		call("unlinkat(%s, %s, %lx)", dn, show(a), flags);
		res(sys(SYS_unlinkat, dfd, a, flags));
		break;
	case 6:
		flags = pick_flags(at_flags, COUNT(at_flags), 10, text, sizeof(text));
		/* Since Linux 6.10 who opened a file may give it a name; before nobody without the
		 * capability. */
		if (as_user)
			flags &= ~(long)AT_EMPTY_PATH;
		call("linkat(%s, %s, %s, %s, %s)", dn, show(a), dn2, show(b), text);
		res(sys(SYS_linkat, dfd, a, dfd2, b, flags));
		break;
	case 7:
		call("symlinkat(%s, %s, %s)", show(a), dn, show(b));
		res(sys(SYS_symlinkat, a, dfd, b));
		break;
	case 8:
		s = pick(kinds);
		call("mknodat(%s, %s, %s|%s, 0)", dn, show(a), s->name, m->name);
		res(sys(SYS_mknodat, dfd, a, s->v | (m->v & 07777), 0));
		break;
	case 9:
		s = pick(lengths);
		call("truncate(%s, %s)", show(a), s->name);
		res(sys(SYS_truncate, a, s->v));
		break;
	case 10:
		call("chdir(%s)", show(a));
		res(sys(SYS_chdir, a));
		cwd = getcwd(buf, sizeof(buf));
		note(" cwd %s", cwd ? show(cwd) : "none");
		fixture_home();
		break;
	case 11:
	case 12:
	case 13:
		flags = chance(40) ? (long)rnd(8) : 0;
		if (chance(3))
			flags |= 8;
		call("renameat2(%s, %s, %s, %s, %lx)", dn, show(a), dn2, show(b), flags);
		/* A whiteout is a device on Linux; what may be made of it is not the question
		 * here. */
		res(sys(SYS_renameat2, dfd, a, dfd2, b, flags & ~4L));
		break;
	case 14:
		flags = open(a, O_RDONLY | O_NONBLOCK | (chance(50) ? O_PATH : 0));
		call("fchdir(open %s)", show(a));
		res(sys(SYS_fchdir, flags));
		fixture_home();
		break;
	default:
		call("rmdir(%s)", show(a));
		res(sys(SYS_rmdir, a));
		break;
	}
	tree_digest("../../../x");
}

static const struct sym statx_masks[] = { S(0x7ff), S(0xfff), S(0), S(1), S(0x1fff), S(0x3fff), S(0x80000000), S(0x200), S(0x17ff) };

static void fam_statx(void)
{
	static const struct sym sync[] = { S(0), S(0), S(0), S(0x2000), S(0x4000), S(0x6000) };
	char text[200];
	const char *path = chance(10) ? "" : odd_path(), *dn;
	const struct sym *mask = pick(statx_masks), *sy = pick(sync);
	int dfd = dir_fd(&dn);
	long flags = pick_flags(at_flags, 5, 14, text, sizeof(text)) & ~0x2000L;
	struct statx sx;

	memset(&sx, 0x5a, sizeof(sx));
	call("statx(%s, %s, %s|%s, %s)", dn, show(path), text, sy->name, mask->name);
	if (!res(sys(SYS_statx, dfd, path, flags | sy->v, mask->v, &sx))) {
		note(" mask %x attr %llx mode %o n%u %u:%u", sx.stx_mask & 0x7ff, (unsigned long long)sx.stx_attributes & 0x34,
		     sx.stx_mode, sx.stx_nlink, sx.stx_uid, sx.stx_gid);
		if (S_ISREG(sx.stx_mode))
			note(" s%llu b%llu", (unsigned long long)sx.stx_size, (unsigned long long)sx.stx_blocks);
		note(" bs%u r%u:%u t%d%d%d", sx.stx_blksize, sx.stx_rdev_major, sx.stx_rdev_minor, sx.stx_mtime.tv_sec > 1000000,
		     sx.stx_atime.tv_nsec < 1000000000, sx.stx_ctime.tv_sec > 1000000);
	}
}

static void fam_attr(void)
{
	static const struct sym ids[] = { S(-1), S(0), S(USER_ID), S(1), S(65534), S(0x7fffffff), S(0xfffffffe) };
	static const struct sym secs[] = { S(0), S(1), S(-1), S(1000000000), S(0x7fffffff), S(0x80000000), S(4000000000), S(-5000000000) };
	static const struct sym nsecs[] = { S(0), S(1), S(999999999), S(1000000000), S(-1), S(UTIME_NOW), S(UTIME_OMIT) };
	char text[200];
	const char *path = chance(8) ? "" : odd_path(), *dn;
	int dfd = dir_fd(&dn);
	const struct sym *m = pick(modes), *u = pick(ids), *g = pick(ids), *s0 = pick(secs), *s1 = pick(secs), *n0 = pick(nsecs),
			 *n1 = pick(nsecs);
	struct timespec ts[2] = { { s0->v, n0->v }, { s1->v, n1->v } }, now;
	struct stat st;
	long flags;

	switch (rnd(5)) {
	case 0:
		call("fchmodat(%s, %s, %s)", dn, show(path), m->name);
		res(sys(SYS_fchmodat, dfd, path, m->v));
		break;
	case 1:
	case 2:
		flags = pick_flags(at_flags, 3, 20, text, sizeof(text));
		call("fchownat(%s, %s, %s, %s, %s)", dn, show(path), u->name, g->name, text);
		res(sys(SYS_fchownat, dfd, path, u->v, g->v, flags));
		break;
	case 3:
		flags = open(path, O_RDONLY | O_NONBLOCK | (chance(30) ? O_PATH : 0));
		if (chance(50)) {
			call("fchmod(%s, %s)", show(path), m->name);
			res(sys(SYS_fchmod, flags, m->v));
		} else {
			call("fchown(%s, %s, %s)", show(path), u->name, g->name);
			res(sys(SYS_fchown, flags, u->v, g->v));
		}
		break;
	default:
		flags = pick_flags(at_flags, 3, 12, text, sizeof(text));
		call("utimensat(%s, %s, %s.%s %s.%s, %s)", dn, show(path), s0->name, n0->name, s1->name, n1->name, text);
		clock_gettime(CLOCK_REALTIME, &now);
		res(sys(SYS_utimensat, dfd, chance(4) ? NULL : path, chance(10) ? NULL : ts, flags));
		if (!fstatat(AT_FDCWD, path, &st, flags & AT_SYMLINK_NOFOLLOW)) {
			if (labs(st.st_atime - now.tv_sec) < 5)
				note(" a now");
			else
				note(" a %lld.%ld", (long long)st.st_atime, st.st_atim.tv_nsec);
			if (labs(st.st_mtime - now.tv_sec) < 5)
				note(" m now");
			else
				note(" m %lld.%ld", (long long)st.st_mtime, st.st_mtim.tv_nsec);
			note(" c %s", labs(st.st_ctime - now.tv_sec) < 5 ? "now" : "then");
		}
		break;
	}
	tree_digest(".");
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
static void list_note(char *list, ssize_t n)
{
	char *names[64];
	size_t count = 0;

	for (char *p = list; p < list + n && count < 64; p += strlen(p) + 1)
		names[count++] = p;
	qsort(names, count, sizeof(names[0]), name_cmp);
	for (size_t i = 0; i < count; i++)
		note(" %.30s", names[i]);
}

static void fam_xattr(void)
{
	static char long_name[300];
	static const char *const names[] = { "user.a", "user.a", "user.b", "user.b", "user.", "user", "", "trusted.t", "security.s", "system.x",
					     "nonsense.x", "USER.a", "user.a.b", long_name, "system.posix_acl_access" };
	static const struct sym sizes[] = { S(0), S(1), S(5), S(5), S(100), S(4096), S(65536), S(65537), S(-1) };
	static const struct sym flags[] = { S(0), S(0), S(0), S(XATTR_CREATE), S(XATTR_REPLACE), S(3), S(4) };
	static char value[70000], got[70000];
	const char *path = odd_path();
	int steps = 1 + (int)rnd(5);

	memset(long_name, 'n', sizeof(long_name) - 1);
	memcpy(long_name, "user.", 5);
	long_name[254 + rnd(3)] = 0;
	memset(value, 'v', sizeof(value));
	for (int i = 0; i < steps; i++) {
		const char *name = names[rnd(COUNT(names))];
		const struct sym *size = pick(sizes), *f = pick(flags);
		bool follow = chance(70);
		long r;

		if (chance(20))
			path = odd_path();
		switch (rnd(6)) {
		case 0:
		case 1:
		case 2:
			call("%ssetxattr(%s, %.40s:%zu, %s, %s)", follow ? "" : "l", show(path), name, strlen(name), size->name, f->name);
			res(sys(follow ? SYS_setxattr : SYS_lsetxattr, path, name, value, size->v, f->v));
			break;
		case 3:
			call("%sgetxattr(%s, %.40s, %s)", follow ? "" : "l", show(path), name, size->name);
			r = res(sys(follow ? SYS_getxattr : SYS_lgetxattr, path, name, got, size->v));
			if (r > 0 && size->v)
				digest(got, (size_t)r);
			break;
		case 4:
			call("%slistxattr(%s, %s)", follow ? "" : "l", show(path), size->name);
			r = res(sys(follow ? SYS_listxattr : SYS_llistxattr, path, got, size->v));
			if (r > 0 && size->v)
				list_note(got, r);
			break;
		default:
			call("%sremovexattr(%s, %.40s)", follow ? "" : "l", show(path), name);
			res(sys(follow ? SYS_removexattr : SYS_lremovexattr, path, name));
			break;
		}
	}
}

static void fam_dir(void)
{
	static const struct sym sizes[] = { S(0), S(1), S(23), S(24), S(30), S(64), S(300), S(4096), S(32768) };
	const char *path = chance(60) ? "." : odd_path();
	const struct sym *size = pick(sizes);
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	static char buf[40000];
	char *names[64];
	size_t count = 0;
	long r, total = 0, calls = 0;

	call("getdents64(%s, %s)", show(path), size->name);
	do {
		r = sys(SYS_getdents64, fd, buf, size->v);
		for (long at = 0; at < r && count < 64;) {
			unsigned short len;

			memcpy(&len, buf + at + 16, 2);
			names[count] = strdup(buf + at + 18);
			names[count][strlen(names[count])] = 0;
			note("%s", "");
			total += len;
			count++;
			at += len;
		}
		calls++;
	} while (r > 0 && calls < 200);
	res(r);
	qsort(names, count, sizeof(names[0]), name_cmp);
	note(" bytes %ld", total);
	for (size_t i = 0; i < count; i++) {
		note(" %.20s", names[i]);
		free(names[i]);
	}
	call("lseek(dir %s, 0)", show(path));
	res(lseek(fd, 0, SEEK_SET));
	res(sys(SYS_getdents64, fd, BAD_PTR, 4096));
	res(read(fd, buf, 10));
}

static void fam_inotify(void)
{
	static const struct sym masks[] = { S(IN_ACCESS), S(IN_MODIFY), S(IN_ATTRIB), S(IN_CLOSE_WRITE), S(IN_CLOSE_NOWRITE), S(IN_OPEN),
					    S(IN_MOVED_FROM), S(IN_MOVED_TO), S(IN_CREATE), S(IN_DELETE), S(IN_DELETE_SELF), S(IN_MOVE_SELF),
					    S(IN_ONLYDIR), S(IN_DONT_FOLLOW), S(IN_EXCL_UNLINK), S(IN_ONESHOT), S(IN_MASK_ADD) };
	char text[500], buf[4096] __attribute__((aligned(8)));
	const char *path = chance(50) ? "." : odd_path();
	int in = inotify_init1(IN_NONBLOCK);
	long mask = pick_flags(masks, COUNT(masks), 45, text, sizeof(text));
	uint32_t cookie = 0;
	ssize_t n;

	if (chance(20))
		mask &= 0xfff;
	call("inotify_add_watch(%s, %lx)", show(path), mask);
	res(inotify_add_watch(in, path, (uint32_t)mask));
	switch (rnd(6)) {
	case 0:
		close(open("new", O_CREAT | O_RDWR, 0600));
		break;
	case 1:
		rename("f", "f2");
		break;
	case 2:
		unlink("u");
		break;
	case 3:
		chmod("f", 0600);
		break;
	case 4:
		mkdir("nd", 0700);
		rmdir("nd");
		break;
	default:
		n = open("f", O_RDWR);
		n = write((int)n, "x", 1);
		break;
	}
	n = read(in, buf, sizeof(buf));
	res(n);
	for (ssize_t at = 0; at < n;) {
		struct inotify_event *e = (void *)(buf + at);

		if (!cookie)
			cookie = e->cookie;
		note(" (%d %x %s %.20s)", e->wd, e->mask, e->cookie ? e->cookie == cookie ? "c" : "C" : "-", e->len ? e->name : "");
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	call("inotify_rm_watch");
	res(inotify_rm_watch(in, 1));
	res(inotify_rm_watch(in, 1));
	res(read(in, buf, 15));
	res(read(in, buf, sizeof(buf)));
}

const struct family fs_families[] = {
	{ "open", fam_open, FIX | USER, 200 },	 { "openat2", fam_openat2, FIX | USER, 150 }, { "path", fam_path, FIX | USER, 400 },
	{ "statx", fam_statx, FIX | USER, 80 },	 { "attr", fam_attr, FIX | USER, 150 },	      { "xattr", fam_xattr, FIX | USER, 80 },
	{ "dir", fam_dir, FIX | USER, 30 },	 { "inotify", fam_inotify, FIX, 60 },	      { NULL, NULL, 0, 0 },
};
