/* viv image bootstrap: a Debian root made by mmdebstrap, which does it reproducibly: its tar stream
 * goes to vivd as it comes, and is an image when mmdebstrap has ended well. Packages are taken from
 * where this host's apt takes them; a release that the host does not use comes from the same
 * mirror. Needs no root rights where mmdebstrap needs none. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/image.h"
#include "cli/vivd.h"
#include "store/index.h"

#define LINES_MAX 16
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

struct bootstrap {
	const char *suite, *include, *variant;
	char *lines[LINES_MAX]; /* of a sources.list */
	unsigned nlines;
	pid_t pid; /* 0: it has ended */
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
	/* It does not go on when viv is gone. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(out, 1);
	execvp("mmdebstrap", argv);
	_exit(127);
}

static int child_start(struct bootstrap *b, bool quiet, struct err *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
	fflush(stdout);
	b->pid = fork();
	if (b->pid == 0)
		child_run(b, pair[1], quiet);
	close(pair[1]);
	b->out = pair[0];
	return b->pid < 0 ? err_set(e, ERR_FAILED, "cannot start mmdebstrap: %s", strerror(errno))
			  : 0;
}

static int child_wait(struct bootstrap *b)
{
	int status = 0;

	while (waitpid(b->pid, &status, 0) < 0 && errno == EINTR)
		;
	b->pid = 0;
	return status;
}

/* All was sent: whether the program was happy with what it did. */
static int child_check(void *arg, struct err *e)
{
	int status = child_wait(arg);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(e, ERR_FAILED,
			       "mmdebstrap could not be run" REMEDY
			       "install the package 'mmdebstrap'");
	return status ? err_set(e, ERR_FAILED, "mmdebstrap failed; what it says is above") : 0;
}

static bool word_is_plain(const char *s, const char *more)
{
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || strchr(more, *s)))
			return false;
	return true;
}

static int words_read(const struct args *a, struct bootstrap *b, struct err *e)
{
	const char *variant = arg_value(a, "variant");

	b->suite = a->words[0];
	b->include = arg_value(a, "include");
	b->variant = variant ? variant : "minbase";
	if (!*b->suite || *b->suite == '-' || !word_is_plain(b->suite, "-./_"))
		return err_set(e, ERR_USAGE, "'%s' is not a release" REMEDY "bookworm for example",
			       b->suite);
	if (!word_is_plain(b->variant, "-") ||
	    (b->include &&
	     (strlen(b->include) > 4000 || !word_is_plain(b->include, "-+.,:=~_ /?"))))
		return err_set(e, ERR_USAGE,
			       "--include takes names of packages with commas between them, "
			       "--variant a name");
	return 0;
}

int image_bootstrap_main(struct args *a, struct err *e)
{
	struct bootstrap b = { 0 };
	struct image_upload u = {
		.name = "mmdebstrap", .quiet = true, .whole = child_check, .arg = &b
	};
	const char *mirror = arg_value(a, "mirror");
	struct buf path = { 0 };
	int r;

	if (words_read(a, &b, e) < 0)
		return -1;
	if (mirror)
		line_add(&b, mirror, b.suite, "main");
	else
		sources_find(&b);
	buf_add_text(&path, "/v1/images?format=tar");
	query_add(&path, "command", "/bin/bash");
	query_add(&path, "tag", arg_value(a, "tag"));
	interrupt_allow();
	r = child_start(&b, arg_is_on(a, "quiet") || !isatty(STDERR_FILENO), e);
	u.fd = b.out;
	if (!r)
		r = image_put(a, (char *)path.p, &u, e);
	if (b.pid > 0) {
		kill(b.pid, SIGTERM);
		close(b.out);
		child_wait(&b);
	}
	for (unsigned i = 0; i < b.nlines; i++)
		free(b.lines[i]);
	buf_free(&path);
	return r;
}
