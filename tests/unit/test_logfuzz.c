/* The reader of a log on damaged and on forged logs: bytes that are changed with and without the
 * checksums made right again, records that are cut, doubled, moved. It refuses or gives a tree that
 * can be walked and written; it never crashes, hangs or takes memory without bound.
 *   test_logfuzz [COUNT [FIRST]] */
/* objects: src/base/arena.c src/base/program.c src/base/crc32c.c src/base/log.c src/kernel/platform/cell.c src/kernel/platform/fastmem.c src/kernel/platform/gueststream.c src/kernel/platform/uio.c src/kernel/vfs/inode.c src/kernel/vfs/hostfile.c src/kernel/fs/image/fdcache.c src/kernel/fs/layer/ */
#include "base/crc32c.h"
#include "kernel/vfs/fs.h"
#include "diskmodel.h"
#include "tap.h"

static int make_disk(uint64_t seed)
{
	struct fs *fs = disk_open_fs();

	if (!fs)
		return 1;
	model_init();
	op_rng = seed * 0x2545f4914f6cdd1dULL + 7;
	for (unsigned k = 0; k < OPS; k++) {
		struct op o = op_make();

		if (o.kind != OP_NONE && real_apply(fs, &o) < 0)
			return 1;
		model_apply(&o);
	}
	return 0;
}

static struct fino *log_of(unsigned layer)
{
	char name[16];
	struct fino *dir = fent_find(fake->root->ents, "data")->ino;

	snprintf(name, sizeof(name), "%u", layer);
	return fent_find(fent_find(dir->ents, name)->ino->ents, "log")->ino;
}

/* Where the records are. */
static unsigned records_find(const struct fino *log, size_t at[4096])
{
	size_t off = sizeof(struct log_header);
	unsigned n = 0;

	while (off + 9 <= log->size && n < 4096) {
		uint32_t len;

		memcpy(&len, log->data + off, 4);
		if (!len || off + 8 + len > log->size)
			break;
		at[n++] = off;
		off += 8 + len;
	}
	return n;
}

/* The checksums fit again, so that what was changed is looked at. */
static void checksums_fix(struct fino *log)
{
	struct log_header *h = (struct log_header *)log->data;
	static size_t at[4096];
	unsigned n = records_find(log, at);
	uint32_t crc = h->crc = crc32c(0, h, offsetof(struct log_header, crc));

	for (unsigned i = 0; i < n; i++) {
		uint32_t len;

		memcpy(&len, log->data + at[i], 4);
		crc = crc32c(crc32c(crc, &len, 4), log->data + at[i] + 8, len);
		memcpy(log->data + at[i] + 4, &crc, 4);
	}
}

static void mutate(struct fino *log)
{
	static size_t at[4096];
	unsigned n = records_find(log, at), times = 1 + (unsigned)(fake_random() % 4);

	while (times-- && n > 2) {
		unsigned i = (unsigned)(fake_random() % (n - 1));
		size_t len = at[i + 1] - at[i], off = at[i] + 9 + fake_random() % (len - 9 ? len - 9 : 1);

		switch (fake_random() % 6) {
		case 0: /* a field */
			log->data[off] = (char)fake_random();
			break;
		case 1: /* a bit */
			log->data[off] ^= (char)(1 << fake_random() % 8);
			break;
		case 2: /* a number from elsewhere */
			memcpy(log->data + at[i] + 9, log->data + at[fake_random() % n] + 9, 8);
			break;
		case 3: /* a record goes */
			memmove(log->data + at[i], log->data + at[i + 1], log->size - at[i + 1]);
			log->size -= len;
			n = records_find(log, at);
			break;
		case 4: { /* a record twice */
			unsigned j = (unsigned)(fake_random() % (n - 1));
			size_t jlen = at[j + 1] - at[j];
			static char copy[65536];

			if (jlen > sizeof(copy))
				break;
			memcpy(copy, log->data + at[j], jlen);
			fake_grow(&log->data, &log->cap, log->size + jlen);
			memmove(log->data + at[i] + jlen, log->data + at[i], log->size - at[i]);
			memcpy(log->data + at[i], copy, jlen);
			log->size += jlen;
			n = records_find(log, at);
			break;
		}
		default: /* another type */
			log->data[at[i] + 8] = (char)(fake_random() % (REC_TYPES + 1));
		}
	}
}

/* 0: it was opened and is sound; 7: it was refused. */
static int open_damaged(uint64_t seed)
{
	struct fs *fs = disk_open_fs();
	struct op mk = { .kind = OP_MKDIR, .name = "zz", .mode = 0755 };

	(void)seed;
	if (!fs)
		return 7;
	text_real[0] = '\0';
	real_text(fs->root, "", true, text_real);
	(void)real_apply(fs, &mk);
	while (store_recover_step((struct layer *)fs))
		;
	if (store_compact((struct layer *)fs) < 0)
		return 3;
	layer_finish(fs);
	fs_put(fs);
	/* What was written anew is read again. */
	fake_reboot(false);
	fs = disk_open_fs();
	if (!fs)
		return 4;
	real_text(fs->root, "", true, text_model);
	fs_put(fs);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
	unsigned first = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	unsigned opened = 0, refused = 0, bad = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct fino *log;
		int r;

		run_start(seed % 16 + 1);
		if (in_child(make_disk, seed % 16 + 1)) {
			bad++;
			continue;
		}
		fake_reboot(false);
		fake->rng = seed * 0x9e3779b97f4a7c15ULL + 3;
		log = log_of(1 + (unsigned)(fake_random() % fake->active));
		mutate(log);
		if (seed % 8)
			checksums_fix(log);
		alarm(20);
		r = in_child(open_damaged, seed);
		if (r == 0)
			opened++;
		else if (r == 7)
			refused++;
		else {
			printf("# seed %llu: status %d\n", (unsigned long long)seed, r);
			bad++;
		}
	}
	printf("# %u opened, %u refused\n", opened, refused);
	ok(opened > 0 && refused > 0, "some were opened, some refused");
	eq(bad, 0, "nothing else happened");
	return tap_end();
}
