/* What a merge refuses, by name and by link (src/cli/copies/judge.c). */
/* objects: src/cli/copies/judge.c src/cli/copies/record.c src/client/paths.c src/store/store.c src/store/files.c src/spec/values.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/jsontext.c */
#include <string.h>

#include "cli/copies/copies.h"
#include "tap.h"

static bool git(const char *name)
{
	return name_is_git(name, strlen(name));
}

static void names(void)
{
	static const char *const bad[] = { ".git",
					   ".GIT",
					   ".Git",
					   ".git.",
					   ".git ",
					   ".git. .",
					   "git~1",
					   "GIT~1",
					   ".git:x",
					   ".git::$INDEX_ALLOCATION",
					   ".g\xe2\x80\x8cit",
					   "\xef\xbb\xbf.git",
					   ".gi\xe2\x80\xaet",
					   ".GIT\xe2\x81\xaf" };
	static const char *const good[] = { ".gitignore", "git", ".gi",	  ".github",	"x.git",
					    ".git2",	  "",	 "git~2", ".g\xc3\xaft" };

	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		ok(git(bad[i]), bad[i]);
	for (unsigned i = 0; i < ARRAY_LEN(good); i++)
		ok(!git(good[i]), good[i]);
}

static void paths(void)
{
	char deep[1024] = "";

	ok(!path_wrong("a/b c/d", false), "a path");
	ok(!path_wrong("a/..b/...", false), "names with dots");
	ok(path_wrong("", false) && path_wrong("/a", false) && path_wrong("a//b", false) &&
		   path_wrong("a/", false),
	   "no empty names");
	ok(path_wrong("../a", false) && path_wrong("a/..", false) && path_wrong("./a", false),
	   "no dots");
	ok(path_wrong("a/.GIT/b", false) && !path_wrong("a/.GIT/b", true),
	   "git by permission only");
	ok(path_wrong("a\\..\\b", true) != NULL, "no backslash");
	for (int i = 0; i < 200; i++)
		strcat(deep, "a/");
	strcat(deep, "a");
	ok(path_wrong(deep, false) != NULL, "not too deep");
}

static void links(void)
{
	ok(!link_wrong("a", "b") && !link_wrong("x/a", "../b/c") && !link_wrong("x/y/a", "../../b"),
	   "links that stay");
	ok(link_wrong("a", "/etc/passwd") && link_wrong("a", "../x") &&
		   link_wrong("x/a", "../../b") && link_wrong("a", ".."),
	   "links that leave");
	ok(link_wrong("x/a", "b/../../..") && link_wrong("x/y/a", "b/../c"), "down and up again");
	ok(link_wrong("a", ".git/hooks") && link_wrong("a", ".GIT"), "links to .git");
	ok(link_wrong("a", "") != NULL, "no text");
	ok(path_runs(".envrc") && path_runs("x/package.json") && path_runs(".vscode/tasks.json") &&
		   path_runs("sub/.husky/pre-commit") && path_runs(".VSCODE/settings.json"),
	   "what runs by itself");
	ok(!path_runs("src/main.c") && !path_runs("Makefile") && !path_runs("vscode/x"),
	   "what does not");
}

static struct plan planned(struct copied *c, struct delta *v, size_t n)
{
	return (struct plan){ .copied = c, .v = v, .n = n };
}

static void repositories(void)
{
	struct base base[] = { { .path = (char *)"old/refs", .type = 'd' } };
	struct copied c = { .base = base, .n = 1 };
	struct delta v[] = { { .path = (char *)"lib/Head", .kind = 'A', .type = 'f' },
			     { .path = (char *)"lib/config", .kind = 'A', .type = 'f' },
			     { .path = (char *)"lib/objects", .kind = 'A', .type = 'd' },
			     { .path = (char *)"lib/refs", .kind = 'A', .type = 'l' },
			     { .path = (char *)"lib/refs/x/y", .kind = 'A', .type = 'f' },
			     { .path = (char *)"old/HEAD", .kind = 'A', .type = 'f' },
			     { .path = (char *)"old/objects", .kind = 'A', .type = 'd' },
			     { .path = (char *)"src/HEAD", .kind = 'A', .type = 'f' },
			     { .path = (char *)"src/objects", .kind = 'A', .type = 'd' },
			     { .path = (char *)"w/HEAD", .kind = 'A', .type = 'f' },
			     { .path = (char *)"w/commondir", .kind = 'A', .type = 'f' },
			     { .path = (char *)"w2", .kind = 'A', .type = 'd' } };
	struct plan p = planned(&c, v, ARRAY_LEN(v));

	git_dirs_refuse(&p);
	for (unsigned i = 0; i < 7; i++)
		ok(v[i].refused != NULL, v[i].path);
	ok(!v[7].refused && !v[8].refused, "HEAD and objects alone are none");
	ok(v[9].refused && v[10].refused && !v[11].refused, "commondir makes one");
}

int main(void)
{
	names();
	paths();
	links();
	repositories();
	return tap_end();
}
