/* viv daemon: starting, ending and asking after vivd. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/vivd.h"

#define STOP_MS 15000
#define CMDLINE_MAX 16384
#define OPTIONS_MAX 128 /* words */

/* The running one's /v1/version: 1 with the document, 0 when none runs, or -1. */
static int vivd_about(struct json_doc *doc, char **ret_text, struct err *e)
{
	struct viv_error error;
	struct viv_client *c = viv_open(NULL, 0, &error);
	struct viv_reply reply;
	int r = 1;

	*doc = (struct json_doc){ 0 };
	if (!c && (error.code == ENOENT || error.code == ECONNREFUSED))
		return 0;
	if (!c || viv_call(c, "GET", "/v1/version", NULL, &reply, &error) < 0) {
		viv_close(c);
		return viv_error_get(&error, e);
	}
	viv_close(c);
	if (reply.status != 200)
		r = vivd_refusal(&reply, e);
	else if (json_parse(doc, reply.body, reply.size, e) < 0)
		r = err_set(e, ERR_FAILED, "what listens there is not vivd");
	if (ret_text && r > 0)
		*ret_text = reply.body;
	else
		viv_reply_free(&reply);
	return r;
}

static int status_show(bool json, struct err *e)
{
	char *text = NULL;
	struct json_doc d;
	int r = vivd_about(&d, &text, e);

	if (!r) {
		printf(json ? "{\"running\":false}\n" : "vivd does not run\n");
		return ERR_NOT_FOUND;
	}
	if (r < 0)
		return -1;
	if (json)
		printf("%s", text);
	else
		printf("vivd %s runs as process %s since %s\nsocket %s\n",
		       json_show(d.root, "version"), json_show(d.root, "pid"),
		       json_show(d.root, "started"), json_show(d.root, "socket"));
	json_free(&d);
	free(text);
	return 0;
}

static int start(const char *const *options, bool json, struct err *e)
{
	struct viv_error error = { 0 };

	if (viv_start(options, &error) < 0)
		return viv_error_get(&error, e);
	return json ? status_show(true, e) : 0;
}

int daemon_status_main(struct args *a, struct err *e)
{
	return status_show(a->json, e);
}

/* The words of the running vivd after the first, without those of viv_start; they point into
 * text. */
static void options_of(int pid, char *text, size_t size, const char **ret, unsigned max)
{
	char path[64];
	unsigned n = 0;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
	for (char *p = text; p < text + len; p += strlen(p) + 1)
		if (p != text && n < max && strcmp(p, "--detach") && strcmp(p, "--json"))
			ret[n++] = p;
	ret[n] = NULL;
}

/* Ends the running one, if there is one, and waits for that. options (may be NULL) gets its
 * words. */
static int stop(char *text, size_t size, const char **options, unsigned max, struct err *e)
{
	struct json_doc d;
	struct pollfd p;
	int r = vivd_about(&d, NULL, e), pid, pidfd;

	if (r <= 0)
		return r;
	pid = atoi(json_show(d.root, "pid"));
	json_free(&d);
	pidfd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pidfd < 0)
		return err_set(e, ERR_FAILED, "cannot reach vivd's process %d: %s", pid,
			       strerror(errno));
	if (options)
		options_of(pid, text, size, options, max);
	p = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	r = 0;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH)
		r = err_set(e, ERR_FAILED, "cannot end vivd: %s", strerror(errno));
	else if (poll(&p, 1, STOP_MS) != 1)
		r = err_set(e, ERR_FAILED, "vivd (process %d) does not end", pid);
	close(pidfd);
	return r;
}

int daemon_start_main(struct args *a, struct err *e)
{
	static const struct {
		const char *name, *word;
	} known[] = { { "listen", "--listen" },
		      { "tls-cert", "--tls-cert" },
		      { "tls-key", "--tls-key" },
		      { "cors-origin", "--cors-origin" },
		      { "approval-hook", "--approval-hook" },
		      { "preview-port", "--preview-port" },
		      { "journal-days", "--journal-days" },
		      { "journal-space", "--journal-space" } };
	const char *options[2 * ARGS_MAX + 1] = { NULL }, *value;
	unsigned n = 0;
	int r;

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		for (unsigned at = 0; (value = arg_next(a, known[i].name, &at));) {
			options[n++] = known[i].word;
			options[n++] = value;
		}
	r = n ? vivd_about(&(struct json_doc){ 0 }, NULL, e) : 0;
	if (r < 0)
		return -1;
	if (r)
		return err_set(e, ERR_CONFLICT,
			       "vivd runs already, with the options that it has" REMEDY
			       "'viv daemon stop' ends it");
	return start(options, a->json, e);
}

int daemon_stop_main(struct args *a, struct err *e)
{
	if (stop(NULL, 0, NULL, 0, e) < 0)
		return -1;
	if (a->json)
		printf("{\"running\":false}\n");
	return 0;
}

int daemon_restart_main(struct args *a, struct err *e)
{
	static char text[CMDLINE_MAX];
	const char *options[OPTIONS_MAX + 1] = { NULL };

	return stop(text, sizeof(text), options, OPTIONS_MAX, e) < 0 ? -1
								     : start(options, a->json, e);
}
