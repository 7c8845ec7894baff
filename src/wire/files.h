/* What vivd and viv-files say to each other (docs/decisions/0023).
 *
 * viv-files is a program that runs in a cell, for one operation each time. Its words say what to
 * do:
 *
 *   read PATH all|from|last A B     A: first byte, B: last one; or A: how many of the last
 *   write PATH MODE UID GID REPLACE SYNC PARENTS
 *   stat PATH FOLLOW
 *   list PATH RECURSIVE
 *   mkdir PATH PARENTS MODE UID GID
 *   move FROM TO REPLACE
 *   remove PATH RECURSIVE
 *   tar PATH FOLLOW
 *   untar PATH UID GID
 *   watch PATH RECURSIVE
 *
 * "stored" before them: stored files only, nothing of /proc, /sys and /dev (stored.h).
 *
 * "-" stands for a value that is not given; MODE is octal; switches are 0 or 1. Its input and its
 * output are frames: a struct files_frame and so many bytes. It gets FILES_DATA (write, untar) and,
 * when that was all, FILES_END; an input that ends before is a client that went away, and nothing
 * of a 'write' is left. It gives FILES_RECORD (stat, list, write, watch; of read, the file whose
 * bytes follow), FILES_DATA (read, tar), and last either FILES_END or FILES_ERROR.
 *
 * Everything that is in a cell can be another's doing, so vivd takes what it says as the word of a
 * stranger: sizes are checked before anything is read, and no value is used for more than to be
 * told to the client. */
#ifndef VIV_WIRE_FILES_H
#define VIV_WIRE_FILES_H

#include "base/base.h"

#define FILES_DATA_MAX (1u << 20)
#define FILES_PATH 16384 /* of a path in a tree; what is longer is told as an error */
#define FILES_LINK 4096
#define FILES_TEXT 4096

enum files_type {
	FILES_DATA = 'd',
	FILES_END = 'z',
	FILES_ERROR = 'e', /* struct files_error, then a path or what else it is about */
	FILES_RECORD = 'r', /* struct files_record, then the path, then the second one */
};

struct files_frame {
	uint8_t type; /* enum files_type */
	uint8_t none[3];
	uint32_t size; /* of what follows */
};

struct files_error {
	/* errno. EILSEQ: a broken archive; ENOTSUP: one of a kind that is not read; ENOTBLK:
	 * neither a file nor a directory; EREMOTE: not a stored file (stored.h) */
	int32_t code;
	uint64_t size; /* of the file, with ERANGE */
};

enum files_event { /* of watch */
		   FILES_EV_NONE,
		   FILES_EV_READY, /* from now on changes are seen */
		   FILES_EV_CREATED,
		   FILES_EV_MODIFIED,
		   FILES_EV_ATTRIBUTES,
		   FILES_EV_REMOVED,
		   FILES_EV_MOVED, /* to the second path */
		   FILES_EV_OVERFLOW, /* some were lost */
};

struct files_record {
	uint64_t size, ino;
	int64_t mtime, ctime; /* nanoseconds since 1970 */
	uint32_t mode, uid, gid, nlink;
	uint64_t from, length; /* of read: what follows; length UINT64_MAX: until its end */
	uint32_t event; /* enum files_event */
	uint32_t created; /* of write: it was not there before */
	int32_t error; /* of list: errno of an entry that cannot be looked at */
	/* bytes of the path and of the second text: a link's target, where it was moved to */
	uint32_t npath, nlink_text;
};

#define FILES_RECORD_MAX (sizeof(struct files_record) + FILES_PATH + FILES_PATH)

#endif
