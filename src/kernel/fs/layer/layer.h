/* A layer: a writable tree in memory, alone (tmpfs) or copy-on-write above an image (the cell's
 * root). */
#ifndef VIV_KERNEL_FS_LAYER_LAYER_H
#define VIV_KERNEL_FS_LAYER_LAYER_H

#include "wire/bootspec.h"
#include "kernel/fs/image/image.h"

struct fs;
struct sync_request;

/* A new layer with refs = 1, its root made; NULL: no memory. Takes lower (NULL: none, a tmpfs).
 * max_bytes of content and max_inodes of new files and names; 0: no limit of its own. type_name is
 * shown in /proc/mounts and stays the caller's. The contents of files are in cell.scratch_fd. */
struct fs *must_check layer_new(struct image *lower_or_NULL, uint64_t max_bytes,
				uint64_t max_inodes, const char *type_name);

/* A disk, as the trusted side gives it (docs/decisions/0017): sealed layers from the root of the
 * chain on, then the active one. */
#define LAYER_CHAIN_MAX 4096

struct layer_disk {
	int data_fd; /* the directory with the disk's own layers, by number */
	bool readonly;
	uint32_t active; /* made when it is not there; none when read-only */
	uint32_t nsealed;
	const struct layer_spec *sealed;
};

/* The same with a disk: what it holds is there again. Takes lower (NULL: a volume) and data_fd; the
 * descriptors of sealed layers stay open. 0, or -errno with one line in why. */
int must_check layer_new_on_disk(struct image *lower_or_NULL, const struct layer_disk *disk,
				 uint64_t max_bytes, uint64_t max_inodes, const char *type_name,
				 struct fs **ret_, char *why, size_t why_size);

/* The cell ends: what was written is noted, so that the next start is fast. Nothing may change
 * after it. For other file systems than a layer with a disk, nothing happens. */
void layer_finish(struct fs *fs);

/* What was changed in the tree is on the host's disk. For other file systems than a layer with a
 * disk, nothing happens. */
int must_check layer_sync_names(struct fs *fs);

/* Whether the call that runs waits for a sync (KEPT_SYNC). */
bool layer_sync_waits(void);
/* What became of that sync: the result, or WAITING and it waits on. */
int must_check layer_sync_again(void);
/* The call that waited for it has ended. */
void layer_sync_drop(struct sync_request *request);

/* Begins to bring everything to the host's disk while the cell goes on, so that a seal finds little
 * that is not there; no more is promised. told is called when that has come to an end, whatever it
 * is; it may be before this returns. false: it was not begun. */
bool layer_sync_beside(struct fs *fs, void (*const *told)(void));
/* Seals the active layer; the one called number goes on above it. 0 or -errno: nothing has changed.
 * sync: waits until everything is on the host's disk, before. */
int must_check layer_seal(struct fs *fs, uint32_t number, bool sync);
/* Brings the new layer to the host's disk. Until then, or the first sync, it may be gone after a
 * power cut, and counts as empty: whoever waits for the seal need not wait for that. */
void layer_seal_end(struct fs *fs);

/* Writes the log of a layer that tells all that the layers of a read-only disk tell, to an empty
 * file. Its contents have the numbers that they have there; content is called for each of them,
 * with the index of the layer that it is in now. -ESTALE: the image lacks what they have
 * changed. */
int must_check layer_merge(struct fs *fs, int log_fd, uint32_t number,
			   int (*content)(void *arg, uint32_t index, uint64_t number), void *arg);
/* The same for what the logs above the first layers of a read-only disk take from these, and
 * merged, their tree, does not have. Of one number there may be several: that of the highest index
 * counts. */
int must_check layer_contents(struct fs *fs, uint32_t layers, struct fs *merged,
			      int (*content)(void *arg, uint32_t index, uint64_t number),
			      void *arg);

/* What a layer holds of its own, and its limits (0: none). Zeros for other file systems. */
struct layer_usage {
	uint64_t bytes, max_bytes, inodes, max_inodes;
	uint64_t bytes_refused, inodes_refused; /* how often there was no room */
};
void layer_usage_get(struct fs *fs, struct layer_usage *out);
/* Other limits. What is there already stays, and counts: below it there is no room. Nothing happens
 * to other file systems. */
void layer_limits_set(struct fs *fs, uint64_t max_bytes, uint64_t max_inodes);

/* Calls fn for each path (absolute in the layer) that differs from the image: 'A' added, 'C'
 * changed, 'D' deleted. Parents come before their children; otherwise in no order. A renamed
 * directory is D and A; what it brought with it from the image is not listed again. Paths longer
 * than PATH_MAX_LEN are left out. */
void layer_changes(struct fs *fs, void (*fn)(void *arg, char kind, const char *path), void *arg);

#endif
