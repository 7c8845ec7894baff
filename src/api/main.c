/* vivd: the daemon. Takes its place (lock, socket, state), then runs one loop until SIGTERM or
 * SIGINT.
 *
 * With --detach it forks before anything is opened: the parent stays until the child answers
 * requests or has said on standard error why it cannot, and the child goes on in a session of its
 * own, with its messages in vivd.log of the state directory. When another vivd has the place,
 * --detach waits for that one to answer, so that any number of clients may start it at once. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/http/cors.h"
#include "api/http/request.h"
#include "api/http/server.h"
#include "api/subcells.h"
#include "api/http/text.h"
#include "base/limit.h"
#include "base/log.h"
#include "client/vivarium.h"
#include "daemon/approvals/approvals.h"
#include "daemon/cells/cells.h"
#include "daemon/journal/heads.h"
#include "daemon/journal/note.h"
#include "daemon/state/events.h"
#include "daemon/keepers/instance.h"
#include "daemon/keepers/pool.h"
#include "daemon/secrets/secrets.h"
#include "daemon/previews/previews.h"
#include "daemon/schedules/schedules.h"
#include "daemon/sessions/sessions.h"
#include "daemon/tools/tools.h"
#include "daemon/workflows/workflows.h"
#include "store/files.h"
#include "store/store.h"

#define FLUSH_MS 10
#define LOG_MAX (1 << 20)
#define CERT_MAX (1 << 20)
#define WAIT_OTHER_MS 20000
#define WAIT_ANSWER_MS 500

struct options {
	bool detach, json;
	bool secrets, environment, refresh; /* for a keeper (daemon/secrets/secrets.h) */
	const char *listen, *cert, *key, *hook;
	uint64_t preview_port; /* 0: any */
	struct cors cors;
	struct journal_limits journals;
};

static struct daemon the_daemon;
static struct server *local, *tcp, *inner; /* inner: for cells */
static uv_signal_t sigterm, sigint;

static void line_log(const char *line)
{
	fprintf(stderr, "vivd: %s\n", line);
}

/* For a person, or for the program that starts us. */
static int failed(const struct options *o, const struct err *e)
{
	struct buf b = { 0 };

	if (o->json) {
		err_json(e, &b);
		fprintf(stderr, "%s\n", (char *)b.p);
		buf_free(&b);
	} else {
		fprintf(stderr, "vivd: %s\n", err_line(e).str);
	}
	return err_exit(e);
}

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: vivd [OPTIONS]\n\n"
		"The daemon of Vivarium; 'viv daemon start' starts it, and so does every command "
		"that needs it.\n\n"
		"  --detach          return when it answers\n"
		"  --listen ADDR     also at ADDRESS:PORT, with tokens ('viv token create')\n"
		"  --tls-cert FILE   with TLS: the certificate (PEM, with its chain)\n"
		"  --tls-key FILE    and its key\n"
		"  --cors-origin ORIGIN\n"
		"                    with --listen: let pages of ORIGIN (https://app.example.org) "
		"use the API;\n"
		"                    can be given several times\n"
		"  --approval-hook PROGRAM\n"
		"                    ask this program about each new approval (docs/policy.md)\n"
		"  --preview-port N  serve previews ('viv preview') at port N of 127.0.0.1 "
		"(default: "
		"any free one, and\n"
		"                    the same one from then on)\n"
		"  --journal-days N  remove the journal of a cell that does not run when it was "
		"last written N\n"
		"                    days ago (default: 30, or VIV_JOURNAL_DAYS of the "
		"environment; 0: never)\n"
		"  --journal-space N[K|M|G]\n"
		"                    remove the oldest of them when all take more than N bytes "
		"(default: 4G, or\n"
		"                    VIV_JOURNAL_SPACE of the environment; 0: never)\n"
		"  --json            print why it cannot start as JSON\n"
		"  --routes          print the API's routes and end\n"
		"  --version\n");
}

/* ---- the end ---- */

static void daemon_end(struct daemon *d)
{
	if (d->ending)
		return;
	d->ending = true;
	place_notify("STOPPING=1");
	event_add(d, "daemon.stopping", NULL, NULL);
	server_end(local);
	server_end(inner);
	if (tcp)
		server_end(tcp);
	server_free(local);
	server_free(inner);
	if (tcp)
		server_free(tcp);
	previews_close(d);
	pool_close(d);
	schedules_close(d);
	workflows_close(d);
	sessions_close(d);
	cells_close(d);
	/* What is still active are keepers, which go on. */
	uv_stop(&d->loop);
}

static void daemon_settled(struct daemon *d)
{
	if (local && !d->ending)
		server_settled(local);
	if (inner && !d->ending)
		server_settled(inner);
	if (tcp && !d->ending)
		server_settled(tcp);
}

static void on_signal(uv_signal_t *s, int number)
{
	(void)number;
	daemon_end(s->data);
}

/* ---- the start ---- */

static char *pem_read(const char *path, struct err *e)
{
	char *text = NULL;
	int err = file_read_all(AT_FDCWD, path, CERT_MAX, &text, NULL);

	if (err)
		err_set(e, ERR_USAGE, "cannot read '%s': %s", path, strerror(-err));
	return text;
}

static int tcp_start(struct daemon *d, const struct options *o, struct err *e)
{
	struct listen_options lo = { 0 };
	char *cert = NULL, *key = NULL;
	int ret = -1;

	if (!o->cert != !o->key)
		return err_set(e, ERR_USAGE, "--tls-cert and --tls-key belong together");
	if (o->cert && (!(cert = pem_read(o->cert, e)) || !(key = pem_read(o->key, e))))
		goto out;
	lo.fd = tcp_listen(o->listen, cert != NULL, e);
	lo.cert = cert;
	lo.key = key;
	lo.cors = &o->cors;
	if (lo.fd >= 0)
		tcp = server_new(d, &lo, e);
	ret = tcp ? 0 : -1;
out:
	free(cert);
	free(key);
	return ret;
}

static void on_flush(uv_timer_t *t)
{
	struct daemon *d = t->data;

	db_flush(&d->db);
}

static void flush_soon(struct db *db)
{
	struct daemon *d = db->arg;

	uv_timer_start(&d->flush, on_flush, FLUSH_MS, 0);
}

static void shorten_work(uv_work_t *w)
{
	struct daemon *d = w->data;

	db_shorten(d->db.file);
}

static void shorten_done(uv_work_t *w, int status)
{
	struct daemon *d = w->data;

	(void)status;
	d->db.shortening = false;
}

static void shorten_begin(struct db *db)
{
	static uv_work_t work;
	struct daemon *d = db->arg;

	work.data = d;
	if (uv_queue_work(&d->loop, &work, shorten_work, shorten_done))
		db->shortening = false;
}

static int db_prepare(struct daemon *d, struct err *e)
{
	struct store s;
	int r;

	/* Who needs the store and cannot have it says so. */
	if (store_open(&s, e) < 0)
		s.fd = -1;
	r = db_open(&d->db, d->state, s.fd, e);
	store_close(&s);
	return r;
}

static void cell_calls(const struct cell *c, int fd)
{
	if (inner)
		server_add(inner, c, fd);
	else
		close(fd);
}

static int daemon_start(struct daemon *d, const struct options *o, struct err *e)
{
	struct listen_options lo = { .trusted = true }, cells = { .fd = -1, .cells = true };

	if (place_take(d, e) < 0)
		return -1;
	if (db_prepare(d, e) < 0)
		return -1;
	uv_loop_init(&d->loop);
	uv_timer_init(&d->loop, &d->flush);
	d->flush.data = d;
	d->db.hold = flush_soon;
	d->db.full = shorten_begin;
	d->db.arg = d;
	d->started = time_now();
	d->began = uv_hrtime();
	d->end = daemon_end;
	d->settled = daemon_settled;
	events_open(d);
	notes_open(d);
	heads_open(d, &o->journals);
	list_init(&d->projects);
	db_run(&d->db, NULL, "DELETE FROM keys WHERE status=0", "");
	approvals_open(d, o->hook);
	tools_open(d);
	inner = server_new(d, &cells, e);
	if (!inner)
		return -1;
	d->calling = cell_calls;
	subcells_open(d);
	event_add(d, "daemon.started", NULL,
		  json_pack("{s:i,s:s}", "pid", (int)getpid(), "version", VIV_VERSION));
	sessions_open(d);
	workflows_open(d);
	if (cells_open(d, e) < 0 || previews_open(d, (uint16_t)o->preview_port, e) < 0 ||
	    (o->listen && tcp_start(d, o, e) < 0))
		return -1;
	sessions_begin(d);
	workflows_begin(d);
	if (schedules_begin(d, e) < 0)
		return -1;
	lo.fd = place_listen(d, e);
	if (lo.fd < 0)
		return -1;
	local = server_new(d, &lo, e);
	if (!local)
		return -1;
	pool_open(d);
	uv_signal_init(&d->loop, &sigterm);
	uv_signal_init(&d->loop, &sigint);
	sigterm.data = sigint.data = d;
	uv_signal_start(&sigterm, on_signal, SIGTERM);
	uv_signal_start(&sigint, on_signal, SIGINT);
	return 0;
}

/* Messages go to a file from here on; what is in it from before is kept until it is too much. */
static void log_open(const struct daemon *d)
{
	char path[4200];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/vivd.log", d->state);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > LOG_MAX)
		(void)!ftruncate(fd, 0);
	dup2(fd, 2);
	close(fd);
}

/* ready: written to when requests are answered; -1: nobody waits. */
static int daemon_run(const struct options *o, int ready)
{
	struct daemon *d = &the_daemon;
	struct err e = { 0 };
	struct rlimit core;
	sigset_t none;

	/* A program that starts vivd may block signals itself: viv does while it stays with a
	 * cell. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	limit_files_raise(0);
	/* Values of secrets pass through it: no core, in a file (a byte is too few) or for a
	 * program (to which Linux gives none when the limit is 1). */
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = MIN(core.rlim_max, (rlim_t)1);
		setrlimit(RLIMIT_CORE, &core);
	}
	d->lock = -1;
	if (daemon_start(d, o, &e) < 0) {
		int status = failed(o, &e);

		if (d->lock >= 0 && e.kind != ERR_CONFLICT)
			place_leave(d);
		return status;
	}
	if (ready >= 0) {
		log_open(d);
		(void)!write(ready, "+", 1);
		close(ready);
	}
	place_notify("READY=1");
	uv_run(&d->loop, UV_RUN_DEFAULT);
	db_close(&d->db);
	place_leave(d);
	return 0;
}

/* ---- in the background ---- */

/* Whether the one that has the place answers, now or in a moment. One that is dying still lets
 * others connect. */
static bool other_answers(void)
{
	struct viv_error error = { 0 };

	for (int ms = 0; ms < WAIT_ANSWER_MS; ms += 20) {
		struct viv_client *c = viv_open(NULL, 0, &error);
		struct viv_reply reply = { 0 };
		bool answers = c && viv_call(c, "GET", "/v1/version", NULL, &reply, &error) == 0;

		viv_reply_free(&reply);
		viv_close(c);
		if (answers)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return false;
}

/* One in a process of its own: 0 when it answers, or how it ended. */
static int detach_once(const struct options *o)
{
	int ready[2], status;
	struct err e;
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		err_set(&e, ERR_FAILED, "cannot start vivd: %s", strerror(errno));
		return failed(o, &e);
	}
	if (pid == 0) {
		close(ready[0]);
		setsid();
		(void)!chdir("/");
		status = open("/dev/null", O_RDWR);
		dup2(status, 0);
		dup2(status, 1);
		_exit(daemon_run(o, ready[1]));
	}
	close(ready[1]);
	while ((status = (int)read(ready[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ready[0]);
	if (status == 1)
		return 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ERR_FAILED;
}

/* One that was killed has its place until its last thread has come back from the disk, and never
 * answers: so it is tried again. */
static int detach(const struct options *o)
{
	int status = ERR_CONFLICT;

	/* What the caller has open is not ours to keep: somebody may wait for the end of a pipe. */
	(void)syscall(SYS_close_range, 3, ~0U, 0);
	for (int ms = 0; status == ERR_CONFLICT && ms < WAIT_OTHER_MS; ms += WAIT_ANSWER_MS) {
		status = detach_once(o);
		if (status == ERR_CONFLICT && other_answers())
			return 0;
	}
	return status;
}

/* --journal-days, --journal-space. */
static int journal_option(struct journal_limits *l, int c, const char *text, struct err *e)
{
	if (c == 'D' ? limit_days(text, l) : limit_space(text, l))
		return 0;
	return err_set(e, ERR_USAGE, "--journal-%s '%.40s' is not a %s",
		       c == 'D' ? "days" : "space", text,
		       c == 'D' ? "number of days" : "size, like 20G");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "detach", no_argument, NULL, 'd' },
		{ "listen", required_argument, NULL, 'l' },
		{ "tls-cert", required_argument, NULL, 'c' },
		{ "tls-key", required_argument, NULL, 'k' },
		{ "cors-origin", required_argument, NULL, 'o' },
		{ "approval-hook", required_argument, NULL, 'a' },
		{ "preview-port", required_argument, NULL, 'p' },
		{ "journal-days", required_argument, NULL, 'D' },
		{ "journal-space", required_argument, NULL, 'S' },
		{ "json", no_argument, NULL, 'j' },
		{ "routes", no_argument, NULL, 'r' },
		{ "secrets", no_argument, NULL, 's' },
		{ "environment", no_argument, NULL, 'e' },
		{ "refresh", no_argument, NULL, 'f' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .journals = JOURNAL_LIMITS };
	struct err e;
	int c;

	log_sink = line_log;
	if (limits_environment(&o.journals, &e) < 0)
		return failed(&o, &e);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case 'd':
			o.detach = true;
			break;
		case 'l':
			o.listen = optarg;
			break;
		case 'c':
			o.cert = optarg;
			break;
		case 'k':
			o.key = optarg;
			break;
		case 'o':
			if (cors_add(&o.cors, optarg, &e) < 0)
				return failed(&o, &e);
			break;
		case 'a':
			o.hook = optarg;
			break;
		case 'p':
			if (!text_number(optarg, UINT16_MAX, &o.preview_port) || !o.preview_port) {
				err_set(&e, ERR_USAGE, "--preview-port '%.40s' is not a port",
					optarg);
				return failed(&o, &e);
			}
			break;
		case 'D':
		case 'S':
			if (journal_option(&o.journals, c, optarg, &e) < 0)
				return failed(&o, &e);
			break;
		case 'j':
			o.json = true;
			break;
		case 'r':
			for (unsigned i = 0; i < nroutes; i++)
				printf("%s %s\n", routes[i].method, routes[i].path);
			return 0;
		case 's':
			o.secrets = true;
			break;
		case 'e':
			o.environment = true;
			break;
		case 'f':
			o.refresh = true;
			break;
		case 'V':
			printf("vivd %s\n", VIV_VERSION);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return ERR_USAGE;
		}
	}
	if (o.secrets)
		return secrets_print(argv + optind, o.environment, o.refresh);
	if (optind < argc) {
		err_set(&e, ERR_USAGE, "vivd takes no arguments");
		return failed(&o, &e);
	}
	if (journal_default_check(&e) < 0)
		return failed(&o, &e);
	if (!o.listen && (o.cert || o.key || o.cors.n)) {
		err_set(&e, ERR_USAGE, "%s is for --listen",
			o.cors.n ? "--cors-origin" : "--tls-cert");
		return failed(&o, &e);
	}
	return o.detach ? detach(&o) : daemon_run(&o, -1);
}
