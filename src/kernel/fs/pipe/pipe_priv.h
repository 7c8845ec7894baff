/* The pipe itself, for pipe.c and fifo.c. */
#ifndef VIV_KERNEL_FS_PIPE_PIPE_PRIV_H
#define VIV_KERNEL_FS_PIPE_PIPE_PRIV_H

#include "kernel/fs/pipe/pipe.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/file.h"

struct pipe_packet {
	uint64_t start, end;
};

struct pipe {
	uint32_t refs; /* open files, and opens of a FIFO that wait */
	uint32_t readers, writers; /* of these, by direction */
	uint32_t r_counter, w_counter; /* how many ever came: a waiting open compares them */
	uint32_t capacity;
	uint32_t ring_size; /* a power of two up to capacity; 0: no ring, the pipe is empty */
	char *ring;
	uint64_t rpos, wpos; /* bytes ever taken and put */
	struct pipe_packet
		*packets; /* messages of O_DIRECT writers, oldest first; packets_max of them */
	uint32_t npackets, packets_max;
	struct waitq q;
	struct inode *ino; /* borrowed: whose it is */
	bool anonymous; /* of pipe(): opening it again (/proc/self/fd/N) never waits */
};

extern const struct file_ops pipe_fops;

struct pipe *must_check pipe_new(void); /* refs = 1, or NULL */
void pipe_put(struct pipe *p);
/* An end goes away: readers and writers of the other side learn of it. */
void pipe_drop_end(struct pipe *p, bool reader, bool writer);

#endif
