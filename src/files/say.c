/* See say.h. */
#include "files/say.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void all_write(struct iovec *v, int n)
{
	while (n) {
		ssize_t done = writev(1, v, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			_exit(1);
		while (n && (size_t)done >= v->iov_len) {
			done -= (ssize_t)v->iov_len;
			v++;
			n--;
		}
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
}

static void frame_write(uint8_t type, struct iovec *v, int n)
{
	struct files_frame f = { .type = type };
	struct iovec all[5] = { { &f, sizeof(f) } };

	for (int i = 0; i < n; i++) {
		f.size += (uint32_t)v[i].iov_len;
		all[i + 1] = v[i];
	}
	all_write(all, n + 1);
}

static struct iovec bytes(const void *p, size_t n)
{
	return (struct iovec){ (void *)(uintptr_t)p, n };
}

void data_say(const void *data, size_t n)
{
	struct iovec v = bytes(data, n);

	if (n)
		frame_write(FILES_DATA, &v, 1);
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * NSEC_PER_SEC + t->tv_nsec;
}

void record_say(struct files_record r, const struct stat *st, const char *path, const char *second)
{
	struct iovec v[3] = { bytes(&r, sizeof(r)) };

	if (st) {
		r.size = (uint64_t)st->st_size;
		r.ino = st->st_ino;
		r.mtime = ns_of(&st->st_mtim);
		r.ctime = ns_of(&st->st_ctim);
		r.mode = st->st_mode;
		r.uid = st->st_uid;
		r.gid = st->st_gid;
		r.nlink = (uint32_t)st->st_nlink;
	}
	r.npath = path ? (uint32_t)strnlen(path, FILES_PATH) : 0;
	r.nlink_text = second ? (uint32_t)strnlen(second, FILES_PATH) : 0;
	v[1] = bytes(path, r.npath);
	v[2] = bytes(second, r.nlink_text);
	frame_write(FILES_RECORD, v, 3);
}

int end_say(void)
{
	frame_write(FILES_END, NULL, 0);
	return 0;
}

int error_say_size(int err, const char *about, uint64_t size)
{
	struct files_error e = { .code = err, .size = size };
	struct iovec v[2] = { bytes(&e, sizeof(e)),
			      bytes(about, about ? strnlen(about, FILES_TEXT) : 0) };

	frame_write(FILES_ERROR, v, 2);
	return 1;
}

int error_say(int err, const char *about)
{
	return error_say_size(err, about, 0);
}

/* ---- hearing ---- */

/* All n bytes, or false. */
static bool all_read(void *buf, size_t n)
{
	char *p = buf;

	while (n) {
		ssize_t got = read(0, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

ssize_t data_hear(void *buf, size_t n)
{
	static uint32_t left;
	static bool ended;
	struct files_frame f;
	ssize_t got;

	while (!left && !ended) {
		if (!all_read(&f, sizeof(f)) || (f.type != FILES_DATA && f.type != FILES_END))
			return -ECONNABORTED;
		ended = f.type == FILES_END;
		left = ended ? 0 : f.size;
	}
	if (ended)
		return 0;
	do
		got = read(0, buf, MIN(n, (size_t)left));
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return -ECONNABORTED;
	left -= (uint32_t)got;
	return got;
}
