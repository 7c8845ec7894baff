/* What sub-cells get of their parents: random cells with random mounts and rules, three generations
 * of them. Whatever a sub-cell finds at a path must be at a path of its parent, with the same
 * rights or more, and where its parent's rules let it be used as well. Then each setting by hand.
 */
/* objects: src/spec/ src/policy/ src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/store/disktree.c src/store/files.c src/base/crc32c.c src/base/log.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "spec/options.h"
#include "tap.h"

#define ROUNDS 6000

static unsigned pick(unsigned n)
{
	return (unsigned)random() % n;
}

/* Paths of up to three names, a and b. */
#define PATHS 14
static const char *const paths[PATHS] = { "/a",	    "/b",     "/a/a",	"/a/b",	  "/b/a",
					  "/b/b",   "/a/a/a", "/a/a/b", "/a/b/a", "/a/b/b",
					  "/b/a/a", "/b/a/b", "/b/b/a", "/b/b/b" };

/* What a cell has at a path: "h:/x/y", "v:name/x", "s:bucket/x"; "": nothing from outside. */
static bool behind(const struct run_options *o, const char *path, char *to, size_t size,
		   bool *readonly)
{
	const struct run_mount *found = NULL;
	size_t best = 0, n;

	/* As a kernel mounts them: one after the other. */
	for (unsigned i = 0; i < o->nmounts; i++) {
		n = strlen(o->mounts[i].dst);
		if (!strncmp(o->mounts[i].dst, path, n) && (!path[n] || path[n] == '/')) {
			found = &o->mounts[i];
			best = n;
		}
	}
	to[0] = '\0';
	if (!found || (!found->src && !found->volume))
		return false;
	*readonly = found->readonly;
	snprintf(to, size, "%s%s%s%s%s", found->volume ? "v:" : "",
		 found->volume ? found->volume : found->src, found->subpath ? "/" : "",
		 found->subpath ? found->subpath : "", path + best);
	return true;
}

static int rank_at(const struct policy *p, const char *path, unsigned use)
{
	return verdict_rank(
		(use > FILES_ALL ? policy_exec(p, path) : policy_files(p, path, use)).verdict);
}

/* Can this be used by the parent, too? p: the rules of the parent, which the child has as well. */
static bool parent_has(const struct run_options *parent, const struct policy *p, const char *what,
		       bool readonly, const char *at)
{
	for (unsigned i = 0; i < parent->nmounts; i++) {
		char path[256], there[256];
		bool ro, good = true;
		size_t n;

		/* Where its root is in what is looked for, the rest is behind its place. */
		if (!behind(&(struct run_options){ .nmounts = 1, .mounts = { parent->mounts[i] } },
			    parent->mounts[i].dst, there, sizeof(there), &ro))
			continue;
		n = strlen(there);
		if (strncmp(what, there, n) || (what[n] && what[n] != '/'))
			continue;
		snprintf(path, sizeof(path), "%s%s", parent->mounts[i].dst, what + n);
		/* It may be hidden by another mount. */
		if (!behind(parent, path, there, sizeof(there), &ro) || strcmp(there, what) ||
		    (ro && !readonly))
			continue;
		for (unsigned use = 1; use <= FILES_ALL + 1; use <<= 1)
			good = good && rank_at(p, at, use) >= rank_at(p, path, use);
		if (good)
			return true;
	}
	return false;
}

static void mount_make(struct run_options *o, const struct run_mount *m)
{
	struct run_mount copy = *m;
	struct err e;

	copy.dst = run_keep_text(o, paths[pick(PATHS)]);
	(void)!mount_add(o, "m", copy, &e); /* at a place that is free, or not at all */
}

static void parent_make(struct run_options *o)
{
	static const struct run_mount kinds[] = {
		{ .src = "/x" },     { .src = "/x", .readonly = true },
		{ .src = "/x/a" },   { .src = "/x/a", .readonly = true },
		{ .src = "/y" },     { .src = "s3://k/p" },
		{ .volume = "v" },   { .volume = "w", .readonly = true },
		{ .size = 1 << 20 }, { .src = "/y", .subpath = "b", .readonly = true },
	};
	static const char *const globs[] = { "/a/**", "/b/a/**", "**/b", "/a/a", "/**" };
	static const char *const verdicts[] = { "deny", "allow", "ask" };
	unsigned n = pick(5) ? 0 : 1 + pick(2);

	*o = (struct run_options){ 0 };
	for (unsigned i = 1 + pick(4); i--;)
		mount_make(o, &kinds[pick(ARRAY_LEN(kinds))]);
	o->policy = run_keep(o, xalloc((n + 1) * sizeof(*o->policy)));
	for (unsigned i = 0; i < n; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s %s %s", verdicts[pick(3)],
			 pick(3) ? "files" : "exec", globs[pick(ARRAY_LEN(globs))]);
		o->policy[i] = run_keep_text(o, text);
	}
	o->policy[n] = NULL;
}

static void child_make(struct run_options *o, const struct run_options *parent)
{
	*o = (struct run_options){ 0 };
	for (unsigned i = 1 + pick(3); i--;) {
		struct run_mount m = { .readonly = pick(2) };
		char path[64];

		switch (pick(8)) {
		case 0:
			m.volume = pick(2) ? "v" : "w";
			break;
		case 1:
			break;
		default:
			/* Mostly what is there. */
			snprintf(path, sizeof(path), "%s%s",
				 parent->nmounts && pick(5)
					 ? parent->mounts[pick(parent->nmounts)].dst
					 : paths[pick(PATHS)],
				 pick(2) ? "" : "/a");
			m.src = run_keep_text(o, path);
		}
		mount_make(o, &m);
	}
}

/* How many paths of the child show more than its parent has. */
static unsigned excess(const struct run_options *parent, const struct run_options *child,
		       unsigned *shown)
{
	unsigned wrong = 0;
	struct policy p;
	struct err e;

	policy_init(&p);
	if (policy_words(&p, parent->policy, "p", NULL, &e) < 0)
		wrong++;
	for (unsigned i = 0; i < PATHS; i++) {
		char what[128];
		bool readonly;

		if (!behind(child, paths[i], what, sizeof(what), &readonly))
			continue;
		++*shown;
		if (parent_has(parent, &p, what, readonly, paths[i]))
			continue;
		if (!wrong++)
			printf("# %s is %s\n", paths[i], what);
	}
	policy_fini(&p);
	return wrong;
}

static void print(const char *who, const struct run_options *o)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	run_options_write(o, 0, &b);
	printf("# %s %s}\n", who, (const char *)b.p);
	buf_free(&b);
}

static void families(void)
{
	unsigned wrong = 0, good = 0, bad = 0, shown = 0, silent = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct run_options cells[3];
		struct err e = { 0 };
		unsigned n = 1;

		parent_make(&cells[0]);
		if (run_policy_check(&cells[0], &e) < 0)
			cells[0].policy = NULL;
		for (; n < 3; n++) {
			unsigned more;

			e = (struct err){ 0 };
			child_make(&cells[n], &cells[n - 1]);
			cells[n].policy = cells[n - 1].policy;
			if (spec_attenuate(&cells[n - 1], &cells[n], &e) < 0) {
				bad++;
				silent += !e.kind;
				n++;
				break;
			}
			good++;
			more = excess(&cells[n - 1], &cells[n], &shown);
			wrong += more;
			if (more && wrong == more) {
				print("parent", &cells[n - 1]);
				print("child", &cells[n]);
			}
		}
		for (unsigned k = 0; k < n; k++)
			run_options_fini(&cells[k]);
	}
	eq(wrong, 0, "a sub-cell finds nothing that its parent has not, nor with more rights");
	eq(silent, 0, "what is refused has a reason");
	printf("# %u made, %u refused, %u paths shown\n", good, bad, shown);
	ok(good > ROUNDS / 10 && bad > ROUNDS / 10 && shown > ROUNDS,
	   "and much is made, much refused");
}

/* ---- by hand ---- */

/* What becomes of a child, as JSON; "CODE" of an error. */
static const char *child_of(const char *parent, const char *child)
{
	static char text[4096];
	struct run_options p = { 0 }, c = { 0 };
	struct buf b = { 0 };
	struct err e = { 0 };

	if (run_options_read(&p, parent, strlen(parent), &e) < 0 ||
	    run_options_read(&c, child, strlen(child), &e) < 0 || spec_attenuate(&p, &c, &e) < 0) {
		snprintf(text, sizeof(text), "%s", err_code(&e));
	} else {
		bool follows = false;

		/* None goes through links; they are compared without that word. */
		for (unsigned i = 0; i < c.nmounts; i++) {
			follows |= !c.mounts[i].nofollow;
			c.mounts[i].nofollow = false;
		}
		buf_add_text(&b, "{");
		run_options_write(&c, 0, &b);
		snprintf(text, sizeof(text), "%s}%s", (const char *)b.p, follows ? " follows" : "");
	}
	buf_free(&b);
	run_options_fini(&p);
	run_options_fini(&c);
	return text;
}

static void becomes(const char *parent, const char *child, const char *wanted)
{
	const char *is = child_of(parent, child);

	if (strcmp(is, wanted))
		printf("# %s of %s is: %s\n", child, parent, is);
	ok(!strcmp(is, wanted), child);
}

#define MOUNTS(text) "{\"mounts\":[" text "]}"
#define WORK "{\"source\":\"/src\",\"target\":\"/work\"}"
#define GIT "{\"source\":\"/src/.git\",\"target\":\"/work/.git\",\"readonly\":true}"

static void mounts(void)
{
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work/x/y\",\"target\":\"/w\"}"),
		MOUNTS("{\"source\":\"/src\",\"subpath\":\"x/y\",\"target\":\"/w\"}"));
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work/\",\"target\":\"/w\",\"readonly\":true}"),
		MOUNTS("{\"source\":\"/src\",\"target\":\"/w\",\"readonly\":true}"));
	becomes(MOUNTS("{\"source\":\"/src\",\"subpath\":\"a\",\"target\":\"/"
		       "w\",\"readonly\":true}"),
		MOUNTS("{\"source\":\"/w/b\",\"target\":\"/v\"}"),
		MOUNTS("{\"source\":\"/src\",\"subpath\":\"a/b\",\"target\":\"/"
		       "v\",\"readonly\":true}"));
	becomes(MOUNTS(WORK "," GIT), MOUNTS("{\"source\":\"/work\",\"target\":\"/w\"}"),
		MOUNTS("{\"source\":\"/src\",\"target\":\"/w\"},{\"source\":\"/src/.git\","
		       "\"target\":\"/w/.git\",\"readonly\":true}"));
	becomes(MOUNTS(WORK "," GIT), MOUNTS("{\"source\":\"/work/.git\",\"target\":\"/w\"}"),
		MOUNTS("{\"source\":\"/src/.git\",\"target\":\"/w\",\"readonly\":true}"));
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work/../etc\",\"target\":\"/w\"}"), "invalid");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work/..\",\"target\":\"/w\"}"), "invalid");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work//x\",\"target\":\"/w\"}"), "invalid");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/\",\"target\":\"/w\"}"), "invalid");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/workshop\",\"target\":\"/w\"}"), "forbidden");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/src\",\"target\":\"/w\"}"), "forbidden");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"s3://b/x\",\"target\":\"/w\"}"), "invalid");
	becomes(MOUNTS(WORK), MOUNTS("{\"source\":\"/work\",\"subpath\":\"x\",\"target\":\"/w\"}"),
		"invalid");
	becomes(MOUNTS("{\"source\":\"s3://b/p\",\"target\":\"/s\"}"),
		MOUNTS("{\"source\":\"/s/q\",\"target\":\"/s\"}"),
		MOUNTS("{\"source\":\"s3://b/p/q\",\"target\":\"/s\"}"));
	becomes(MOUNTS("{\"volume\":\"v\",\"target\":\"/v\",\"readonly\":true}"),
		MOUNTS("{\"volume\":\"v\",\"target\":\"/x\"}"),
		MOUNTS("{\"volume\":\"v\",\"target\":\"/x\",\"readonly\":true}"));
	becomes(MOUNTS("{\"volume\":\"v\",\"target\":\"/v\"}"),
		MOUNTS("{\"volume\":\"u\",\"target\":\"/x\"}"), "not_found");
	becomes(MOUNTS("{\"volume\":\"v\",\"target\":\"/v\"}"),
		MOUNTS("{\"source\":\"/v/x\",\"target\":\"/x\"}"), "unsupported");
	becomes(MOUNTS("{\"tmpfs\":true,\"target\":\"/t\"}"),
		MOUNTS("{\"source\":\"/t/x\",\"target\":\"/x\"}"), "forbidden");
	/* Of what is below, too, only what was asked for. */
	becomes(MOUNTS(WORK ",{\"source\":\"/o\",\"target\":\"/work/o\"}"),
		MOUNTS("{\"source\":\"/work\",\"target\":\"/w\",\"readonly\":true}"),
		MOUNTS("{\"source\":\"/src\",\"target\":\"/w\",\"readonly\":true},"
		       "{\"source\":\"/o\",\"target\":\"/w/o\",\"readonly\":true}"));
	/* What would be hidden comes first, and what is hidden is not there. */
	becomes(MOUNTS(WORK "," GIT),
		MOUNTS("{\"tmpfs\":true,\"target\":\"/w/.git\"},"
		       "{\"source\":\"/work\",\"target\":\"/w\"}"),
		MOUNTS("{\"source\":\"/src\",\"target\":\"/w\"},"
		       "{\"tmpfs\":true,\"target\":\"/w/.git\"}"));
	becomes(MOUNTS("{\"source\":\"/o\",\"target\":\"/work/o\"}," WORK),
		MOUNTS("{\"source\":\"/work/o\",\"target\":\"/o\"}"),
		MOUNTS("{\"source\":\"/src\",\"subpath\":\"o\",\"target\":\"/o\"}"));
	/* A directory that can be moved would take what is mounted in it away. */
	becomes(MOUNTS(WORK ",{\"tmpfs\":true,\"target\":\"/work/a/b\"}"),
		MOUNTS("{\"source\":\"/work/c\",\"target\":\"/w\"}"), "forbidden");
	/* Rules are about paths. */
	becomes("{\"policy\":[\"deny files /work/key read\"],\"mounts\":[" WORK "]}",
		MOUNTS("{\"source\":\"/work\",\"target\":\"/w\"}"), "forbidden");
	becomes("{\"policy\":[\"deny files /work/key read\"],\"mounts\":[" WORK "]}",
		MOUNTS("{\"source\":\"/work/key\",\"target\":\"/w\"}"), "forbidden");
	becomes("{\"policy\":[\"deny files /work/key read\"],\"mounts\":[" WORK "]}",
		MOUNTS("{\"source\":\"/work\",\"target\":\"/work\"}"), MOUNTS(WORK));
	becomes("{\"policy\":[\"deny exec /**\",\"allow exec /usr/bin/git\"],\"mounts\":[" WORK
		"]}",
		MOUNTS("{\"source\":\"/work\",\"target\":\"/usr/bin\"}"), "forbidden");
	becomes("{\"policy\":[\"deny exec /**\",\"allow exec /usr/bin/git\"]}",
		MOUNTS("{\"tmpfs\":true,\"target\":\"/usr/bin\"}"), "forbidden");
}

static void others(void)
{
	becomes("{\"image\":\"debian\"}", "{}", "{\"image\":\"debian\"}");
	becomes("{}", "{\"ports\":[\"80:80\"]}", "forbidden");
	becomes("{}", "{\"fast\":\"off\"}", "forbidden");
	becomes("{\"secrets\":[\"a\",\"b\"]}", "{\"secrets\":[\"b\"]}", "{\"secrets\":[\"b\"]}");
	becomes("{\"secrets\":[\"a\"]}", "{\"secrets\":[\"b\"]}", "not_found");
	becomes("{\"secrets\":[\"a\"],\"tools\":[\"t\"]}", "{}", "{}");
	becomes("{}", "{\"tools\":[\"t\"]}", "not_found");
	becomes("{\"journal\":\"changes\"}", "{}", "{\"journal\":\"changes\"}");
	becomes("{\"journal\":\"changes\"}", "{\"journal\":\"all\"}", "{\"journal\":\"all\"}");
	becomes("{\"journal\":\"changes\"}", "{\"journal\":\"off\"}", "forbidden");
	becomes("{\"journal\":\"all\"}", "{\"journal_full\":\"continue\"}", "forbidden");
	becomes("{}", "{\"health\":{\"command\":[\"true\"],\"interval\":0.99}}", "forbidden");
	becomes("{}", "{\"health\":{\"command\":[\"true\"],\"interval\":1}}",
		"{\"health\":{\"command\":[\"true\"],\"interval\":1}}");
	/* What nobody asked for the parent may have holes, and is not less for the child. */
	becomes("{}", "{\"journal_full\":\"continue\"}", "{\"journal_full\":\"continue\"}");
	becomes("{}", "{\"journal\":\"changes\"}", "forbidden");
	becomes("{}", "{\"journal\":\"off\"}", "forbidden");
	becomes("{}", "{\"journal\":\"all\"}", "{\"journal\":\"all\"}");
	becomes("{\"journal\":\"all\"}", "{}", "{\"journal\":\"all\"}");
	becomes("{\"journal\":\"off\"}", "{}", "{\"journal\":\"off\"}");
	becomes("{\"journal_full\":\"wait\"}", "{\"journal_full\":\"continue\"}", "forbidden");
	/* As the operator has it. */
	setenv("VIV_JOURNAL", "off", 1);
	becomes("{}", "{\"journal\":\"off\"}", "{\"journal\":\"off\"}");
	becomes("{}", "{}", "{}");
	unsetenv("VIV_JOURNAL");
	becomes("{\"journal_max\":4194304}", "{}", "{\"journal_max\":4194304}");
	becomes("{\"journal_max\":4194304}", "{\"journal_max\":4194305}", "forbidden");
	/* One that it makes smaller waits when it is full, whatever its parent's does. */
	becomes("{}", "{\"journal_max\":4194304}",
		"{\"journal_full\":\"wait\",\"journal_max\":4194304}");
	becomes("{\"journal_max\":8388608}", "{\"journal_max\":4194304}",
		"{\"journal_full\":\"wait\",\"journal_max\":4194304}");
	becomes("{}", "{\"journal_max\":4194304,\"journal_full\":\"continue\"}", "forbidden");
	becomes("{\"journal\":\"off\"}", "{\"journal_max\":4194304}",
		"{\"journal\":\"off\",\"journal_max\":4194304}");
	becomes("{\"max_net_out\":100}", "{}", "{\"max_net_out\":100}");
	becomes("{\"max_net_out\":100}", "{\"max_net_out\":99}", "{\"max_net_out\":99}");
	becomes("{\"max_net_out\":100}", "{\"max_net_out\":101}", "forbidden");
	/* A family shares these: vivd gives each its part. */
	becomes("{\"max_net_rate\":5000}", "{}", "{}");
	becomes("{\"max_connections\":5}", "{\"max_connections\":6}", "forbidden");
	becomes("{\"limits\":{\"memory\":10000000}}", "{\"limits\":{\"memory\":10000001}}",
		"forbidden");
	becomes("{\"limits\":{\"memory\":10000000}}", "{}", "{}");
	becomes("{\"limits\":{\"cpus\":1.5}}", "{\"limits\":{\"cpus\":2}}", "forbidden");
	becomes("{\"add_host\":[\"a:1.2.3.4\"]}", "{}", "{\"add_host\":[\"a:1.2.3.4\"]}");
	becomes("{\"add_host\":[\"a:1.2.3.4\"]}", "{\"add_host\":[\"a:1.2.3.5\"]}", "not_found");
	becomes("{}", "{\"add_host\":[\"a:1.2.3.5\"]}", "not_found");
	becomes("{\"s3_endpoint\":\"http://a\"}", "{\"s3_endpoint\":\"http://b\"}", "forbidden");
	becomes("{\"ulimits\":{\"nofile\":\"10:20\"}}", "{\"ulimits\":{\"nofile\":\"10:21\"}}",
		"forbidden");
	becomes("{\"ulimits\":{\"nofile\":\"10:20\"}}", "{}",
		"{\"ulimits\":{\"nofile\":\"10:20\"}}");
	becomes("{\"user\":\"agent\",\"hostname\":\"x\",\"labels\":{\"a\":\"b\"}}",
		"{\"user\":\"root\",\"env\":{\"A\":\"b\"}}",
		"{\"env\":{\"A\":\"b\"},\"user\":\"root\"}");
}

int main(void)
{
	srandom(17);
	families();
	mounts();
	others();
	return tap_end();
}
