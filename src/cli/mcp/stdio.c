/* MCP over standard input and output: one message for each line; see mcp.h. The end of input is the
 * end of the session. A client that does not read is not read from either. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"

#define OUT_MAX (4u << 20) /* that waits for the client: then nothing more is read */

/* What was answered before the end goes out, to a client that still reads. */
#define END_TRIES 100
#define END_WAIT_MS 10

static struct session session;
static struct line_reader in;
static struct buf out;
static size_t out_at;
static bool input_ended;

static void out_watch(void);

static void out_write(void *arg, short revents)
{
	(void)arg;
	(void)revents;
	while (out_at < out.len) {
		ssize_t n = write(STDOUT_FILENO, out.p + out_at, out.len - out_at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			loop_stop(); /* nobody reads any more */
			return;
		}
		out_at += (size_t)n;
	}
	if (out_at == out.len)
		out.len = out_at = 0;
	out_watch();
}

static void stdio_send(struct sink *k, const char *message, size_t n)
{
	(void)k;
	buf_add(&out, message, n);
	buf_add(&out, "\n", 1);
	out_write(NULL, 0);
}

static void stdio_done(struct sink *k)
{
	(void)k;
}

static struct sink sink = { .send = stdio_send, .done = stdio_done };

static void line_take(void *arg, const char *line, size_t n)
{
	(void)arg;
	session_take(&session, &sink, line, n);
}

static void in_read(void *arg, short revents)
{
	char data[65536];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	(void)arg;
	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		input_ended = true;
		watch_drop(STDIN_FILENO);
		loop_stop();
		return;
	}
	line_reader_feed(&in, data, (size_t)n, line_take, NULL);
	out_watch();
}

static void out_watch(void)
{
	size_t waits = out.len - out_at;

	if (waits)
		watch_set(STDOUT_FILENO, POLLOUT, out_write, NULL);
	else
		watch_drop(STDOUT_FILENO);
	if (!input_ended)
		watch_set(STDIN_FILENO, waits > OUT_MAX ? 0 : POLLIN, in_read, NULL);
}

void stdio_end(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	for (int i = 0; i < END_TRIES && out_at < out.len; i++)
		if (poll(&p, 1, END_WAIT_MS) > 0)
			out_write(NULL, 0);
}

void stdio_begin(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	/* A terminal's flags are shared with whoever started us. */
	if (flags >= 0 && !isatty(STDOUT_FILENO))
		fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	out_watch();
}
