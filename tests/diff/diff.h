/* What the families of the differential runner share. A family is a function that makes one
 * variation of its calls: all choices come from rnd(), which diff.c seeds from the run's seed, the
 * family and the number of the variation, so that a variation is the same wherever it runs and does
 * not depend on earlier ones. Each writes its line (or lines) with call(), res() and the digest
 * functions:
 *
 *   family number: call(arguments) = result errno [out-data]
 *
 * Values that may differ between two kernels (process numbers, inodes, times, addresses) are
 * printed as relations. */
#ifndef TESTS_DIFF_H
#define TESTS_DIFF_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct sym {
	const char *name;
	long v;
};
#define S(x) { #x, (long)(x) }
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The flags of a family. */
#define FIX 1	/* starts in a fresh fixture directory */
#define OWN 2	/* each variation in a process of its own */
#define USER 4	/* runs a second time as an unprivileged user, under the name family-user */

struct family {
	const char *name;
	void (*run)(void);
	int flags;
	int weight; /* variations for each 100 of --count */
};
extern const struct family fs_families[], io_families[], fd_families[], proc_families[], net_families[], ipc_families[];

uint64_t rnd(uint64_t n);
bool chance(int percent);
const struct sym *pick_from(const struct sym *s, size_t n);
#define pick(a) pick_from(a, COUNT(a))
/* A random subset, ored; each with the given chance. Its names go to text. */
long pick_flags(const struct sym *s, size_t n, int percent, char *text, size_t size);

/* The arguments as text, before the call is made, so that a call that never returns is still
 * named. */
void call(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The result of the call: must directly follow it, errno is read. Returns r. */
long res(long r);
void res_sign(long r); /* only whether it worked: for results that are process numbers or addresses */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void digest(const void *p, size_t n);
void tree_digest(const char *path);
void stat_note(const struct stat *st);

/* A path of odd shape inside the fixture (fixture.c tells what is there). */
const char *odd_path(void);
const char *show(const char *path); /* for the line: short, and without the run's directory */
void fixture_make(void);
void fixture_home(void); /* back to the fixture as the working directory */
extern bool as_user;
#define USER_ID 1234
#define BAD_PTR ((void *)8)

/* A descriptor of a random kind with its name in kind. */
int odd_fd(const char **kind);

#define sys(...) syscall(__VA_ARGS__)

#endif
