/* What a merge refuses, and what it points out; see copies.h. A name is any bytes without a slash.
 *
 * git runs programs that its own directory names: hooks, filters, fsmonitor, pagers. So nothing is
 * written to a .git, in any spelling that some file system takes for it, as git itself has them
 * (is_hfs_dotgit, is_ntfs_dotgit), nor to a directory that git would take for a repository: one
 * with HEAD and either objects and refs or commondir. */
#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/copies/copies.h"

#define PATH_LONGEST 4095
#define NAME_LONGEST 255
#define DEEPEST 128

/* ---- .git ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Length of a character that HFS+ ignores in names; 0: it is none. */
static size_t ignored(const char *s, size_t n)
{
	static const char *const list[] = {
		"\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e", "\xe2\x80\x8f",
		"\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad",
		"\xe2\x80\xae", "\xe2\x81\xaa", "\xe2\x81\xab", "\xe2\x81\xac",
		"\xe2\x81\xad", "\xe2\x81\xae", "\xe2\x81\xaf", "\xef\xbb\xbf",
	};

	for (unsigned i = 0; n >= 3 && i < ARRAY_LEN(list); i++)
		if (!memcmp(s, list[i], 3))
			return 3;
	return 0;
}

bool name_is_git(const char *name, size_t n)
{
	char plain[NAME_LONGEST + 1];
	size_t len = 0, skip;

	for (size_t i = 0; i < n && len < NAME_LONGEST; i += skip ? skip : 1) {
		skip = ignored(name + i, n - i);
		if (!skip)
			plain[len++] = lower(name[i]);
	}
	plain[len] = '\0';
	/* NTFS: streams of a file, and dots and spaces at the end, which it drops. */
	len = strcspn(plain, ":");
	plain[len] = '\0';
	while (len && (plain[len - 1] == '.' || plain[len - 1] == ' '))
		plain[--len] = '\0';
	return !strcmp(plain, ".git") || !strcmp(plain, "git~1");
}

/* ---- paths ---- */

const char *path_wrong(const char *path, bool with_git)
{
	unsigned depth = 0;

	if (!*path || *path == '/' || strlen(path) > PATH_LONGEST)
		return "its path is not possible here";
	for (const char *p = path; p; depth++) {
		const char *slash = strchr(p, '/');
		size_t n = slash ? (size_t)(slash - p) : strlen(p);

		if (!n || n > NAME_LONGEST || (n == 1 && *p == '.') ||
		    (n == 2 && !memcmp(p, "..", 2)))
			return "its path is not possible here";
		/* On some systems it separates names. */
		if (memchr(p, '\\', n))
			return "its name has a backslash";
		if (!with_git && name_is_git(p, n))
			return "it is part of a git directory";
		p = slash ? slash + 1 : NULL;
	}
	return depth > DEEPEST ? "it lies too deep" : NULL;
}

const char *link_wrong(const char *path, const char *target)
{
	unsigned depth = 0, up = 0;
	bool down = false;

	if (!*target || *target == '/' || strlen(target) > PATH_LONGEST)
		return "its target is absolute";
	for (const char *p = path; (p = strchr(p, '/')); p++)
		depth++;
	for (const char *p = target; p;) {
		const char *slash = strchr(p, '/');
		size_t n = slash ? (size_t)(slash - p) : strlen(p);

		if (n == 2 && !memcmp(p, "..", 2)) {
			/* Behind a name, which may be a link itself, nobody knows where it leads.
			 */
			if (down)
				return "its target goes down and up again";
			up++;
		} else if (n && !(n == 1 && *p == '.')) {
			down = true;
		}
		if (name_is_git(p, n))
			return "its target is a git directory";
		p = slash ? slash + 1 : NULL;
	}
	return up > depth ? "its target is outside of the directory" : NULL;
}

/* ---- what runs by itself ---- */

const char *path_runs(const char *path)
{
	static const struct {
		const char *name, *by; /* a name has no slash: it counts in every directory */
	} known[] = {
		{ ".envrc", "direnv" },
		{ ".env", "shells and tools that load it" },
		{ "*.vscode/*", "VS Code" },
		{ "*.code-workspace", "VS Code" },
		{ "*.idea/*", "JetBrains IDEs" },
		{ "*.devcontainer/*", "editors with dev containers" },
		{ ".devcontainer.json", "editors with dev containers" },
		{ "package.json", "npm (scripts)" },
		{ ".npmrc", "npm" },
		{ ".yarnrc", "yarn" },
		{ ".yarnrc.yml", "yarn" },
		{ ".pnpmfile.cjs", "pnpm" },
		{ "*.husky/*", "git (husky)" },
		{ "*.githooks/*", "git (hooks)" },
		{ ".pre-commit-config.yaml", "pre-commit" },
		{ ".gitmodules", "git (submodules)" },
		{ ".gitattributes", "git (filters)" },
		{ "*.github/workflows/*", "GitHub Actions" },
		{ ".gitlab-ci.yml", "GitLab CI" },
		{ "*.claude/*", "Claude Code" },
		{ ".mcp.json", "MCP clients" },
		{ "*.cursor/*", "Cursor" },
		{ "*.gemini/*", "Gemini CLI" },
		{ "*.codex/*", "Codex" },
		{ ".mise.toml", "mise" },
		{ "mise.toml", "mise" },
		{ ".gdbinit", "gdb" },
		{ ".lldbinit", "lldb" },
		{ ".exrc", "vi" },
		{ ".nvimrc", "nvim" },
		{ "conftest.py", "pytest" },
		{ "sitecustomize.py", "python" },
		{ "usercustomize.py", "python" },
		{ "*.cargo/config*", "cargo" },
		{ "build.rs", "cargo" },
		{ "vivarium.yaml", "viv up" },
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		const char *pattern = known[i].name;

		if (fnmatch(pattern, strchr(pattern, '/') ? path : name, FNM_CASEFOLD) == 0)
			return known[i].by;
		/* The directory itself: as a link it has its files under other paths. */
		for (const char *s = pattern; (s = strchr(s, '/')); s++) {
			char above[64];

			snprintf(above, sizeof(above), "%.*s", (int)(s - pattern), pattern);
			if (fnmatch(above, path, FNM_CASEFOLD) == 0)
				return known[i].by;
		}
	}
	return NULL;
}

/* ---- directories that git would take for its own ---- */

enum { HAS_HEAD = 1, HAS_OBJECTS = 2, HAS_REFS = 4, HAS_COMMON = 8 };

struct git_dir {
	char *path; /* in lower case */
	unsigned has;
};

static int git_dir_compare(const void *a, const void *b)
{
	return strcmp(((const struct git_dir *)a)->path, ((const struct git_dir *)b)->path);
}

/* The first n bytes, in lower case. */
static char *lowered(const char *path, size_t n)
{
	char *text = xstrndup(path, n);

	for (char *p = text; *p; p++)
		*p = lower(*p);
	return text;
}

static struct git_dir *git_dir_get(void **tree, const char *path, size_t n, bool make)
{
	struct git_dir *d = xalloc(sizeof(*d)), **found;

	d->path = lowered(path, n);
	found = make ? tsearch(d, tree, git_dir_compare) : tfind(d, tree, git_dir_compare);
	if (!make || (found && *found != d)) {
		free(d->path);
		free(d);
	}
	return found ? *found : NULL;
}

static void part_note(void **tree, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = lowered(slash ? slash + 1 : path, NAME_LONGEST);
	unsigned has = !strcmp(name, "head")	    ? HAS_HEAD
		       : !strcmp(name, "objects")   ? HAS_OBJECTS
		       : !strcmp(name, "refs")	    ? HAS_REFS
		       : !strcmp(name, "commondir") ? HAS_COMMON
						    : 0;
	struct git_dir *d;

	free(name);
	if (!has)
		return;
	d = git_dir_get(tree, path, slash ? (size_t)(slash - path) : 0, true);
	if (d)
		d->has |= has;
}

static bool is_git_dir(const struct git_dir *d)
{
	return d && (d->has & HAS_HEAD) &&
	       ((d->has & HAS_COMMON) ||
		(d->has & (HAS_OBJECTS | HAS_REFS)) == (HAS_OBJECTS | HAS_REFS));
}

static bool is_in_git_dir(void **tree, const char *path)
{
	const char *p = path;

	if (is_git_dir(git_dir_get(tree, "", 0, false)))
		return true;
	while ((p = strchr(p, '/'))) {
		if (is_git_dir(git_dir_get(tree, path, (size_t)(p - path), false)))
			return true;
		p++;
	}
	return is_git_dir(git_dir_get(tree, path, strlen(path), false));
}

void git_dirs_refuse(struct plan *p)
{
	void *tree = NULL;

	/* Deletions make none; what they leave is in the record. */
	for (size_t i = 0; i < p->copied->n; i++)
		part_note(&tree, p->copied->base[i].path);
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].kind != 'D')
			part_note(&tree, p->v[i].path);
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].refused && is_in_git_dir(&tree, p->v[i].path))
			p->v[i].refused = "it is part of a git directory";
}
