/* The body of a request as the input of viv-files, in frames; see fileop.h. */
#include <errno.h>
#include <unistd.h>

#include "api/fileop_priv.h"

/* Writes one frame's head; false: there is no room. */
static bool head_write(struct fileop *x, uint8_t type, size_t size)
{
	struct files_frame f = { .type = type, .size = (uint32_t)size };
	ssize_t n = write(x->in.fd, &f, sizeof(f)); /* all of it or nothing, it is short */

	if (n == sizeof(f))
		return true;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fileop_end_close(&x->in); /* it reads no more, and says why */
	return false;
}

static size_t upload_take(struct request *r, const char *data, size_t size)
{
	struct fileop *x = container_of(r->op, struct fileop, op);
	size_t done = 0;

	while (x->in.fd >= 0 && done < size) {
		ssize_t n;

		if (!x->frame_left) {
			size_t next = MIN(size - done, (size_t)FILES_DATA_MAX);

			if (!head_write(x, FILES_DATA, next))
				break;
			x->frame_left = next;
		}
		n = write(x->in.fd, data + done, MIN(x->frame_left, size - done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			fileop_end_close(&x->in);
			break;
		}
		done += (size_t)n;
		x->frame_left -= (size_t)n;
	}
	if (x->in.fd < 0)
		return size;
	if (done < size) {
		fileop_poll(x, &x->in, UV_WRITABLE);
		request_wait(r);
	}
	return done;
}

static void upload_finish(struct fileop *x)
{
	if (x->in.fd >= 0 && !head_write(x, FILES_END, 0) && x->in.fd >= 0) {
		fileop_poll(x, &x->in, UV_WRITABLE);
		return;
	}
	x->end_due = false;
	fileop_end_close(&x->in);
}

void fileop_upload_step(struct fileop *x)
{
	if (x->end_due)
		upload_finish(x);
	else if (x->op.r)
		request_wake(x->op.r);
}

static void upload_end(struct request *r)
{
	struct fileop *x = container_of(r->op, struct fileop, op);

	x->end_due = true;
	request_wait(r);
	upload_finish(x);
}

/* The client went away before the answer. */
static void upload_over(struct request *r)
{
	struct fileop *x = container_of(r->op, struct fileop, op);

	r->op = NULL;
	fileop_free(x);
}

const struct upload fileop_upload = { .take = upload_take, .end = upload_end, .over = upload_over };
