/* The image that agents are installed into: programs that coding agents use, as this host has them.
 *
 * A copy of all of /usr would be many gigabytes, and an image without tools of little use. So a
 * cell on the host image looks up a list of Debian packages, with all that they depend on, in the
 * host's own package database, and writes the files of those that are installed as a tar archive,
 * which becomes an image. It sees what every cell on the host image sees: nothing of the host's
 * that could hold a key. Node and npm come along wherever they are installed. Documentation is left
 * out. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/agent.h"
#include "cli/image.h"
#include "cli/vivd.h"

#define NO_DPKG 9
#define NO_NODE 10

static const char packages[] =
	"base-files base-passwd bash bzip2 ca-certificates cmake coreutils curl dash debianutils "
	"diffutils fd-find file findutils g++ gawk gcc git gnupg grep gzip hostname iproute2 jq "
	"less "
	"libc-bin libc6-dev libstdc++6 locales login make mawk nano ncurses-base ncurses-bin "
	"openssh-client openssl patch perl pkg-config procps psmisc python3 python3-pip "
	"python3-venv "
	"ripgrep sed sqlite3 tar tmux tree tzdata unzip util-linux vim-tiny wget xz-utils zip";

/* $1: packages. Directories appear with what is in them. dpkg knows programs by the names that they
 * had before /bin became a link. */
static const char script[] =
	"set -e; cd /; export LC_ALL=C; t=/tmp/base; mkdir $t\n"
	"command -v dpkg-query >/dev/null || exit 9\n"
	"node=$(command -v node) && npm=$(command -v npm) || exit 10\n"
	"dpkg-query -W -f '${db:Status-Abbrev}|${Package}|${Provides}|${Pre-Depends}, "
	"${Depends}\\n' |"
	"awk -F'|' -v want=\"$1\" '\n"
	"	$1 !~ /^ii/ { next }\n"
	"	{\n"
	"		p = $2; rest = $0; sub(/^[^|]*\\|[^|]*\\|[^|]*\\|/, \"\", rest)\n"
	"		have[p] = 1; dep[p] = rest; n = split($3, a, /, */)\n"
	"		for (i = 1; i <= n; i++) {\n"
	"			sub(/[ (:].*/, \"\", a[i])\n"
	"			if (a[i] != \"\" && !(a[i] in gives)) gives[a[i]] = p\n"
	"		}\n"
	"	}\n"
	"	function real(x) {\n"
	"		sub(/^ +/, \"\", x); sub(/[ (:].*/, \"\", x)\n"
	"		return x in have ? x : x in gives ? gives[x] : \"\"\n"
	"	}\n"
	"	END {\n"
	"		n = split(want, q, /[ ,]+/)\n"
	"		for (i = 1; i <= n; i++) {\n"
	"			p = real(q[i]); if (p == \"\" || p in done) continue\n"
	"			done[p] = 1; print p; m = split(dep[p], d, /, */)\n"
	"			for (k = 1; k <= m; k++) {\n"
	"				c = split(d[k], alt, /\\|/)\n"
	"				for (j = 1; j <= c; j++)\n"
	"					if ((x = real(alt[j])) != \"\") { q[++n] = x; "
	"break }\n"
	"			}\n"
	"		}\n"
	"	}' >$t/packages\n"
	"xargs dpkg-query -L <$t/packages 2>/dev/null | awk '\n"
	"	/^\\/usr\\/share\\/(doc|man|info|locale|lintian|bug|menu|help|gtk-doc)(\\/|$)/ { "
	"next }\n"
	"	/^\\/usr\\/(lib\\/debug|src|games)(\\/|$)/ { next }\n"
	"	/^\\/(bin|sbin|lib|lib32|lib64|libx32)\\// { $0 = \"/usr\" $0 }\n"
	"	/^\\/(usr|opt)\\// { print substr($0, 2) }' | sort -u >$t/named\n"
	"find usr opt -xdev ! -type d 2>/dev/null | sort >$t/there\n"
	"{ comm -12 $t/named $t/there\n"
	"  find usr/bin usr/sbin usr/lib -maxdepth 2 -lname '/etc/alternatives/*'\n"
	"  for f in \"$node\" \"$(readlink -f \"$node\")\" \"$npm\" \"$(command -v npx)\"; do echo "
	"\"${f#/}\"; done\n"
	"  for f in bin sbin lib lib32 lib64 libx32; do [ ! -L $f ] || echo $f; done\n"
	"} | sed '/^$/d' | sort -u >$t/files\n"
	"r=$(readlink -f \"$npm\"); r=${r%/bin/*}; { echo etc; echo \"${r#/}\"; } >$t/trees\n"
	"cd $t; mkdir -p new/root new/tmp new/var/tmp new/run new/home new/work new/proc new/sys "
	"new/dev "
	"new/opt new/srv new/mnt new/usr/local/bin\n"
	"[ ! -e /usr/bin/fdfind ] || ln -s /usr/bin/fdfind new/usr/local/bin/fd\n"
	"chmod 1777 new/tmp new/var/tmp; chmod 700 new/root\n"
	"exec tar -c -f - --format=posix --numeric-owner --owner=0 --group=0 --sort=name -C / "
	"--no-recursion -T $t/files --recursion -T $t/trees -C $t/new .\n";

struct child {
	pid_t pid;
	int out;
};

static int child_start(struct child *c, const char *want, struct err *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(pair[1], 1);
		execl("/proc/self/exe", "viv", "run", "--quiet", "--", "/bin/sh", "-c", script,
		      "sh", want, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	c->out = pair[0];
	return c->pid < 0 ? err_set(e, ERR_FAILED, "cannot start a process: %s", strerror(errno))
			  : 0;
}

static int child_wait(struct child *c)
{
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* All was sent: did the cell end well? */
static int child_check(void *arg, struct err *e)
{
	switch (child_wait(arg)) {
	case 0:
		return 0;
	case NO_DPKG:
		return err_set(e, ERR_FAILED,
			       "this host has no dpkg, so its programs cannot be looked up" REMEDY
			       "give an image with node and npm: --base IMAGE");
	case NO_NODE:
		return err_set(e, ERR_FAILED,
			       "this host has no node or no npm, which agents are installed "
			       "with" REMEDY
			       "install the packages 'nodejs' and 'npm', or give an image that has "
			       "them: --base IMAGE");
	default:
		return err_set(e, ERR_FAILED, "the programs of this host could not be copied");
	}
}

static bool list_is_plain(const char *s)
{
	return strlen(s) < 4000 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.,:") == strlen(s);
}

int agent_base_make(const struct args *a, const char *tag, const char *include, struct err *e)
{
	struct child c = { 0 };
	struct image_upload u = { .name = "the programs of this host",
				  .quiet = arg_is_on(a, "quiet"),
				  .silent = true,
				  .whole = child_check,
				  .arg = &c };
	struct buf path = { 0 }, want = { 0 };
	int r;

	if (include && !list_is_plain(include))
		return err_set(e, ERR_USAGE,
			       "--include takes names of packages with commas between them");
	step_print(u.quiet, "copying programs of this host into the image '%s' (once)", tag);
	buf_add_text(&want, packages);
	buf_add_text(&want, include ? "," : "");
	buf_add_text(&want, include ? include : "");
	buf_add_text(&path, "/v1/images?format=tar");
	query_add(&path, "command", "/bin/bash");
	query_add(&path, "tag", tag);
	interrupt_allow();
	r = child_start(&c, (char *)want.p, e);
	u.fd = c.out;
	if (!r)
		r = image_put(a, (char *)path.p, &u, e);
	if (c.pid > 0) {
		kill(c.pid, SIGTERM);
		close(c.out);
		child_wait(&c);
	}
	/* The request that was broken off was on it. */
	if (r < 0)
		vivd_disconnect();
	buf_free(&path);
	buf_free(&want);
	return r;
}
