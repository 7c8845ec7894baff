/* The cell's journal (docs/decisions/0049-journal.md): this process takes what the kernel and the
 * gate put into their rings, checks it, numbers it, and writes it to raw files; viv-journal seals
 * these.
 *
 *   journal.c      the rings, the clock, the end
 *   journalfile.c  the directory, its lock, raw files, and what an earlier keeper left
 *   journalseal.c  who seals them
 *   journalput.c   records of our own, and those that vivd hands over */
#ifndef VIV_KEEPER_JOURNAL_H
#define VIV_KEEPER_JOURNAL_H

#include "base/err.h"
#include "wire/keeper.h"
#include "wire/journalraw.h"

struct client;
struct rootfs;
struct run_options;

/* ---- journal.c ---- */

/* Before the cell starts: makes the ring of its kernel. *ret_ring, *ret_bell: descriptors for the
 * kernel; -1: it has no journal, as it shall not, or cannot and nobody has asked for one. With an
 * id, its directory as well. */
int must_check journal_prepare(const struct run_options *o, const struct rootfs *p, int *ret_ring,
			       int *ret_bell, struct err *e);
/* The id is known by now: nothing has run in the cell before. */
int must_check journal_name(struct err *e);
/* Both of them, for a cell that waited in a pool. */
int must_check journal_begin(struct err *e);
/* The kernel runs. */
void journal_follow(void);
/* The cell could not be started: nothing is left. */
void journal_drop(void);
/* A gate is about to start: its ring, and what it rings, which are the caller's; -1: there is no
 * journal. 0; -EAGAIN: what the gate before wrote is not in a file yet, and gate_retry() follows;
 * -errno. */
int must_check journal_gate_begin(int *ret_ring, int *ret_bell);
/* It has ended. */
void journal_gate_end(void);
/* When journal_time() is to be called; 0: not. */
int64_t journal_deadline(void);
void journal_time(void);
/* What is in the rings by now is in a file after it, unless the disk is full. */
void journal_flush(void);
/* The kernel is gone. */
void journal_stop(int status, enum keep_reason reason);
bool journal_is_on(void);
/* There is no room for what the cell has recorded, and it stands still. */
bool journal_waits(void);
/* Frames of our own: n bytes. 0 or -errno; -ENOSPC: it is not in the journal. */
int journal_frame_put(const void *frame, size_t n);
/* To the user, and as an event. */
void journal_tell(const char *text);

/* ---- journalput.c ---- */

/* A record of this process. pid: of the process in the cell that it is about; 0: none. */
void journal_record(enum journal_kind kind, const void *record, int pid);
/* What the operator did. */
void journal_operator(const char *action, const char *detail);
void journal_limit(const char *what);
void journal_policy(char *const *rules);
/* words: one after the other, each ended by a NUL. */
void journal_command(uint32_t number, const char *words, size_t n);
struct jtext jtext_of(const char *s);
/* KEEP_JOURNAL. Takes fds. */
void journal_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds);

/* ---- journalfile.c ---- */

struct jfile {
	int dirs, dir; /* journals, and the cell's in it, which is locked; -1 */
	int raw; /* the one that is written; -1: none */
	uint64_t number; /* of that one */
	uint64_t seq; /* of the next record */
	uint64_t bytes; /* in it; its head is not counted */
	int64_t since; /* its first record came then; 0: it has none */
	bool fresh; /* the directory was made for this run */
	bool spare; /* ... and was a spare one, which has its files */
	uint64_t max; /* bytes that all of it may have; 0: any */
	uint64_t used; /* by what was written before this raw file */
	char id[40];
	/* What the last raw file says of rings: up to where they were taken. */
	struct jplace {
		uint64_t ring, position;
	} places[JOURNAL_KEEPER];
};

/* Opens journals of the store. */
int must_check jfile_store(struct jfile *f, const struct rootfs *p, struct err *e);
/* The journal of that id; waits for a sealer that has it. */
int must_check jfile_open(struct jfile *f, const char *id, struct err *e);
void jfile_close(struct jfile *f);
/* Removes all that was made, if there is no record in it. */
void jfile_drop(struct jfile *f);
/* A new raw file takes the place of the one before. 0 or -errno. */
int must_check jfile_rotate(struct jfile *f);
/* Writes one batch: head is at the start of the nbytes of frames that follow it in memory. 0 or
 * -errno, and then nothing is written. */
struct jbatch {
	struct journal_batch head;
	uint8_t frames[JOURNAL_BATCH_MAX];
};
int must_check jfile_write(struct jfile *f, struct jbatch *b);
/* Whether n bytes more are within its limit. */
bool jfile_has_room(const struct jfile *f, size_t n);
/* Looks how large it is: blocks are smaller than the raw files that they were. */
void jfile_measure(struct jfile *f);
void jfile_meta(struct jfile *f, bool ended);

/* ---- journalseal.c ---- */

/* All files before the one that is written are complete. f stays. */
void sealer_start(struct jfile *f);
/* When sealer_time() is to be called; 0: not. */
int64_t sealer_deadline(void);
void sealer_time(int64_t now);
/* The journal is complete, and its rings are gone. */
void sealer_leave(struct jfile *f);

#endif
