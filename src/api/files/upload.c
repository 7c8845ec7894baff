/* The body of a request as the input of viv-files, in frames; see fileop.h. */
#include "api/files/private.h"

/* Writes one frame's head; false: there is no room. */
static bool head_write(struct fileop *x, uint8_t type, size_t size)
{
	struct files_frame f = { .type = type, .size = (uint32_t)size };

	/* All of it or nothing, it is short. When it reads no more, it says why. */
	return pipe_end_write(&x->in, &f, sizeof(f)) == sizeof(f);
}

static size_t upload_take(struct request *r, const char *data, size_t size)
{
	struct fileop *x = container_of(r->op, struct fileop, op);
	size_t done = 0;

	while (done < size) {
		ssize_t n;

		if (!x->frame_left) {
			size_t next = MIN(size - done, (size_t)FILES_DATA_MAX);

			if (!head_write(x, FILES_DATA, next))
				break;
			x->frame_left = next;
		}
		n = pipe_end_write(&x->in, data + done, MIN(x->frame_left, size - done));
		if (n <= 0)
			break;
		done += (size_t)n;
		x->frame_left -= (size_t)n;
	}
	if (done < size) {
		if (!pipe_end_wait(&x->in)) /* the rest is nobody's */
			return size;
		request_wait(r);
	}
	return done;
}

static void upload_finish(struct fileop *x)
{
	if (!head_write(x, FILES_END, 0) && pipe_end_wait(&x->in))
		return;
	x->end_due = false;
	pipe_end_close(&x->in);
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
