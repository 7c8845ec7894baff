/* What viv-files tells, as JSON: files, events, errors. Names that are no UTF-8 come as base64,
 * under another key. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/files/operation.h"
#include "api/http/text.h"

static void name_set(json_t *o, const char *key, const char *name)
{
	size_t n = strlen(name);
	char other[32], *coded;

	if (text_is_utf8(name, n)) {
		json_object_set_new(o, key, json_stringn(name, n));
		return;
	}
	coded = xalloc(BASE64_SIZE(n) + 1);
	base64_encode(coded, name, n);
	snprintf(other, sizeof(other), "%s_base64", key);
	json_object_set_new(o, other, json_string(coded));
	free(coded);
}

static const char *type_name(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
		return "char_device";
	case S_IFBLK:
		return "block_device";
	default:
		return "other";
	}
}

/* Only what lies in the range of time_text(): a guest can set any time. */
static const char *time_of(int64_t ns, struct time_text *text)
{
	const int64_t most = 253402300799LL;

	if (ns / NSEC_PER_SEC > most || ns < 0)
		ns = 0;
	*text = time_text(ns);
	return text->str;
}

json_t *file_json(const struct files_record *rec, const char *path, const char *second)
{
	struct time_text mtime, ctime;
	char mode[16];
	json_t *o = json_object();
	struct err f = { 0 };

	name_set(o, "path", path);
	if (rec->error) {
		file_err(&f, rec->error, "");
		json_object_set_new(o, "error", json_err(&f));
		return o;
	}
	snprintf(mode, sizeof(mode), "%04o", rec->mode & 07777);
	json_object_update_new(o, json_pack("{s:s,s:I,s:s,s:I,s:I,s:I,s:I,s:s,s:s}", "type",
					    type_name(rec->mode), "size",
					    (json_int_t)(rec->size & INT64_MAX), "mode", mode,
					    "uid", (json_int_t)rec->uid, "gid",
					    (json_int_t)rec->gid, "nlink", (json_int_t)rec->nlink,
					    "inode", (json_int_t)(rec->ino & INT64_MAX), "mtime",
					    time_of(rec->mtime, &mtime), "ctime",
					    time_of(rec->ctime, &ctime)));
	if (S_ISLNK(rec->mode))
		name_set(o, "target", second);
	return o;
}

json_t *file_event_json(const struct files_record *rec, const char *path, const char *second)
{
	static const char *const names[] = {
		[FILES_EV_READY] = "ready",	  [FILES_EV_CREATED] = "created",
		[FILES_EV_MODIFIED] = "modified", [FILES_EV_ATTRIBUTES] = "attributes",
		[FILES_EV_REMOVED] = "removed",	  [FILES_EV_MOVED] = "moved",
		[FILES_EV_OVERFLOW] = "overflow",
	};
	const char *name = rec->event < ARRAY_LEN(names) ? names[rec->event] : NULL;
	json_t *o;

	if (!name)
		return NULL;
	o = json_pack("{s:s}", "type", name);
	name_set(o, "path", path);
	if (rec->event == FILES_EV_MOVED)
		name_set(o, "to", second);
	if (rec->event == FILES_EV_CREATED || rec->event == FILES_EV_MOVED)
		json_object_set_new(o, "is_directory", json_boolean(S_ISDIR(rec->mode)));
	return o;
}

void file_err(struct err *f, int code, const char *about)
{
	static const struct {
		int code;
		enum err_kind kind;
		const char *text, *remedy;
	} known[] = {
		{ ENOENT, ERR_NOT_FOUND, "there is no such file or directory in the cell", NULL },
		{ ENOTDIR, ERR_NOT_DIRECTORY, "a part of the path is not a directory", NULL },
		{ EISDIR, ERR_IS_DIRECTORY, "this is a directory",
		  "use /files/list or /files/tar" },
		{ ENOTBLK, ERR_NOT_A_FILE,
		  "this is neither a file nor a directory, and has no content that ends", NULL },
		{ EEXIST, ERR_EXISTS, "there is something at that place already", NULL },
		{ ENOTEMPTY, ERR_NOT_EMPTY, "the directory is not empty", "ask for recursive=1" },
		{ ELOOP, ERR_LINK_LOOP, "the links lead nowhere", NULL },
		{ EXDEV, ERR_OTHER_FILE_SYSTEM,
		  "this leads to another file system or out of the directory", NULL },
		{ EBUSY, ERR_BUSY, "something is mounted there, or it is in use", NULL },
		{ ETXTBSY, ERR_BUSY, "the program is running", NULL },
		{ ESTALE, ERR_CHANGED, "the file became shorter while it was read", NULL },
		{ EREMOTE, ERR_FORBIDDEN,
		  "a token of scope 'read' sees stored files only, nothing of /proc, /sys and "
		  "/dev",
		  NULL },
		{ EACCES, ERR_DENIED, "the cell's user may not do this", NULL },
		{ EPERM, ERR_DENIED, "the cell does not permit this", NULL },
		{ EROFS, ERR_READ_ONLY, "this part of the cell is read-only", NULL },
		{ EINVAL, ERR_INVALID, "this cannot be done with these paths", NULL },
		{ ENAMETOOLONG, ERR_INVALID, "the path is too long", NULL },
		{ ENOSPC, ERR_NO_SPACE, "the cell's disk is full", NULL },
		{ EDQUOT, ERR_NO_SPACE, "the cell's disk is full", NULL },
		{ EFBIG, ERR_TOO_LARGE, "the file is larger than the cell allows", NULL },
		{ EILSEQ, ERR_BAD_ARCHIVE, "this is not a tar archive, or it is damaged",
		  "send it uncompressed" },
		{ ENOTSUP, ERR_UNSUPPORTED, "the archive has an entry of a kind that is not read",
		  NULL },
	};

	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		if (known[i].code != code)
			continue;
		err_note(f, known[i].kind, "%s", known[i].text);
		err_remedy(f, known[i].remedy ? known[i].remedy : "");
		break;
	}
	if (!f->kind)
		err_note(f, ERR_FAILED, "the operation failed in the cell: %s",
			 code > 0 && code < 4096 ? strerror(code) : "for no known reason");
	err_cause(f, about);
}
