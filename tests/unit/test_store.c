/* The store without its libraries: where it is, tags, images by name, locks, work in progress. */
/* objects: src/store/ src/base/err.c src/base/buf.c src/base/jsontext.c src/base/utf8.c src/base/log.c src/host/isolate.c src/host/filter.c */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"
#include "store/store.h"
#include "tap.h"

#define HASH_A "aaaaaa0000000000000000000000000000000000000000000000000000000001"
#define HASH_B "aaaaaa1111111111111111111111111111111111111111111111111111111112"

static struct err e;

static void paths(const char *dir)
{
	char path[4096], want[4096];

	setenv("XDG_DATA_HOME", dir, 1);
	setenv("HOME", "/nowhere", 1);
	snprintf(want, sizeof(want), "%s/vivarium", dir);
	ok(!store_path(path, sizeof(path), &e) && !strcmp(path, want), "XDG_DATA_HOME comes first");
	setenv("XDG_DATA_HOME", "", 1);
	ok(!store_path(path, sizeof(path), &e) && !strcmp(path, "/nowhere/.local/share/vivarium"),
	   "an empty one counts as none: HOME");
	setenv("XDG_DATA_HOME", "a/b", 1);
	ok(store_path(path, sizeof(path), &e) < 0 && strstr(e.message, "XDG_DATA_HOME"),
	   "a relative path is refused, with the variable's name");
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "x", 1);
	ok(store_path(path, sizeof(path), &e) < 0 && strstr(e.message, "HOME is 'x'"),
	   "so it is for HOME");
	unsetenv("HOME");
	if (geteuid())
		ok(store_path(path, sizeof(path), &e) < 0, "a user without either has no store");
	else
		ok(!store_path(path, sizeof(path), &e) && !strcmp(path, "/var/lib/vivarium"),
		   "root without either uses /var/lib");
	setenv("XDG_DATA_HOME", dir, 1);
}

static void tag_names(void)
{
	static const char *const good[] = { "a", "debian:12", "reg.io/x/y:1.0-rc+2", "A_b",
					    "abcdef" };
	static const char *const bad[] = { "",	    "host",	".a",	"-a",	"a b",
					   "a%2Fb", "a\n",	HASH_A, "a//b", "a/../b",
					   "a/",    "\xc3\xa4", "a@b" };
	char longest[TAG_MAX + 2];

	for (unsigned i = 0; i < ARRAY_LEN(good); i++)
		ok(tag_is_valid(good[i]), good[i]);
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		ok(!tag_is_valid(bad[i]), "not a tag");
	memset(longest, 'x', sizeof(longest));
	longest[TAG_MAX] = '\0';
	ok(tag_is_valid(longest), "128 letters");
	longest[TAG_MAX] = 'x';
	longest[TAG_MAX + 1] = '\0';
	ok(!tag_is_valid(longest), "129 are too many");
	for (unsigned i = 1; i < TAG_MAX; i += 2)
		longest[i] = '/';
	longest[TAG_MAX] = '\0';
	ok(!tag_is_valid(longest), "a name whose file would have too long a name");
}

static void tags(const struct store *s)
{
	char hash[HASH_TEXT];
	struct tag *list;
	size_t n;
	int fd;

	ok(tag_get(s, "my/app:1", hash, &e) < 0 && e.kind == ERR_NOT_FOUND, "no tag yet");
	eq(tag_set(s, "my/app:1", HASH_A, &e), 0, "set");
	eq(tag_set(s, "b", HASH_A, &e), 0, "set another");
	eq(tag_set(s, "my/app:1", HASH_B, &e), 0, "replace");
	ok(!tag_get(s, "my/app:1", hash, &e) && !strcmp(hash, HASH_B), "get");
	ok(faccessat(s->fd, "tags/my%2Fapp:1", F_OK, 0) == 0, "the file's name");
	ok(!tag_list(s, &list, &n, &e) && n == 2 && !strcmp(list[0].name, "b") &&
		   !strcmp(list[1].name, "my/app:1"),
	   "list");
	free(list);
	fd = openat(s->fd, "tags/broken", O_WRONLY | O_CREAT, 0644);
	ok(write(fd, "junk\n", 5) == 5, "a broken one");
	close(fd);
	ok(tag_get(s, "broken", hash, &e) < 0 && e.kind == ERR_FAILED, "is an error");
	ok(!tag_list(s, &list, &n, &e) && n == 2, "and not listed");
	free(list);
	eq(tag_remove(s, "b", &e), 0, "remove");
	ok(tag_remove(s, "b", &e) < 0 && e.kind == ERR_NOT_FOUND, "twice");
}

static void images(const struct store *s)
{
	char hash[HASH_TEXT];
	struct work w;
	struct stat st;
	int fd, going;

	close(store_dir(s, "images/" HASH_A));
	close(store_dir(s, "images/" HASH_B));
	ok(!image_find(s, "my/app:1", hash, &e) && !strcmp(hash, HASH_B), "by tag");
	ok(!image_find(s, HASH_A, hash, &e) && !strcmp(hash, HASH_A), "by hash");
	ok(!image_find(s, "sha256:" HASH_A, hash, &e) && !strcmp(hash, HASH_A), "by digest");
	ok(!image_find(s, "aaaaaa0", hash, &e) && !strcmp(hash, HASH_A), "by the start of it");
	ok(image_find(s, "aaaaaa", hash, &e) < 0 && e.kind == ERR_CONFLICT, "that two have");
	ok(image_find(s, "aaaaa", hash, &e) < 0 && e.kind == ERR_NOT_FOUND, "that is too short");
	ok(image_find(s, "../" HASH_A, hash, &e) < 0 && e.kind == ERR_NOT_FOUND, "no paths");
	eq(tag_set(s, "aaaaaa", HASH_B, &e), 0, "a tag like the start of a hash");
	ok(!image_find(s, "aaaaaa", hash, &e) && !strcmp(hash, HASH_B), "comes first");
	fd = image_hold(s, HASH_A, &e);
	ok(fd >= 0, "held");
	ok(image_remove(s, HASH_A, &e) < 0 && e.kind == ERR_CONFLICT, "an image in use stays");
	close(fd);
	fd = store_dir(s, "images/" HASH_A); /* before it is renamed */
	going = image_seize(s, HASH_A, &e);
	ok(going >= 0, "one that is being removed");
	ok(image_hold(s, HASH_A, &e) < 0 && e.kind == ERR_CONFLICT, "cannot be held");
	eq(work_adopt(s, &w, "images/" HASH_A, going), 0, "is moved");
	ok(image_hold(s, HASH_A, &e) < 0 && e.kind == ERR_NOT_FOUND, "is out of sight");
	ok(flock(fd, LOCK_SH | LOCK_NB) < 0, "and locked for who was quick");
	eq(work_collect(s), 0, "nobody else's to remove");
	work_free(s, &w);
	ok(!flock(fd, LOCK_SH | LOCK_NB) && !fstat(fd, &st) && !st.st_nlink, "until it is gone");
	close(fd);
	close(store_dir(s, "images/" HASH_A));
	eq(image_remove(s, HASH_A, &e), 0, "another goes");
	ok(image_remove(s, HASH_A, &e) < 0 && e.kind == ERR_NOT_FOUND, "once");
}

static void work(const struct store *s)
{
	struct work a, b;
	int fd;

	ok(!work_new(s, &a, &e) && !work_new(s, &b, &e), "work in progress");
	mkdirat(a.fd, "sub", 0700);
	fd = openat(a.fd, "sub/file", O_WRONLY | O_CREAT, 0600);
	close(fd);
	eq(work_collect(s), 0, "is not collected while its maker lives");
	close(a.fd);
	eq(work_collect(s), 1, "is collected afterwards");
	ok(faccessat(s->fd, a.name, F_OK, 0) < 0, "with all that is in it");
	ok(faccessat(s->fd, b.name, F_OK, 0) == 0, "and nothing else");
	work_free(s, &b);
	ok(faccessat(s->fd, b.name, F_OK, 0) < 0, "free removes it");
}

int main(void)
{
	char dir[] = "/tmp/test-store.XXXXXX";
	struct store s;
	struct stat st;
	int lock, other;

	if (!mkdtemp(dir))
		return 1;
	paths(dir);
	tag_names();
	ok(!store_open(&s, &e) && !fstat(s.fd, &st) && (st.st_mode & 07777) == 0700, "opens");
	tags(&s);
	images(&s);
	work(&s);
	lock = store_lock(&s, false, NULL, &e);
	other = store_lock(&s, false, NULL, &e);
	ok(lock >= 0 && other >= 0, "two share the lock");
	ok(flock(other, LOCK_EX | LOCK_NB) < 0, "a third does not get it alone");
	close(lock);
	close(other);
	store_close(&s);
	ok(!tree_remove(AT_FDCWD, dir), "removed");
	return tap_end();
}
