/* A key that is replaced: what it signed before stays good, and whoever has it afterwards can add
 * and change nothing. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/journal.h"
#include "journal/keys.h"
#include "journalmake.h"
#include "tap.h"

static char top[] = "/tmp/viv-keys.XXXXXX", first_wrong[512];
static int journals;

/* ---- a process that is killed ---- */

static unsigned kill_at, calls; /* before which of the calls below; 0: none */

static void call_count(void)
{
	if (kill_at && ++calls == kill_at)
		raise(SIGKILL);
}

/* The calls that leave something behind, in place of the library's. */
ssize_t write(int fd, const void *data, size_t n)
{
	call_count();
	return syscall(SYS_write, fd, data, n);
}

int fsync(int fd)
{
	call_count();
	return (int)syscall(SYS_fsync, fd);
}

int linkat(int from, const char *a, int to, const char *b, int flags)
{
	call_count();
	return (int)syscall(SYS_linkat, from, a, to, b, flags);
}

int unlinkat(int dir, const char *name, int flags)
{
	call_count();
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

int renameat(int from, const char *a, int to, const char *b)
{
	call_count();
	return (int)syscall(SYS_renameat, from, a, to, b);
}

static int journal_open(const char *name)
{
	mkdirat(journals, name, 0700);
	return openat(journals, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* One block more, of one record. */
static void block_add(const char *name, int pid)
{
	int dir = journal_open(name);
	struct journal_tip tip;
	struct maker m = { .dir = dir };
	struct err e;

	if (journal_tip_read(dir, &tip, &e) < 0)
		abort();
	snprintf(m.cell, sizeof(m.cell), "%s", name);
	m.number = tip.block + 1;
	m.seq = tip.records + 1;
	maker_file(&m);
	maker_add(&m, J_FORK, &(struct journal_FORK){ .parent = 1 }, pid);
	maker_close(&m);
	if (journal_seal(dir, SEAL_ALL, &e) < 0)
		abort();
	close(dir);
}

static void note_wrong(void *arg, const char *what)
{
	(void)arg;
	if (!*first_wrong)
		snprintf(first_wrong, sizeof(first_wrong), "%s", what);
}

static bool is_good(const char *name, const uint8_t *key)
{
	struct journal_check c = { .deep = true, .cell = name, .key = key, .wrong = note_wrong };
	int dir = journal_open(name);
	struct err e;

	*first_wrong = 0;
	if (journal_verify(dir, &c, &e) < 0) {
		snprintf(first_wrong, sizeof(first_wrong), "%.500s", e.message);
		c.nwrong = 1;
	}
	close(dir);
	return !c.nwrong;
}

static bool found(const char *name, const char *text)
{
	bool wrong = !is_good(name, NULL) && strstr(first_wrong, text);

	if (!wrong)
		printf("# %s\n", first_wrong);
	return wrong;
}

static void rotate(void)
{
	struct journal_key k;
	struct err e = { 0 };

	if (ok(!keys_rotate(journals, &k, &e), "the key is replaced"))
		key_close(&k);
	else
		printf("# %s\n", e.message);
}

static void file_copy(const char *from, const char *to)
{
	char bytes[65536];
	int in = openat(journals, from, O_RDONLY), out;
	ssize_t n = read(in, bytes, sizeof(bytes));

	unlinkat(journals, to, 0);
	out = openat(journals, to, O_WRONLY | O_CREAT, 0600);
	if (n < 0 || write(out, bytes, (size_t)n) != n)
		abort();
	close(in);
	close(out);
}

static void public_of(uint8_t out[JOURNAL_PUBLIC])
{
	struct journal_key k;
	struct err e;

	if (key_open(&k, journals, true, &e) < 0)
		abort();
	memcpy(out, k.public, JOURNAL_PUBLIC);
	key_close(&k);
}

static void test_rotation(void)
{
	uint8_t one[JOURNAL_PUBLIC], two[JOURNAL_PUBLIC], three[JOURNAL_PUBLIC];

	public_of(one);
	block_add("a", 1);
	block_add("a", 2);
	block_add("b", 1);
	file_copy("journal.key", "stolen");
	rotate();
	public_of(two);
	ok(memcmp(one, two, sizeof(one)) != 0, "it is another one");
	ok(is_good("a", NULL) && is_good("b", NULL), "what was signed before is good");
	block_add("a", 3);
	ok(is_good("a", NULL), "and goes on with the new key");
	ok(is_good("a", two), "also for somebody who has its public half only");
	ok(!is_good("a", one), "who has the old one needs the new one");
	block_add("c", 1);
	rotate();
	public_of(three);
	block_add("a", 4);
	ok(is_good("a", NULL) && is_good("b", NULL) && is_good("c", NULL), "so is a second time");
	ok(is_good("a", three) && !is_good("a", two), "only the newest one counts");
}

/* With the first key, which somebody has taken. */
static void test_stolen(void)
{
	file_copy("journal.key", "ours");
	file_copy("stolen", "journal.key");
	block_add("b", 66);
	block_add("d", 66);
	file_copy("ours", "journal.key");
	ok(found("b", "signed by another key"), "a block that was added by the old key is found");
	ok(found("d", "signed by another key"), "a journal of the old key as well");
	/* Another journal in place of the one that was. */
	unlinkat(journals, "b/00000001.vjs", 0);
	file_copy("stolen", "journal.key");
	block_add("b", 67);
	file_copy("ours", "journal.key");
	ok(found("b", "the journal was replaced"), "one that was written again is found");
	unlinkat(journals, "c/00000001.vjs", 0);
	block_add("c", 68);
	ok(found("c", "the journal was replaced"), "also if the current key has signed it");
	unlinkat(journals, "a/00000001.vjs", 0);
	block_add("a", 1);
	ok(found("a", "its end was cut off") || found("a", "the journal was replaced"),
	   "one that is shorter");
}

static void test_list(void)
{
	char bytes[8192], *at;
	ssize_t n;
	int fd;

	block_add("e", 1);
	rotate();
	ok(is_good("e", NULL), "a journal of the key before");
	fd = openat(journals, "journal.keys", O_RDWR);
	n = read(fd, bytes, sizeof(bytes) - 1);
	bytes[n] = 0;
	at = strstr(bytes, "head e 1 ");
	if (!at)
		abort();
	file_copy("journal.keys", "kept");
	if (pwrite(fd, "f", 1, at - bytes + 9) != 1 || pwrite(fd, "0", 1, at - bytes + 10) != 1)
		abort();
	close(fd);
	ok(found("e", "signed by another key"), "a list that was changed is none");
	file_copy("kept", "journal.keys");
	ok(is_good("e", NULL), "put back it is");
	unlinkat(journals, "journal.key", 0);
	block_add("f", 1);
	ok(found("e", "signed by another key"), "a key that was swapped is found");
	file_copy("kept", "journal.keys");
}

static void test_interrupted(void)
{
	struct journal_key next;
	uint8_t now[JOURNAL_PUBLIC];
	struct err e;

	unlinkat(journals, "journal.keys", 0);
	block_add("g", 1);
	if (key_next(&next, journals, &e) < 0)
		abort();
	rotate();
	public_of(now);
	ok(!memcmp(now, next.public, sizeof(now)), "a rotation that was interrupted goes on");
	key_close(&next);
	ok(is_good("g", NULL), "and all is good");
	unlinkat(journals, "journal.keys", 0);
	if (symlinkat("/etc/passwd", journals, "journal.keys"))
		abort();
	ok(found("g", "signed by another key"), "a list that is a link is none");
}

/* A third rotation that is killed before each of its calls: in between, journals of the current key
 * alone are good; repeated, it is done, and all are. */
static void test_killed(void)
{
	int outer = journals, status = 0;
	bool between = true, repeated = true, foreign = true;
	unsigned n = 0;

	do {
		struct journal_key k;
		struct err e = { 0 };
		char name[24];
		pid_t pid;

		snprintf(name, sizeof(name), "killed%u", ++n);
		mkdirat(outer, name, 0700);
		journals = openat(outer, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (int i = 0; i < 2; i++) {
			block_add("a", i);
			if (!i)
				file_copy("journal.key", "stolen");
			if (keys_rotate(journals, &k, &e) < 0)
				abort();
			key_close(&k);
		}
		block_add("a", 3);
		block_add("b", 1);
		pid = fork();
		if (!pid) {
			kill_at = n;
			_exit(keys_rotate(journals, &k, &e) < 0 ? 2 : 0);
		}
		if (waitpid(pid, &status, 0) != pid)
			abort();
		/* Cells go on. */
		block_add("n", 1);
		between = between && is_good("n", NULL);
		block_add("b", 2);
		if (keys_rotate(journals, &k, &e) < 0) {
			printf("# killed before call %u: %s\n", n, e.message);
			repeated = false;
		} else {
			key_close(&k);
		}
		block_add("a", 4);
		for (const char *const *at = (const char *const[]){ "a", "b", "n", NULL }; *at;
		     at++)
			if (!is_good(*at, NULL)) {
				printf("# killed before call %u: %s: %s\n", n, *at, first_wrong);
				repeated = false;
			}
		/* The key that somebody took signs nothing more. */
		file_copy("journal.key", "ours");
		file_copy("stolen", "journal.key");
		block_add("b", 66);
		file_copy("ours", "journal.key");
		foreign = foreign && found("b", "signed by another key");
		close(journals);
	} while (WIFSIGNALED(status) && n < 1000);
	journals = outer;
	ok(WIFEXITED(status) && !WEXITSTATUS(status) && n > 10,
	   "a rotation is killed before each of its calls");
	printf("# %u calls\n", n - 1);
	ok(between, "journals of the current key are good all the time");
	ok(repeated, "repeated, it is done, and every journal is good");
	ok(foreign, "and a key of before signs nothing");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(top) || (journals = open(top, O_RDONLY | O_DIRECTORY)) < 0)
		return 1;
	test_rotation();
	test_stolen();
	test_list();
	test_interrupted();
	test_killed();
	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command))
		return 1;
	return tap_end();
}
