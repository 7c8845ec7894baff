/* The directory that variations start in, made anew for each, and odd paths into it. The way up is
 * bounded: a path has at most two "..", and the fixture lies three levels below the run's
 * directory. */
#include "diff.h"

#include <dirent.h>

static char top[512]; /* the run's directory */

static void tree_remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	if (S_ISDIR(st.st_mode)) {
		DIR *d;
		struct dirent *e;
		char sub[4096];

		chmod(path, 0700);
		d = opendir(path);
		while (d && (e = readdir(d)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
				snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
				tree_remove(sub);
			}
		if (d)
			closedir(d);
		rmdir(path);
	} else {
		unlink(path);
	}
}
static void file_make(const char *path, const char *text, mode_t mode, uid_t owner)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (write(fd, text, strlen(text)) < 0 || fchown(fd, owner, owner) || fchmod(fd, mode))
		perror(path);
	close(fd);
}
static void dir_make(const char *path, mode_t mode, uid_t owner)
{
	if (mkdir(path, 0700) || chown(path, owner, owner) || chmod(path, mode))
		perror(path);
}
void fixture_home(void)
{
	if (chdir(top) || chdir("x/y/z"))
		perror("fixture");
}
void fixture_make(void)
{
	char way[600];

	if (!top[0] && !getcwd(top, sizeof(top)))
		exit(2);
	if (chdir(top))
		exit(2);
	tree_remove("x");
	mkdir("x", 0777);
	mkdir("x/y", 0777);
	dir_make("x/y/z", 0777, 0);
	fixture_home();
	file_make("f", "hello, world\n", 0644, 0);
	file_make("u", "the user's own file, of more bytes\n", 0640, USER_ID);
	file_make("s", "", 0600, 0);
	file_make("x", "#!/bin/true\n", 06755, USER_ID);
	dir_make("d", 0755, 0);
	dir_make("du", 0750, USER_ID);
	dir_make("d0", 0, 0);
	dir_make("t", 01777, 0);
	dir_make("e", 02775, USER_ID);
	file_make("d/g", "inner", 0444, 0);
	file_make("du/h", "mine", 0, USER_ID);
	file_make("t/r", "root's", 0644, 0);
	/* Absolute, and never out of the run's own directory: a variation as root would change the
	 * host. */
	snprintf(way, sizeof(way), "%s/x/y/z/u", top);
	if (symlink("f", "l") || symlink("d", "ld") || symlink("nope", "dang") || symlink("loop", "loop") || symlink("l", "ll") ||
	    symlink("../f", "d/up") || symlink("d/", "lds") || symlink(way, "labs") || link("f", "hard") ||
	    mkfifo("p", 0666))
		perror("fixture");
}

const char *odd_path(void)
{
	static const char *const names[] = { "f", "u", "s", "x", "d", "du", "d0", "t", "e", "g", "h", "r", "l", "ld", "dang", "loop",
					     "ll", "up", "lds", "labs", "hard", "p", "nope", "new", "." };
	static const char *const plain[] = { "f", "u", "d/g", "d", "l", "ld", "ld/g", "nope", "dang", "du/h", "t/r", "e/new", "new",
					     "d/up", "e", "d0/x", "loop", "p", "lds/g", "hard", "s", "t", "du" };
	static char ring[4][8192];
	static int next;
	char *p = ring[next++ % 4];
	size_t len = 0;
	int parts = 1 + (int)rnd(3), ups = 0;

	if (chance(55)) {
		strcpy(p, plain[rnd(COUNT(plain))]);
		if (chance(8))
			strcat(p, "/");
		return p;
	}
	p[0] = 0;
	if (chance(10)) {
		snprintf(p, 1024, "%s/x/y/z/", top);
		len = strlen(p);
	}
	for (int i = 0; i < parts; i++) {
		if (i)
			len += (size_t)sprintf(p + len, "%s", chance(20) ? "///" : "/");
		if (chance(12) && ups < 2) {
			len += (size_t)sprintf(p + len, "..");
			ups++;
		} else if (chance(4)) {
			size_t n = 250 + rnd(10);

			memset(p + len, 'n', n);
			len += n;
			p[len] = 0;
		} else {
			len += (size_t)sprintf(p + len, "%s", names[rnd(COUNT(names))]);
		}
	}
	if (chance(15))
		len += (size_t)sprintf(p + len, "%s", chance(50) ? "/" : "/.");
	if (chance(3)) { /* around PATH_MAX */
		size_t want = 4090 + rnd(10);
		char tail[1024];

		snprintf(tail, sizeof(tail), "%.1000s", p);
		if (strlen(tail) < want && tail[0] != '/') {
			for (len = 0; len + strlen(tail) + 2 <= want; len += 2)
				memcpy(p + len, "./", 2);
			strcpy(p + len, tail);
		}
	}
	if (chance(2))
		p[0] = 0;
	return p;
}

void stat_note(const struct stat *st)
{
	note(" %o n%lu %u:%u", st->st_mode, (unsigned long)st->st_nlink, st->st_uid, st->st_gid);
	if (!S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode))
		note(" s%lld", (long long)st->st_size);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		note(" r%lx", (long)st->st_rdev);
}

static uint64_t tree_hash(const char *path, int depth)
{
	struct stat st;
	uint64_t h = 0x1234567;
	char buf[256];
	int n = 0;

	if (lstat(path, &st))
		return (uint64_t)errno;
	n = snprintf(buf, sizeof(buf), "%o %u %u %lu %lld %lx", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink,
		     S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode) ? 0LL : (long long)st.st_size, (long)st.st_rdev);
	for (int i = 0; i < n; i++)
		h = (h ^ (unsigned char)buf[i]) * 0x100000001b3u;
	if (S_ISLNK(st.st_mode)) {
		ssize_t m = readlink(path, buf, sizeof(buf));

		if (m > 0 && buf[0] == '/') /* the run's directory has another name on the other side */
			m = 1;

		for (ssize_t i = 0; i < m; i++)
			h = (h ^ (unsigned char)buf[i]) * 0x100000001b3u;
	}
	if (S_ISDIR(st.st_mode) && depth < 6) {
		DIR *d = opendir(path);
		struct dirent *e;
		char sub[4096];

		while (d && (e = readdir(d))) {
			uint64_t one;

			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
				continue;
			snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
			one = tree_hash(sub, depth + 1) ^ e->d_type;
			for (const char *c = e->d_name; *c; c++)
				one = (one ^ (unsigned char)*c) * 0x100000001b3u;
			h += one; /* the order of a listing is the file system's own */
		}
		if (d)
			closedir(d);
	}
	return h * 0x9e3779b97f4a7c15u;
}
void tree_digest(const char *path)
{
	int e = errno;
	uint64_t h = tree_hash(path, 0);

	note(" {%08x}", (unsigned)(h ^ h >> 32));
	errno = e;
}

const char *show(const char *path)
{
	static char ring[4][300];
	static int next;
	char *s = ring[next++ % 4];
	size_t n = strlen(path), t = strlen(top);

	if (n >= t && t && !memcmp(path, top, t)) {
		snprintf(s, 300, "@%.250s", path + t);
	} else if (n > 600) {
		uint64_t h = 0;

		for (const char *c = path; *c; c++)
			h = h * 31 + (unsigned char)*c;
		snprintf(s, 300, "long%zu:%08x:%.40s", n, (unsigned)h, path + n - 40);
	} else {
		snprintf(s, 300, "\"%.200s%s\"", path, n > 200 ? "..." : "");
	}
	return s;
}
