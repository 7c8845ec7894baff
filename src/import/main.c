/* viv-store: the program that writes the store. 'viv image' runs it; it is a program of its own
 * because it links OpenSSL and libarchive, which viv, the starter of cells, does without. */
#include <locale.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "import/progress.h"
#include "import/verbs.h"

static const struct verb verbs[] = {
	{ "import", "SRC|-", "make an image from files", verb_import,
	  "SRC is a directory; a tar archive, plain or compressed by gzip, bzip2, xz or zstd; a "
	  "container image (an\nOCI layout or an archive of one, or what 'docker save' writes); "
	  "or, with "
	  "--format nix, a list of paths of a\nNix store. '-' is standard input. The image's hash "
	  "is "
	  "printed last.\n\n"
	  "  --tag NAME, -t          give the image a name\n"
	  "  --quiet, -q             print the hash alone, no warnings\n"
	  "  --format WHAT           dir, tar, oci, docker or nix; by its looks if not given\n"
	  "  --ref NAME              which of several container images\n"
	  "  --owner UID[:GID]       let all files belong to one user\n"
	  "  --max-size SIZE         refuse more content than that (64G)\n"
	  "  --max-entries N         refuse more files than that (4000000)\n" },
	{ "bootstrap", "SUITE", "make an image of a Debian release", verb_bootstrap,
	  "SUITE is bookworm for example. mmdebstrap does the work, with the mirror of this host's "
	  "apt; "
	  "the same packages\ngive the same image.\n\n"
	  "  --include P,Q           more packages\n"
	  "  --variant NAME          minbase, or another of mmdebstrap's (essential, apt, "
	  "standard)\n"
	  "  --mirror URL            another mirror\n"
	  "  --tag NAME, -t          give the image a name\n"
	  "  --quiet, -q             print the hash alone\n" },
	{ "ls", "", "list the images", verb_ls,
	  "  --json                  as JSON\n"
	  "  --quiet, -q             only the hashes\n" },
	{ "inspect", "IMAGE", "tell about one image", verb_inspect,
	  "  --json                  as JSON\n" },
	{ "export", "IMAGE", "write an image as a tar archive or OCI layout", verb_export,
	  "  --output FILE, -o       to a file instead of standard output; .gz, .xz and .zst "
	  "compress\n"
	  "  --format oci            an OCI layout; FILE is the directory to make\n" },
	{ "tag", "IMAGE NAME", "give an image one more name", verb_tag, "" },
	{ "rm", "IMAGE...", "remove a tag, and the image with its last tag", verb_rm,
	  "A tag is removed; an image goes with its last one, or when it is given by its hash.\n"
	  "What cells or disks use stays.\n\n"
	  "  --force, -f             by hash: remove all its tags as well\n" },
	{ "gc", "", "remove contents that no image uses", verb_gc,
	  "  --untagged              first remove images that have no tag and that nothing uses\n"
	  "  --quiet, -q             print nothing\n" },
	{ "verify", "[IMAGE...]", "hash everything again and report damage", verb_verify,
	  "  --quiet, -q             print only damage\n" },
};

static void usage(FILE *to)
{
	fprintf(to, "Usage: viv image COMMAND [OPTIONS]\n\n"
		    "Images are immutable trees of files, named by their content and by tags.\n\n");
	for (unsigned i = 0; i < ARRAY_LEN(verbs); i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s %s", verbs[i].name, verbs[i].arguments);
		fprintf(to, "  viv image %-22s %s\n", left, verbs[i].summary);
	}
	fprintf(to, "\nIMAGE is a tag, a hash, or the first 6 digits of a hash or more.\n"
		    "'viv image COMMAND --help' explains one of them.\n"
		    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 5 in use or "
		    "ambiguous.\n");
}

static void verb_help(const struct verb *v)
{
	printf("Usage: viv image %s %s%s[OPTIONS]\n\n%c%s.\n", v->name, v->arguments,
	       *v->arguments ? " " : "", v->summary[0] & ~0x20, v->summary + 1);
	if (*v->help)
		printf("\n%s", v->help);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h") || !strcmp(arg, "help");
}

static void environment_prepare(void)
{
	struct rlimit files;

	/* Names in archives may be in UTF-8, whatever the terminal's language is. */
	setlocale(LC_CTYPE, "C.UTF-8");
	umask(022);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = MIN(files.rlim_max, (rlim_t)65536);
		setrlimit(RLIMIT_NOFILE, &files);
	}
	interrupt_catch();
}

int main(int argc, char **argv)
{
	const struct verb *v = NULL;
	struct store s;
	struct err e;
	int status;

	if (argc < 2) {
		usage(stderr);
		return ERR_USAGE;
	}
	if (is_help(argv[1])) {
		usage(stdout);
		return 0;
	}
	for (unsigned i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			v = &verbs[i];
	if (!v)
		return usage_failed("unknown command 'image %s'; 'viv image --help' lists them",
				    argv[1]);
	for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			verb_help(v);
			return 0;
		}
	environment_prepare();
	if (store_open(&s, &e) < 0)
		return failed(&e);
	status = v->main(&s, argc - 1, argv + 1);
	if (fflush(stdout) && !status) {
		fprintf(stderr, "viv: cannot write the output\n");
		status = ERR_FAILED;
	}
	interrupt_finish();
	return status;
}
