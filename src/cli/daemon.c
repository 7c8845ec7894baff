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

/* The running one's /v1/version: 0 with the document, ERR_NOT_FOUND, or ERR_FAILED with a
 * message. */
static int vivd_about(struct json_doc *doc, char **ret_text)
{
	struct viv_error error;
	struct viv_client *c = viv_open(NULL, 0, &error);
	struct viv_reply reply;
	struct err e;
	int status;

	*doc = (struct json_doc){ 0 };
	if (!c && (error.code == ENOENT || error.code == ECONNREFUSED))
		return ERR_NOT_FOUND;
	if (!c || viv_call(c, "GET", "/v1/version", NULL, &reply, &error) < 0) {
		viv_close(c);
		return report_viv(&error);
	}
	viv_close(c);
	if (reply.status != 200) {
		status = vivd_refused(&reply);
	} else if (json_parse(doc, reply.body, reply.size, &e) < 0) {
		status = fail(ERR_FAILED, "what listens there is not vivd");
	} else {
		status = 0;
	}
	if (ret_text && !status)
		*ret_text = reply.body;
	else
		viv_reply_free(&reply);
	return status;
}

static int status_show(bool json)
{
	char *text = NULL;
	struct json_doc d;
	int status = vivd_about(&d, &text);

	if (status == ERR_NOT_FOUND) {
		if (json)
			printf("{\"running\":false}\n");
		else
			printf("vivd does not run\n");
	}
	if (status)
		return status;
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

static int start(const char *const *options, bool json)
{
	struct viv_error error = { 0 };

	if (viv_start(options, &error) < 0)
		return report_viv(&error);
	return json ? status_show(true) : 0;
}

int daemon_status_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);

	return status ? status : status_show(a.json);
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

/* Ends the running one and waits for that. ret_pid (may be NULL) is called before, to look at
 * it. */
static int stop(char *text, size_t size, const char **options, unsigned max)
{
	struct json_doc d;
	struct pollfd p;
	int status = vivd_about(&d, NULL), pid, pidfd;

	if (status)
		return status;
	pid = atoi(json_show(d.root, "pid"));
	json_free(&d);
	pidfd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pidfd < 0)
		return fail(ERR_FAILED, "cannot reach vivd's process %d: %s", pid, strerror(errno));
	if (options)
		options_of(pid, text, size, options, max);
	p = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH) {
		status = fail(ERR_FAILED, "cannot end vivd: %s", strerror(errno));
	} else if (poll(&p, 1, STOP_MS) != 1) {
		status = fail(ERR_FAILED, "vivd (process %d) does not end", pid);
	}
	close(pidfd);
	return status;
}

int daemon_start_main(int argc, char **argv)
{
	static const char *const names[] = { "listen", "tls-cert", "tls-key" };
	static const char *const words[] = { "--listen", "--tls-cert", "--tls-key" };
	const char *options[2 * ARRAY_LEN(names) + 1] = { NULL }, *value;
	unsigned n = 0;
	struct args a;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		value = arg_value(&a, names[i]);
		if (value) {
			options[n++] = words[i];
			options[n++] = value;
		}
	}
	if (n && vivd_about(&(struct json_doc){ 0 }, NULL) != ERR_NOT_FOUND)
		return fail(ERR_CONFLICT, "vivd runs already, with the options that it has" REMEDY
					  "'viv daemon stop' ends it");
	return start(options, a.json);
}

int daemon_stop_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	status = stop(NULL, 0, NULL, 0);
	if (status && status != ERR_NOT_FOUND)
		return status;
	if (a.json)
		printf("{\"running\":false}\n");
	return 0;
}

int daemon_restart_main(int argc, char **argv)
{
	static char text[CMDLINE_MAX];
	const char *options[32 + 1] = { NULL };
	struct args a;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	status = stop(text, sizeof(text), options, 32);
	return status && status != ERR_NOT_FOUND ? status : start(options, a.json);
}
