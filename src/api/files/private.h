/* The inside of an operation on files, which fileop.c (its life), fileanswer.c (what comes out of
 * it) and fileupload.c (what goes into it) share. */
#ifndef VIV_API_FILES_PRIVATE_H
#define VIV_API_FILES_PRIVATE_H

#include "api/files/operation.h"
#include "api/http/pipeend.h"
#include "daemon/cells/offline.h"

struct fileop {
	struct op op; /* first: until it is answered */
	struct daemon *d;
	struct request *r; /* whose stream it is; NULL: not answered yet */
	struct keeper_link *link; /* NULL: it was not asked yet, or has given its last answer */
	bool lost; /* the cell ended before that */
	enum fileop_answer answer;
	bool ranged, upload, sse;
	const char *type;
	char cell[CELL_ID_LEN + 1];
	int fds[4]; /* for the exec: the spec, the streams; -1: gone there */
	struct visitor visitor; /* when the cell does not run */
	bool visits, held;
	uint32_t proc; /* 0: not started */
	bool exited;
	struct pipe_end in, out;
	/* the frame that is being read */
	union {
		struct files_frame frame;
		char head[sizeof(struct files_frame)];
	};
	size_t nhead; /* of head; all of it: frame is what it says */
	size_t left; /* of its bytes */
	size_t nbody;
	char *body; /* of frames that are no data; room for FILES_RECORD_MAX and a NUL */
	json_t *object; /* of FILEOP_RECORD */
	struct err err; /* instead of an answer; kind 0: none */
	uint64_t size; /* with status 416 */
	unsigned status;
	bool ended; /* FILES_END was there */
	bool broken; /* the stream has no end that could be told */
	bool leaving; /* the answer waits for the cell's disk to be free */
	uint64_t owed; /* of FILEOP_FILE: how many bytes are still to come */
	char *line; /* that is being given to the client; NULL: none */
	size_t line_at;
	/* the frame of the body that is being written */
	size_t frame_left;
	bool end_due; /* FILES_END is to be written */
};

/* ---- fileop.c ---- */
void fileop_free(struct fileop *x);

/* ---- fileanswer.c ---- */
/* Before the request is answered: looks at the frames that are there. */
void fileop_answer_step(struct fileop *x);
/* The error in x is the answer. */
void fileop_fail(struct fileop *x);
/* It did not come to its end. why: what its keeper says, unless the cell has ended; NULL:
 * nothing. */
void fileop_broken(struct fileop *x, const struct err *why);

/* ---- fileupload.c ---- */
extern const struct upload fileop_upload;
/* There is room in the pipe. */
void fileop_upload_step(struct fileop *x);

#endif
