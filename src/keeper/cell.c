/* Starting a cell: checks what can be checked before, prepares exactly the descriptors of
 * wire/bootspec.h, writes the spec and starts the kernel. Everything that is made here is gone
 * again when viv ends, however it ends: descriptors, namespaces and processes by themselves, a
 * cgroup at the latest when the next one is made. */
#include "keeper/frozen.h"
#include "keeper/gatenames.h"
#include "keeper/gate.h"
#include "keeper/gateca.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "wire/bootspec.h"
#include "host/cgroup.h"
#include "host/hostmount.h"
#include "host/isolate.h"
#include "host/stream.h"

static int host_check(struct err *e)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (uname(&u) < 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2)
		return 0;
	if (major > 5 || (major == 5 && minor >= 19))
		return 0;
	return err_set(e, ERR_FAILED, "this host runs Linux %s" REMEDY "viv needs 5.19 or newer",
		       u.release);
}

static bool sysctl_is(const char *path, char value)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = 0;

	if (fd < 0)
		return false;
	if (read(fd, &c, 1) != 1)
		c = 0;
	close(fd);
	return c == value;
}

static int spawn_failed(int err, struct err *e)
{
	if (sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", '0') && geteuid())
		return err_set(e, ERR_FAILED,
			       "this host does not let users make namespaces" REMEDY
			       "as root: sysctl "
			       "kernel.unprivileged_userns_clone=1");
	if (sysctl_is("/proc/sys/user/max_user_namespaces", '0'))
		return err_set(e, ERR_FAILED,
			       "user namespaces are switched off" REMEDY "as root: sysctl "
			       "user.max_user_namespaces=15000");
	if (sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1') && geteuid())
		return err_set(e, ERR_FAILED,
			       "AppArmor forbids user namespaces" REMEDY "as root: sysctl "
			       "kernel.apparmor_restrict_unprivileged_userns=0");
	if (err == -EPERM || err == -ENOSYS || err == -EINVAL)
		return err_set(e, ERR_FAILED,
			       "cannot make namespaces (%s)" REMEDY
			       "in a container, allow user namespaces "
			       "(docker: --security-opt "
			       "seccomp=unconfined)",
			       strerror(-err));
	if (err == -ENOSPC || err == -EUSERS)
		return err_set(e, ERR_FAILED,
			       "the host's limit of namespaces is reached" REMEDY
			       "as root: raise sysctl "
			       "user.max_user_namespaces");
	return err_set(e, ERR_FAILED, "cannot make namespaces: %s", strerror(-err));
}

/* ---- what the cell gets ---- */

struct cell {
	struct bootspec spec;
	struct cgroup cgroup;
	int *fds;
	unsigned nfds, fds_room;
	int control; /* our end */
	uid_t uid;
	gid_t gid;
};

/* Takes a descriptor that the kernel is to get; its number there, or -1. */
static int fd_give(struct cell *c, int fd, struct err *e)
{
	int *more = c->fds;

	if (c->nfds >= c->fds_room) {
		c->fds_room = MAX(2 * c->fds_room, 64u);
		more = realloc(c->fds, c->fds_room * sizeof(*more));
	}
	if (!more) {
		close(fd);
		return err_set(e, ERR_FAILED, "out of memory");
	}
	c->fds = more;
	c->fds[c->nfds] = fd;
	return (int)c->nfds++;
}

static int streams_prepare(struct cell *c, struct run_options *o, struct err *e)
{
	bool any = false;

	for (int i = 0; i < 3; i++) {
		/* A cell of a keeper has no streams of its own: each process has some. */
		if (o->detach) {
			c->fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
			if (c->fds[i] < 0)
				return err_set(e, ERR_FAILED, "cannot open /dev/null: %s",
					       strerror(errno));
			continue;
		}
		c->fds[i] = stream_open(i, &c->spec.tty[i]);
		if (c->fds[i] < 0)
			return err_set(e, ERR_FAILED, "cannot use standard stream %d: %s", i,
				       strerror(-c->fds[i]));
		any |= c->spec.tty[i];
	}
	if (any && getenv("TERM")) {
		bool given = false;

		for (char **v = o->env; *v; v++)
			given |= !strncmp(*v, "TERM=", 5);
		if (!given) {
			size_t n = 0;
			char *term;

			while (o->env[n])
				n++;
			o->env = realloc(o->env, (n + 2) * sizeof(char *));
			if (!o->env || asprintf(&term, "TERM=%s", getenv("TERM")) < 0)
				return err_set(e, ERR_FAILED, "out of memory");
			o->env[n] = term;
			o->env[n + 1] = NULL;
		}
	}
	return 0;
}

static int mounts_prepare(struct cell *c, const struct run_options *o, struct err *e)
{
	for (unsigned i = 0; i < o->nmounts; i++) {
		const struct run_mount *m = &o->mounts[i];
		struct mount_spec *out = &c->spec.mounts[i];
		struct host_mount host;
		int err;

		*out = (struct mount_spec){ .dst = m->dst,
					    .kind = m->src && s3_is_url(m->src) ? "s3"
						    : m->src			? "host"
						    : m->volume			? "disk"
										: "tmpfs",
					    .readonly = m->readonly,
					    .nofollow = m->nofollow,
					    .fd = -1,
					    .write_fd = -1,
					    .size = m->size };
		c->spec.nmounts = i + 1;
		if (!m->src)
			continue;
		if (s3_is_url(m->src)) {
			int sock;

			if (s3_start(o, m->src, m->readonly, &sock, e) < 0)
				return -1;
			out->fd = fd_give(c, sock, e);
			if (out->fd < 0)
				return -1;
			continue;
		}
		err = host_mount_open(m->src, m->subpath, m->readonly, c->uid, c->gid, &host);
		if (err == -ENOENT)
			return err_set(e, ERR_FAILED,
				       "--mount: there is no '%s' on this host" REMEDY
				       "make it first",
				       m->src);
		if (m->subpath && (err == -ELOOP || err == -EXDEV || err == -ENOTDIR))
			return err_set(e, ERR_FAILED,
				       "--mount: '%s' below '%s' leads through %s" REMEDY
				       "name the directory itself",
				       m->subpath, m->src,
				       err == -ELOOP   ? "a symbolic link"
				       : err == -EXDEV ? "another mount"
						       : "a file");
		if (err == -ENOTSUP)
			return err_set(
				e, ERR_FAILED,
				"--mount: '%s' is neither a directory nor a regular file" REMEDY
				"devices, "
				"pipes and sockets of the host cannot be mounted",
				m->src);
		if (err)
			return err_set(e, ERR_FAILED, "--mount: cannot read '%s': %s", m->src,
				       strerror(-err));
		if (host.foreign && !m->readonly && !o->quiet)
			warn("--mount %s: its file system cannot map owners, so the cell has the "
			     "rights of 'others' there" REMEDY
			     "start viv as the directory's owner instead of root",
			     m->src);
		out->detached = host.detached;
		out->fd = fd_give(c, host.fd, e);
		if (out->fd < 0)
			return -1;
		if (!host.is_file)
			continue;
		out->kind = "file";
		if (!m->readonly) {
			out->write_fd = fd_give(c, fcntl(host.fd, F_DUPFD_CLOEXEC, 0), e);
			if (out->write_fd < 0)
				return -1;
		}
	}
	return 0;
}

/* A directory of the store as the kernel gets it. When viv is root, the cell's uid cannot walk the
 * path to it, so it becomes a mount of its own here; else the kernel does that. */
static int store_dir_open(int dir, const char *path, bool readonly, bool *ret_detached)
{
	int fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), tree;

	*ret_detached = false;
	if (fd < 0)
		return -errno;
	tree = host_tree_detach(fd, readonly);
	if (tree < 0)
		return fd;
	*ret_detached = true;
	close(fd);
	return tree;
}

static int layers_room(struct bootspec *s, unsigned n, struct err *e)
{
	struct layer_spec *more;

	if (n > SPEC_MAX_LAYERS - s->nlayers)
		return err_set(e, ERR_FAILED,
			       "the disks of this cell have more than %d layers together" REMEDY
			       "'viv "
			       "commit' makes them fewer",
			       SPEC_MAX_LAYERS);
	more = realloc(s->layers, (s->nlayers + n) * sizeof(*more));
	if (!more)
		return err_set(e, ERR_FAILED, "out of memory");
	s->layers = more;
	return 0;
}

/* A disk with the layers below its active one. Read-only: the chain is all there is. */
static int disk_prepare(struct cell *c, const struct disk *d, const struct disk_chain *chain,
			bool readonly, struct disk_spec *out, struct err *e)
{
	struct bootspec *s = &c->spec;
	bool detached;
	int fd = store_dir_open(d->dir, "data", readonly, &out->detached);

	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot open a disk of the store: %s", strerror(-fd));
	out->present = true;
	out->readonly = readonly;
	out->data_fd = fd_give(c, fd, e);
	if (out->data_fd < 0)
		return -1;
	out->active = d->active;
	out->first = s->nlayers;
	if (chain->n && layers_room(s, chain->n, e) < 0)
		return -1;
	for (unsigned i = 0; i < chain->n; i++) {
		const struct disk_link *l = &chain->links[i];

		s->layers[s->nlayers] = (struct layer_spec){ .fd = -1, .number = l->ref.n };
		if (l->fd >= 0) {
			fd = store_dir_open(l->fd, ".", true, &detached);
			if (fd < 0)
				return err_set(e, ERR_FAILED,
					       "cannot open a layer of the store: %s",
					       strerror(-fd));
			s->layers[s->nlayers].fd = fd_give(c, fd, e);
			if (s->layers[s->nlayers].fd < 0)
				return -1;
		}
		s->nlayers++;
	}
	out->nsealed = s->nlayers - out->first;
	return 0;
}

/* A volume's files belong to a uid of its own; in this cell they are the cell's. */
static int volume_map(struct cell *c, const struct disk *d, struct disk_spec *out, struct err *e)
{
	char path[64];
	struct host_mount m;
	int err;

	if (c->uid == geteuid() || d->uid == c->uid)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/data", d->dir);
	err = host_mount_open(path, NULL, out->readonly, c->uid, c->gid, &m);
	if (err)
		return err_set(e, ERR_FAILED, "cannot open a volume: %s", strerror(-err));
	if (!m.detached)
		return err_set(
			e, ERR_FAILED,
			"the file system of the store cannot map owners, which volumes of root "
			"need" REMEDY "run viv as an ordinary user");
	close(c->fds[out->data_fd]);
	c->fds[out->data_fd] = m.fd;
	out->detached = true;
	return 0;
}

static int disks_prepare(struct cell *c, const struct run_options *o, const struct rootfs *p,
			 struct err *e)
{
	static struct disk_chain chain;
	int status = 0;

	if (p->kept)
		status = disk_prepare(c, &p->disk, &p->chain, o->tell.mode != MODE_RUN,
				      &c->spec.disk, e);
	for (unsigned i = 0; i < o->nmounts && !status; i++) {
		struct mount_spec *m = &c->spec.mounts[i];

		if (!o->mounts[i].volume)
			continue;
		if ((m->readonly ? disk_chain_with : disk_chain)(p->store.fd, &p->volumes[i],
								 p->volumes[i].active, &chain))
			return err_set(e, ERR_FAILED, "volume '%s' is damaged",
				       o->mounts[i].volume);
		status = disk_prepare(c, &p->volumes[i], &chain, m->readonly, &m->disk, e);
		disk_chain_close(&chain);
		if (!status)
			status = volume_map(c, &p->volumes[i], &m->disk, e);
	}
	return status;
}

static int image_prepare(struct cell *c, const struct rootfs *p, struct err *e)
{
	struct bootspec *s = &c->spec;

	s->image_stored = p->stored;
	if (p->stored)
		c->fds[FD_IMAGE] = store_dir_open(p->image.dir, ".", true, &s->image_detached);
	else
		c->fds[FD_IMAGE] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return c->fds[FD_IMAGE] < 0 ? err_set(e, ERR_FAILED, "cannot open the image") : 0;
}

/* The groups of --group-add as one text, or NULL. */
static const char *groups_join(struct run_options *o)
{
	struct buf b = { 0 };

	for (char **g = o->group_add; g && *g; g++) {
		if (b.len)
			buf_add_text(&b, ",");
		buf_add_text(&b, *g);
	}
	return run_keep(o, b.p);
}

/* The rules that its kernel decides by. */
static int rules_give(struct cell *c, const struct run_options *o, struct err *e)
{
	int fd;

	if (rules_compile(o->policy, &fd, e) < 0)
		return -1;
	c->spec.policy_fd = fd < 0 ? -1 : fd_give(c, fd, e);
	return fd < 0 || c->spec.policy_fd >= 0 ? 0 : -1;
}

/* The door to vivd, and the program that tools are in the cell. */
static int tools_give(struct cell *c, struct run_options *o, struct err *e)
{
	int fd, viv;

	if (door_prepare(o, &c->spec.tools, &fd, &viv, e) < 0)
		return -1;
	c->spec.tool_fd = fd < 0 ? -1 : fd_give(c, fd, e);
	c->spec.viv_fd = viv < 0 ? -1 : fd_give(c, viv, e);
	return (fd < 0 || c->spec.tool_fd >= 0) && (viv < 0 || c->spec.viv_fd >= 0) ? 0 : -1;
}

/* The ring of its journal. */
static int journal_give(struct cell *c, const struct run_options *o, const struct rootfs *p,
			struct err *e)
{
	int ring, bell;

	if (journal_prepare(o, p, &ring, &bell, e) < 0)
		return -1;
	if (ring < 0)
		return 0;
	c->spec.journal = run_journal(o);
	c->spec.journal_fd = fd_give(c, ring, e);
	c->spec.journal_bell = fd_give(c, bell, e);
	return c->spec.journal_fd < 0 || c->spec.journal_bell < 0 ? -1 : 0;
}

/* What its processes go on from. */
static int frozen_give(struct cell *c, const struct run_options *o, const struct rootfs *p,
		       struct err *e)
{
	int fd;

	if (frozen_prepare(o, p, &fd, e) < 0)
		return -1;
	c->spec.thaw_fd = fd < 0 ? -1 : fd_give(c, fd, e);
	return fd < 0 || c->spec.thaw_fd >= 0 ? 0 : -1;
}

/* Where programs find the certificates that they trust, which are in the cell's files: what the
 * image and the user have said stays. */
static char **ca_variables(struct run_options *o)
{
	static const char *const more[] = {
		"SSL_CERT_FILE=/etc/viv-bundle.pem",	  "CURL_CA_BUNDLE=/etc/viv-bundle.pem",
		"REQUESTS_CA_BUNDLE=/etc/viv-bundle.pem", "PIP_CERT=/etc/viv-bundle.pem",
		"GIT_SSL_CAINFO=/etc/viv-bundle.pem",	  "CARGO_HTTP_CAINFO=/etc/viv-bundle.pem",
		"AWS_CA_BUNDLE=/etc/viv-bundle.pem",	  "NIX_SSL_CERT_FILE=/etc/viv-bundle.pem",
		"NODE_EXTRA_CA_CERTS=/etc/viv-ca.pem",	  "DENO_CERT=/etc/viv-ca.pem",
	};
	size_t n = 0;
	char **list;

	while (o->env[n])
		n++;
	list = run_keep(o, xalloc((n + ARRAY_LEN(more) + 1) * sizeof(*list)));
	memcpy(list, o->env, n * sizeof(*list));
	for (unsigned i = 0; i < ARRAY_LEN(more); i++) {
		size_t name = strcspn(more[i], "=") + 1, k = 0;

		while (o->env[k] && strncmp(o->env[k], more[i], name))
			k++;
		if (!o->env[k])
			list[n++] = run_keep_text(o, more[i]);
	}
	list[n] = NULL;
	return list;
}

static char no_word[] = "idle", *no_words[] = { no_word, NULL };

static int cell_prepare(struct cell *c, struct run_options *o, const struct rootfs *p,
			struct err *e)
{
	struct bootspec *s = &c->spec;
	int pair[2], status;

	isolate_ids(&c->uid, &c->gid);
	/* With uids of their own, cells have that of their disk. */
	if (p->kept && c->uid != geteuid() && o->tell.mode == MODE_RUN)
		c->uid = c->gid = p->disk.uid;
	while (c->nfds < FD_MOUNTS)
		if (fd_give(c, -1, e) < 0)
			return -1;
	status = streams_prepare(c, o, e);
	if (!status)
		status = mounts_prepare(c, o, e);
	if (status)
		return status;
	s->argv = o->argv && o->argv[0] ? o->argv : no_words;
	s->envp = o->env;
	s->workdir = o->workdir;
	s->workdir_make = o->workdir_make;
	s->wasm = o->wasm;
	s->hostname = o->hostname;
	s->user = o->user_text;
	s->groups = groups_join(o);
	s->nulimits = run_ulimits(o, s->ulimits);
	s->readonly_root = o->read_only && !o->visit && o->tell.mode == MODE_RUN;
	s->uid = o->uid;
	s->gid = o->gid;
	s->user_uid = s->user_gid = 1000;
	s->changes = o->changes;
	s->quiet = o->quiet;
	s->trace = o->trace;
	s->fast = o->fast;
	s->thaw_fd = s->trace_fd = s->policy_fd = s->tool_fd = s->viv_fd = s->journal_fd =
		s->journal_bell = -1;
	s->mode = o->tell.mode;
	s->idle = o->detach;
	s->seed = o->detach || (p->kept && s->mode == MODE_RUN);
	if (s->mode != MODE_RUN) {
		s->from_layers = o->tell.from_layers;
		s->tar_whole = o->tell.whole;
		s->tar_objects = o->tell.objects;
		s->out_fd = fd_give(c, dup(o->tell.out), e);
		if (s->mode == MODE_MERGE)
			s->log_fd = fd_give(c, dup(o->tell.log), e);
		s->log_layer = o->tell.number;
		if (s->out_fd < 0 || c->fds[s->out_fd] < 0 ||
		    (s->mode == MODE_MERGE && (s->log_fd < 0 || c->fds[s->log_fd] < 0)))
			return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s",
				       strerror(errno));
	}
	if (o->trace) {
		bool tty;

		/* As a stream of its own: what nobody reads must not stop the cell. */
		s->trace_fd = fd_give(c, stream_open(2, &tty), e);
		if (s->trace_fd < 0 || c->fds[s->trace_fd] < 0)
			return err_set(e, ERR_FAILED, "--trace: standard error is closed");
	}
	status = image_prepare(c, p, e);
	if (!status)
		status = disks_prepare(c, o, p, e);
	if (status)
		return status;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s", strerror(errno));
	c->control = pair[0];
	c->fds[FD_CONTROL] = pair[1];
	status = limits_prepare(o, s, &c->cgroup, e);
	if (!status && s->mode == MODE_RUN)
		status = gate_prepare(o, &c->fds[FD_GATE], e);
	if (!status && s->mode == MODE_RUN)
		status = ports_open(o, e);
	if (!status && s->mode == MODE_RUN)
		status = rules_give(c, o, e);
	if (!status && s->mode == MODE_RUN && !o->visit && !o->pool)
		status = tools_give(c, o, e);
	if (!status)
		status = frozen_give(c, o, p, e);
	if (!status)
		status = journal_give(c, o, p, e);
	if (status)
		return status;
	s->network = s->mode == MODE_RUN && gate_is_granted();
	s->ca = gate_ca_pem();
	if (s->ca)
		s->envp = ca_variables(o);
	s->hosts = run_keep(o, cell_hosts(o, s->network));
	s->search = run_keep(o, cell_search(o));
	c->fds[FD_SPEC] = bootspec_write(s);
	if (c->fds[FD_SPEC] == -E2BIG)
		return err_set(e, ERR_FAILED, "the command and its environment are too long");
	if (c->fds[FD_SPEC] < 0)
		return err_set(e, ERR_FAILED, "cannot write the boot spec: %s",
			       strerror(-c->fds[FD_SPEC]));
	return 0;
}

static int cell_start(struct cell *c, int kernel, struct isolated *ret, struct err *e)
{
	bool same_uid = c->uid == geteuid();
	int born = same_uid ? c->cgroup.v2_fd : -1;
	struct isolate_spawn spawn = { .program_fd = kernel,
				       .control = FD_CONTROL,
				       .fds = c->fds,
				       .nfds = c->nfds,
				       .uid = c->uid,
				       .gid = c->gid,
				       .cgroup_fd = born,
				       .wait_go = cgroup_is_joined_late(&c->cgroup, born) };
	int err = isolate_spawn(&spawn, ret);

	if (err)
		return spawn_failed(err, e);
	/* The kernel's ends of what is shared are its own from here on. */
	for (unsigned i = 0; i < c->nfds; i++)
		close(c->fds[i]);
	if (!spawn.wait_go)
		return 0;
	err = cgroup_join(&c->cgroup, born, ret->pid);
	if (err)
		return err_set(e, ERR_FAILED, "cannot move the cell into its cgroup: %s",
			       strerror(-err));
	if (send(c->control, "", 1, MSG_NOSIGNAL) != 1)
		return err_set(e, ERR_FAILED, "the cell ended while it was started");
	return 0;
}

int id_random(struct err *e)
{
	uint8_t bytes[6];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_set(e, ERR_FAILED, "no random numbers: %s", strerror(errno));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		sprintf(keeper.id + 2 * i, "%02x", bytes[i]);
	return 0;
}

/* What others find it by: a named cell has the id of its disk. */
static int id_choose(const struct run_options *o, const struct rootfs *p, struct err *e)
{
	if (o->tell.mode != MODE_RUN || o->pool)
		return 0;
	if (!p->kept && !o->id)
		return id_random(e);
	snprintf(keeper.id, sizeof(keeper.id), "%s", p->kept ? p->disk.id : o->id);
	return 0;
}

int run_cell(const struct run_options *options, struct rootfs *rootfs, struct err *e)
{
	static struct run_options o;
	static struct cell c;
	struct isolated isolated;
	int kernel, signals, status = -1;
	bool listed;

	o = *options;
	streams_fill();
	c.cgroup.v2_fd = -1;
	if (host_check(e) < 0)
		return -1;
	kernel = program_open("viv-kernel", e);
	if (kernel < 0)
		return -1;
	if (watch_prepare(&o, rootfs, e) < 0 || id_choose(&o, rootfs, e) < 0 ||
	    cell_prepare(&c, &o, rootfs, e) < 0)
		goto out_cgroup;
	signals = stay_signals();
	if (signals < 0) {
		err_set(e, ERR_FAILED, "cannot receive signals: %s", strerror(errno));
		goto out_cgroup;
	}
	keeper.alone = !o.detach && !rootfs->kept;
	/* Who has seen the cell do something can ask for it. vivd notices one whose tools it has to
	 * serve. */
	listed = keeper.alone && !c.spec.tools;
	if (o.parent && lease_open(o.parent, e) < 0)
		goto out_cgroup;
	if (keeper.id[0] && !o.visit && !listed && serve_open(e) < 0)
		goto out_cgroup;
	if (cell_start(&c, kernel, &isolated, e) < 0) {
		serve_close();
	} else {
		if (keeper.id[0] && listed)
			serve_listed();
		status = watch(&isolated, c.control, signals, &c.cgroup, e);
	}
out_cgroup:
	frozen_keep();
	journal_drop();
	cgroup_remove(&c.cgroup);
	return status;
}

int run_command(struct run_options *o, struct err *e)
{
	static struct rootfs rootfs;
	int status = -1;

	if (rootfs_open(&rootfs, o, e) == 0 && run_options_finish(o, rootfs.stored, e) == 0)
		status = run_cell(o, &rootfs, e);
	rootfs_close(&rootfs);
	return status;
}
