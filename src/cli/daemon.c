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

#include "cli/cli.h"
#include "cli/vivd.h"
#include "cli/words.h"

#define STOP_MS 15000
#define CMDLINE_MAX 16384

static const char usage_daemon[] = "viv daemon start [--listen ADDR [--tls-cert FILE --tls-key "
				   "FILE]] | stop | restart | status [--json]";

void daemon_help(void)
{
	printf("Usage: %s\n\n"
	       "vivd keeps the cells; commands that need it start it. --listen adds TCP, with "
	       "tokens "
	       "('viv token create').\n"
	       "It ends by 'stop', and cells go on without it. 'restart' keeps its options.\n"
	       "'status' exits with 3 when it does not run.\n",
	       usage_daemon);
}

/* The running one's /v1/version: 0 with the document, ERR_NOT_FOUND, or ERR_FAILED with a message. */
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
		fail("%s", error.text);
		viv_close(c);
		return ERR_FAILED;
	}
	viv_close(c);
	if (reply.status != 200) {
		status = vivd_refused(&reply);
	} else if (json_parse(doc, reply.body, reply.size, &e) < 0) {
		fail("what listens there is not vivd");
		status = ERR_FAILED;
	} else {
		status = 0;
	}
	if (ret_text && !status)
		*ret_text = reply.body;
	else
		viv_reply_free(&reply);
	return status;
}

static int start(const char *const *options)
{
	struct viv_error error = { 0 };

	if (viv_start(options, &error) < 0) {
		fail("%s", error.text);
		return ERR_FAILED;
	}
	return 0;
}

static int status_main(bool json)
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

/* The words of the running vivd after the first, without --detach; they point into text. */
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
		if (p != text && n < max && strcmp(p, "--detach"))
			ret[n++] = p;
	ret[n] = NULL;
}

/* Ends the running one and waits for that. ret_pid (may be NULL) is called before, to look at it. */
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
	if (pidfd < 0) {
		fail("cannot reach vivd's process %d: %s", pid, strerror(errno));
		return ERR_FAILED;
	}
	if (options)
		options_of(pid, text, size, options, max);
	p = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH) {
		fail("cannot end vivd: %s", strerror(errno));
		status = ERR_FAILED;
	} else if (poll(&p, 1, STOP_MS) != 1) {
		fail("vivd (process %d) does not end", pid);
		status = ERR_FAILED;
	}
	close(pidfd);
	return status;
}

static int start_main(int argc, char **argv)
{
	static const char *const names[] = { "--listen", "--tls-cert", "--tls-key" };
	const char *options[2 * ARRAY_LEN(names) + 1] = { NULL }, *value;
	unsigned n = 0;
	int status;

	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		value = NULL;
		status = option_take(&argc, argv, names[i], &value);
		if (status)
			return status;
		if (value) {
			options[n++] = names[i];
			options[n++] = value;
		}
	}
	status = words_check(argc, argv, 0, 0, usage_daemon);
	if (!status && n && vivd_about(&(struct json_doc){ 0 }, NULL) != ERR_NOT_FOUND) {
		fail("vivd runs already, with the options that it has; 'viv daemon stop' ends it");
		return ERR_CONFLICT;
	}
	return status ? status : start(options);
}

int daemon_main(int argc, char **argv)
{
	static char text[CMDLINE_MAX];
	const char *options[32 + 1] = { NULL };
	const char *what = argc > 1 ? argv[1] : "";
	bool json = flag_take(&argc, argv, "--json");
	int status;

	if (!strcmp(what, "start"))
		return start_main(argc - 1, argv + 1);
	status = words_check(argc, argv, 1, 1, usage_daemon);
	if (status)
		return status;
	if (!strcmp(what, "status"))
		return status_main(json);
	if (!strcmp(what, "stop")) {
		status = stop(NULL, 0, NULL, 0);
		return status == ERR_NOT_FOUND ? 0 : status;
	}
	if (!strcmp(what, "restart")) {
		status = stop(text, sizeof(text), options, 32);
		return status && status != ERR_NOT_FOUND ? status : start(options);
	}
	fail("unknown word '%s'; usage: %s", what, usage_daemon);
	return ERR_USAGE;
}
