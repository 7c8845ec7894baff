/* A clean /etc: files made from the cell's own spec, and the one table of what is shown of the
 * host's.
 *
 * The table lists what may be seen; anything else does not exist. What may hold passwords, keys or
 * tokens stays out even where it is readable by everybody on the host: gitconfig, npmrc, pip.conf,
 * wgetrc, ssh, ssl/private, cron, sudoers, shadow. A file that the host does not let everybody read
 * cannot be opened even when it is listed. */
#include "kernel/fs/image/etc.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kernel/fs/image/trust.h"
#include "kernel/platform/cell.h"

/* A '*' at the end stands for any ending. */
static const struct shown {
	const char *dir, *name;
} shown[] = {
	{ "", "usr" },
	{ "", "bin" },
	{ "", "sbin" },
	{ "", "lib" },
	{ "", "lib32" },
	{ "", "lib64" },
	{ "", "libx32" },
	{ "", "opt" },
	{ "etc", "ld.so.cache" },
	{ "etc", "ld.so.conf" },
	{ "etc", "ld.so.conf.d" },
	{ "etc", "ld-musl-*" },
	{ "etc", "alternatives" },
	{ "etc", "ca-certificates" },
	{ "etc", "ca-certificates.conf" },
	{ "etc", "python3*" },
	{ "etc", "perl" },
	{ "etc", "java*" },
	{ "etc", "localtime" },
	{ "etc", "timezone" },
	{ "etc", "locale.alias" },
	{ "etc", "protocols" },
	{ "etc", "services" },
	{ "etc", "rpc" },
	{ "etc", "networks" },
	{ "etc", "mime.types" },
	{ "etc", "magic" },
	{ "etc", "magic.mime" },
	{ "etc", "terminfo" },
	{ "etc", "bash.bashrc" },
	{ "etc", "inputrc" },
	{ "etc", "skel" },
	{ "etc", "vim" },
	{ "etc", "nanorc" },
	{ "etc", "fonts" },
	{ "etc", "gai.conf" },
	{ "etc", "xattr.conf" },
	{ "etc", "debian_version" },
	{ "etc", "lsb-release" },
	{ "etc", "debconf.conf" },
	{ "etc", "dpkg" },
	{ "etc", "apt" },
	{ "etc", "emacs" },
	{ "etc", "lua" },
	{ "etc", "ghc" },
	{ "etc", "php" },
	{ "etc", "ruby*" },
	{ "etc", "fpc*" },
	{ "etc", "gnucobol" },
	{ "etc", "groff" },
	{ "etc", "manpath.config" },
	{ "etc", "xml" },
	{ "etc", "sgml" },
	{ "etc", "adduser.conf" },
	{ "etc", "deluser.conf" },
	{ "etc", "login.defs" },
	{ "etc", "ImageMagick-*" },
	{ "etc", "R" },
	{ "etc", "X11" },
	{ "etc", "chromium" },
	{ "etc", "chromium.d" },
	{ "etc", "glvnd" },
	{ "etc", "gtk-*" },
	{ "etc", "libreoffice" },
	{ "etc", "maven" },
	{ "etc", "mc" },
	{ "etc", "octave*" },
	{ "etc", "openmpi" },
	{ "etc", "papersize" },
	{ "etc", "sbclrc" },
	{ "etc", "screenrc" },
	{ "etc", "texmf" },
	{ "etc", "vulkan" },
	{ "etc/ssl", "certs" },
	{ "etc/ssl", "openssl.cnf" },
	/* Parts of what is in /usr that links of it lead to. */
	{ "var/lib", "ghc" },
	{ "var/lib", "texmf" },
	/* What is installed in /usr, so that dependencies of packages resolve. Not statoverride: it
	 * names groups of the host that a cell has not. */
	{ "var/lib/dpkg", "alternatives" },
	{ "var/lib/dpkg", "arch" },
	{ "var/lib/dpkg", "diversions" },
	{ "var/lib/dpkg", "info" },
	{ "var/lib/dpkg", "status" },
	{ "var/lib/dpkg", "triggers" },
};

/* Not shown although their directory is. */
static const struct shown hidden[] = {
	{ "etc/apt", "auth.conf*" },
	{ "etc/chromium.d", "apikeys" },
	{ "etc/maven", "settings*" },
	{ "etc/R", "Renviron.site" },
	{ "etc/R", "Rprofile.site" },
	{ "var/lib/dpkg/triggers", "Lock" }, /* only root may read it: a cell has its own */
};

static bool name_matches(const char *pattern, const char *name, size_t len)
{
	size_t n = strlen(pattern);

	if (n > 0 && pattern[n - 1] == '*')
		return len >= n - 1 && memcmp(pattern, name, n - 1) == 0;
	return len == n && memcmp(pattern, name, n) == 0;
}

bool hostimage_shows(const char *dir, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (strcmp(shown[i].dir, dir) == 0 && name_matches(shown[i].name, name, len))
			return true;
	return false;
}

bool hostimage_hides(const char *dir, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (strcmp(hidden[i].dir, dir) == 0 && name_matches(hidden[i].name, name, len))
			return true;
	return false;
}

bool hostimage_hides_in(const char *dir, const char *sub, size_t len)
{
	size_t n = strlen(dir);

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
		const char *h = hidden[i].dir;

		if (strncmp(h, dir, n) == 0 && h[n] == '/' && strlen(h + n + 1) == len &&
		    memcmp(h + n + 1, sub, len) == 0)
			return true;
	}
	return false;
}

/* ---- the generated files ---- */

static int text(char *buf, size_t size, const char *s)
{
	return snprintf(buf, size, "%s", s);
}

static int make_passwd(char *buf, size_t size)
{
	int n = text(buf, size,
		     "root:x:0:0:root:/root:/bin/bash\n"
		     "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
		     "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
		     "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
		     "sync:x:4:65534:sync:/bin:/bin/sync\n"
		     "games:x:5:60:games:/usr/games:/usr/sbin/nologin\n"
		     "man:x:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
		     "lp:x:7:7:lp:/var/spool/lpd:/usr/sbin/nologin\n"
		     "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
		     "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
		     "backup:x:34:34:backup:/var/backups:/usr/sbin/nologin\n"
		     "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n");

	if (cell.spec.user_uid != 0)
		n += snprintf(buf + n, size - n, "agent:x:%u:%u:agent:/home/agent:/bin/bash\n",
			      cell.spec.user_uid, cell.spec.user_gid);
	return n + snprintf(buf + n, size - n,
			    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
}

static int make_group(char *buf, size_t size)
{
	int n = text(buf, size,
		     "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:"
		     "\nlp:x:7:\n"
		     "mail:x:8:\nman:x:12:\nkmem:x:15:\ndialout:x:20:\ncdrom:x:24:\nsudo:x:27:"
		     "\naudio:x:29:\n"
		     "www-data:x:33:\nbackup:x:34:\noperator:x:37:\nsrc:x:40:\nshadow:x:42:\nutmp:"
		     "x:43:\n"
		     "video:x:44:\nplugdev:x:46:\nstaff:x:50:\ngames:x:60:\nusers:x:100:\n");

	if (cell.spec.user_gid != 0)
		n += snprintf(buf + n, size - n, "agent:x:%u:\n", cell.spec.user_gid);
	return n + snprintf(buf + n, size - n, "nogroup:x:65534:\n");
}

static const char *cell_hostname(void)
{
	return cell.spec.hostname ? cell.spec.hostname : "cell";
}

/* Whether a line of the text gives an address to name. */
static bool hosts_has(const char *text, size_t len, const char *name)
{
	size_t want = strlen(name), i = 0;

	while (i < len) {
		uint32_t field = 0;

		while (i < len && text[i] != '\n' && text[i] != '#') {
			size_t n = 0;

			while (i + n < len && !strchr(" \t\r\n#", text[i + n]) && text[i + n])
				n++;
			if (n == want && field && !strncasecmp(text + i, name, n))
				return true;
			field += n > 0;
			i += n ? n : 1;
		}
		while (i < len && text[i] != '\n')
			i++;
		i++;
	}
	return false;
}

#define HOSTS_ADD 256

size_t etc_hosts_room(void)
{
	return HOSTS_ADD + (cell.spec.hosts ? strlen(cell.spec.hosts) : 0);
}

size_t etc_hosts_complete(char *buf, size_t len, size_t size)
{
	static const char v4[] = "127.0.0.1\tlocalhost\n",
			  v6[] = "::1\tlocalhost ip6-localhost ip6-loopback\n";
	const char *own = cell_hostname();
	bool local = hosts_has(buf, len, "localhost"), named = hosts_has(buf, len, own);
	const char *more = cell.spec.hosts ? cell.spec.hosts : "";
	char add[HOSTS_ADD];
	int n = 0;

	/* A line of its own for the cell's name, or its canonical name would be localhost. */
	if (len && buf[len - 1] != '\n')
		n += snprintf(add + n, sizeof(add) - (size_t)n, "\n");
	if (!local)
		n += snprintf(add + n, sizeof(add) - (size_t)n, "%s", v4);
	if (!named && strcmp(own, "localhost"))
		n += snprintf(add + n, sizeof(add) - (size_t)n, "%s\t%.64s\n",
			      cell.spec.network ? "198.19.255.2" : "127.0.0.1", own);
	if (!local)
		n += snprintf(add + n, sizeof(add) - (size_t)n, "%s", v6);
	if ((local && named && !*more) || (size_t)n + strlen(more) > size - len)
		return len;
	memcpy(buf + len, add, (size_t)n);
	memcpy(buf + len + n, more, strlen(more));
	return len + (size_t)n + strlen(more);
}

static int make_hosts(char *buf, size_t size)
{
	return (int)etc_hosts_complete(buf, 0, size);
}

static int make_hostname(char *buf, size_t size)
{
	return snprintf(buf, size, "%.64s\n", cell_hostname());
}

static int make_resolv_conf(char *buf, size_t size)
{
	/* The same without a network, which the cell may get while it runs; nobody waits for long
	 * until then. */
	return snprintf(buf, size, "nameserver 198.19.255.1\n%s%s%s%s",
			cell.spec.search ? "search " : "", cell.spec.search ? cell.spec.search : "",
			cell.spec.search ? "\n" : "",
			cell.spec.network ? "" : "options timeout:2\n");
}

static int make_nsswitch_conf(char *buf, size_t size)
{
	return text(buf, size,
		    "passwd:\tfiles\ngroup:\tfiles\nshadow:\tfiles\ngshadow:\tfiles\n\n"
		    "hosts:\tfiles dns\nnetworks:\tfiles\n\n"
		    "protocols:\tfiles\nservices:\tfiles\nethers:\tfiles\nrpc:\tfiles\n");
}

static int make_shells(char *buf, size_t size)
{
	return text(buf, size,
		    "# /etc/shells: valid login shells\n"
		    "/bin/sh\n/usr/bin/sh\n/bin/bash\n/usr/bin/bash\n/bin/dash\n/usr/bin/dash\n");
}

static int make_profile(char *buf, size_t size)
{
	return text(buf, size,
		    "# /etc/profile: for login shells\n"
		    "if [ \"$(id -u)\" -eq 0 ]; then\n"
		    "  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
		    "else\n"
		    "  PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games\n"
		    "fi\n"
		    "export PATH\n\n"
		    "if [ \"${PS1-}\" ]; then\n"
		    "  if [ \"${BASH-}\" ] && [ \"$BASH\" != /bin/sh ]; then\n"
		    "    PS1='\\h:\\w\\$ '\n"
		    "    if [ -f /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi\n"
		    "  elif [ \"$(id -u)\" -eq 0 ]; then\n"
		    "    PS1='# '\n"
		    "  else\n"
		    "    PS1='$ '\n"
		    "  fi\n"
		    "fi\n\n"
		    "if [ -d /etc/profile.d ]; then\n"
		    "  for i in /etc/profile.d/*.sh; do\n"
		    "    if [ -r \"$i\" ]; then . \"$i\"; fi\n"
		    "  done\n"
		    "  unset i\n"
		    "fi\n");
}

static int make_machine_id(char *buf, size_t size)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(cell.random_id); i++)
		n += snprintf(buf + n, size - n, "%02x", cell.random_id[i]);
	return n + snprintf(buf + n, size - n, "\n");
}

static int make_fstab(char *buf, size_t size)
{
	return text(buf, size, "# The mounts of a cell are given from outside.\n");
}

static int make_host_conf(char *buf, size_t size)
{
	return text(buf, size, "multi on\n");
}

/* The host's rules of PAM name modules with parameters that can be secrets, and look at files that
 * a cell has not. These are the plain ones: a password is asked for, except by what root runs to
 * become somebody or to change an account. Accounts do not expire: there is no shadow to say so. */
#define PAM_RULES                                                     \
	"auth required pam_unix.so\naccount required pam_permit.so\n" \
	"password required pam_unix.so sha512\nsession required pam_permit.so\n"

static int make_pam_other(char *buf, size_t size)
{
	return text(buf, size, PAM_RULES);
}

static int make_pam_root(char *buf, size_t size)
{
	return text(buf, size, "auth sufficient pam_rootok.so\n" PAM_RULES);
}

const struct etc_file etc_files[] = {
	{ "passwd", make_passwd, NULL },
	{ "group", make_group, NULL },
	{ "hosts", make_hosts, NULL },
	{ "hostname", make_hostname, NULL },
	{ "resolv.conf", make_resolv_conf, NULL },
	{ "viv-ca.pem", trust_make_bundle, NULL },
	{ "viv-bundle.pem", trust_make_bundle, NULL },
	{ "viv-cacerts", trust_make_keystore, NULL },
	{ "nsswitch.conf", make_nsswitch_conf, NULL },
	{ "host.conf", make_host_conf, NULL },
	{ "shells", make_shells, NULL },
	{ "profile", make_profile, NULL },
	{ "machine-id", make_machine_id, NULL },
	{ "fstab", make_fstab, NULL },
	{ "mtab", NULL, "/proc/mounts" },
	{ "os-release", NULL, "../usr/lib/os-release" },
	{ "pam.d/other", make_pam_other, NULL },
	{ "pam.d/chfn", make_pam_root, NULL },
	{ "pam.d/chsh", make_pam_root, NULL },
	{ "pam.d/runuser", make_pam_root, NULL },
	{ "pam.d/runuser-l", make_pam_root, NULL },
	{ "pam.d/su", make_pam_root, NULL },
	{ "pam.d/su-l", make_pam_root, NULL },
};
const unsigned etc_file_count = ARRAY_LEN(etc_files);
