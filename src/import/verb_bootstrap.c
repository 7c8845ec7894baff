/* viv image bootstrap: a Debian root made by mmdebstrap, which does it reproducibly: its tar stream
 * is imported as it comes. Packages are taken from where this host's apt takes them; a release that
 * the host does not use comes from the same mirror. Needs no root rights where mmdebstrap needs
 * none. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import/import.h"
#include "import/progress.h"
#include "import/verbs.h"

#define LINES_MAX 16
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

struct bootstrap {
	const char *suite, *include, *variant;
	char *lines[LINES_MAX]; /* of a sources.list */
	unsigned nlines;
	pid_t pid;
	int out;
};

static void line_add(struct bootstrap *b, const char *uri, const char *release,
		     const char *components)
{
	if (b->nlines == LINES_MAX ||
	    asprintf(&b->lines[b->nlines], "deb %s %s %s", uri, release, components) < 0)
		return;
	b->nlines++;
}

/* Whether a release of the host's is the suite, or its updates. */
static bool release_fits(const char *release, const char *suite)
{
	size_t n = strlen(suite);

	return !strncmp(release, suite, n) &&
	       (!release[n] || !strcmp(release + n, "-updates") ||
		!strcmp(release + n, "-security") || !strcmp(release + n, "/updates"));
}

/* Looks at one line of 'apt-get indextargets': URI RELEASE COMPONENT CODENAME. */
static void target_use(struct bootstrap *b, char *line, char **mirror)
{
	char *uri = strtok(line, " \n"), *release = strtok(NULL, " \n");
	char *component = strtok(NULL, " \n"), *origin = strtok(NULL, " \n");

	if (!origin)
		return;
	if (release_fits(release, b->suite))
		line_add(b, uri, release, component);
	else if (!*mirror && !strcmp(origin, "Debian") && !strpbrk(release, "-/"))
		*mirror = strdup(uri);
}

/* Where the host's apt gets Debian from; nothing when there is no apt: mmdebstrap knows a
 * mirror. */
static void sources_find(struct bootstrap *b)
{
	FILE *f = popen("apt-get indextargets --format "
			"'$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' "
			"'Created-By: Packages' 2>/dev/null",
			"r");
	char *line = NULL, *mirror = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0)
		target_use(b, line, &mirror);
	pclose(f);
	free(line);
	if (!b->nlines && mirror)
		line_add(b, mirror, b->suite, "main");
	free(mirror);
}

static _Noreturn void child_run(const struct bootstrap *b, int out, bool quiet)
{
	static char program[] = "mmdebstrap", format[] = "--format=tar", silent[] = "--quiet",
		    to[] = "-";
	char variant[64], include[4096];
	char *argv[LINES_MAX + 8];
	unsigned n = 0;

	snprintf(variant, sizeof(variant), "--variant=%s", b->variant);
	snprintf(include, sizeof(include), "--include=%s", b->include ? b->include : "");
	argv[n++] = program;
	argv[n++] = format;
	argv[n++] = variant;
	if (b->include)
		argv[n++] = include;
	if (quiet)
		argv[n++] = silent;
	argv[n++] = strdup(b->suite);
	argv[n++] = to;
	for (unsigned i = 0; i < b->nlines; i++)
		argv[n++] = b->lines[i];
	argv[n] = NULL;
	/* Nothing of the caller's surroundings or of the moment is to show in the result. */
	setenv("SOURCE_DATE_EPOCH", TEXT_OF(INDEX_TIME), 1);
	setenv("PYTHONHASHSEED", "0", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("LANGUAGE");
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	dup2(out, 1);
	execvp("mmdebstrap", argv);
	fprintf(stderr, "viv: cannot run mmdebstrap: %s; install the package 'mmdebstrap'\n",
		strerror(errno));
	_exit(127);
}

static int child_start(struct bootstrap *b, bool quiet, struct err *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
	fflush(stdout);
	b->pid = fork();
	if (b->pid < 0)
		return err_set(e, ERR_FAILED, "cannot start mmdebstrap: %s", strerror(errno));
	if (!b->pid)
		child_run(b, pair[1], quiet);
	close(pair[1]);
	b->out = pair[0];
	return 0;
}

/* The archive first; then whether the program was happy with what it did. */
static int child_import(struct import *im, const void *arg, struct err *e)
{
	const struct bootstrap *b = arg;
	const struct tar_source src = { .fd = b->out, .shown = "mmdebstrap", .strict = true };
	int result = import_tar(im, &src, e), status;

	if (result < 0)
		kill(b->pid, SIGTERM);
	close(b->out);
	while (waitpid(b->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(e, ERR_FAILED, "mmdebstrap could not be run");
	if (!result && status)
		return err_set(e, ERR_FAILED, "mmdebstrap failed");
	if (result < 0 && WIFEXITED(status) && WEXITSTATUS(status))
		return err_set(e, ERR_FAILED, "mmdebstrap failed; what it says is above");
	if (!result) {
		config_add(&im->config, CONFIG_CMD, "/bin/bash", 9);
		config_add(&im->config, CONFIG_OS, "linux", 5);
#ifdef __x86_64__
		config_add(&im->config, CONFIG_ARCH, "amd64", 5);
#endif
	}
	return result;
}

static bool word_is_plain(const char *s, const char *more)
{
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || strchr(more, *s)))
			return false;
	return true;
}

int verb_bootstrap(struct store *s, int argc, char **argv)
{
	const char *tag = NULL, *mirror = NULL;
	struct import_options o = { 0 };
	struct bootstrap b = { .variant = "minbase" };
	const struct option options[] = {
		{ "tag", 't', &tag, NULL },	    { "quiet", 'q', NULL, &o.quiet },
		{ "include", 0, &b.include, NULL }, { "variant", 0, &b.variant, NULL },
		{ "mirror", 0, &mirror, NULL },
	};
	char hash[HASH_TEXT];
	struct err e;
	int result;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1) < 0)
		return ERR_USAGE;
	b.suite = argv[1];
	if (!*b.suite || *b.suite == '-' || !word_is_plain(b.suite, "-./_"))
		return fail(ERR_USAGE, "'%s' is no release" REMEDY "bookworm for example", b.suite);
	if (!word_is_plain(b.variant, "-") ||
	    (b.include && (strlen(b.include) > 4000 || !word_is_plain(b.include, "-+.,:=~_ /?"))))
		return fail(ERR_USAGE,
			    "--include takes names of packages with commas between them, "
			    "--variant a name");
	if (tag && !tag_is_valid(tag)) {
		tag_set(s, tag, "", &e);
		return report(&e);
	}
	if (mirror)
		line_add(&b, mirror, b.suite, "main");
	else
		sources_find(&b);
	result = child_start(&b, o.quiet || !isatty(2), &e);
	/* mmdebstrap shows how far it is. */
	o.quiet = true;
	if (!result)
		result = image_import(s, &o, tag, hash, child_import, &b, &e);
	/* It was not even looked at: the store could not be had. */
	if (result < 0 && b.pid > 0 && waitpid(b.pid, NULL, WNOHANG) == 0) {
		kill(b.pid, SIGTERM);
		close(b.out);
		while (waitpid(b.pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (unsigned i = 0; i < b.nlines; i++)
		free(b.lines[i]);
	if (result < 0)
		return report(&e);
	image_made(hash, tag);
	return 0;
}
