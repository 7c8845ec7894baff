/* Hooks: where subsystems that watch or restrict calls (trace, journal, policy) are asked.
 *
 * Each has one table, added at boot. It is called
 *
 *   with each call that leaves                  task/gate.c      leave
 *   at the places where it is known what a call means, which its registers do not tell:
 *     a file is opened                          vfs/file.c       open
 *     a program is started                      vfs/file.c       exec
 *     a name is made, moved or removed          vfs/ops.c        name
 *     a file's attributes or size are changed   vfs/attr.c, sys/xattr.c  change
 *     something is mounted                      sys/mount.c      mount
 *     an address is connected, sent or bound to net/             dest
 *
 * All but the first are asked when everything else has been checked and nothing has happened yet,
 * with the very objects that are used afterwards: no path is walked and no address is read again
 * between the question and the effect. Each answers 0          go on -errno     the call fails with
 * it and has had no effect, except that a socket may have been given a port or name of its own, as
 * by every connect or send that fails WAITING    the call waits, for what the hook told
 * call_wait(); it is asked again in the next run Tables are asked in the order in which they were
 * added, and one that does not say 0 ends the round. So those that decide come before those that
 * observe, which see only what is allowed.
 *
 * A call that waits is run again from the start (docs/decisions/0038-one-way-to-wait.md) and comes
 * by the same places. What the hooks have agreed to is remembered in the call (call_was_asked()),
 * so that they are asked once for each thing; if another thing is meant in a later run, because a
 * name leads elsewhere or the guest has changed its memory, they are asked about that.
 *
 * What the kernel does for the operator (mounts at boot, the program of `viv exec`) is no call, and
 * not asked about. While no table has anything to say, each place costs one comparison: a table
 * that only sometimes has something (a policy that comes while the cell runs) is added at boot and
 * says when (hooks_wanted()). */
#ifndef VIV_KERNEL_TASK_HOOKS_H
#define VIV_KERNEL_TASK_HOOKS_H

#include "base/program.h"
#include "kernel/task/task.h"

struct destination; /* net/route.h */
struct name_change; /* vfs/ask.h */
struct path;

/* Each is optional. All arguments are borrowed. */
struct hooks {
	/* The call leaves, before it is answered. ret is a result, or one of:
	 *   -ERESTARTSYS   a signal came first: the call is made again, or returns EINTR
	 *   CALL_NATIVE, CALL_EXIT
	 *   CALL_LOST */
	void (*leave)(const struct task *t, int64_t ret);
	/* What is at p is opened; flags are those of open(2). Not for O_PATH, which gives no access
	 * to it. With O_CREAT the name at p has no inode: it is about to be made, and name() was
	 * asked first; with O_TMPFILE p is the directory. */
	int (*open)(struct task *t, const struct path *p, uint32_t flags);
	/* execve: p is the program or script, then each interpreter that it leads to. linker: the
	 * last of them, which an ELF program names to be loaded by. */
	int (*exec)(struct task *t, const struct path *p, bool linker);
	int (*name)(struct task *t, const struct name_change *c);
	/* Mode, owner, times, extended attributes or size of what is at p, without an open. */
	int (*change)(struct task *t, const struct path *p);
	/* Something is mounted at p, new or moved there, and covers what was there. */
	int (*mount)(struct task *t, const struct path *p);
	int (*dest)(struct task *t, const struct destination *d);
};

#define HOOKS_MAX 4

/* NULL ends them. */
extern const struct hooks *hooks[HOOKS_MAX + 1];
/* At boot: before the program is sealed. It is asked from the first hooks_wanted() on. */
void hooks_add(const struct hooks *h);
/* One of the tables has something to say from now on (true), or not any more. Counted. */
void hooks_wanted(bool on);

extern unsigned hooks_wants; /* how many want to be asked */
extern bool hooks_watch; /* one of the tables has leave() */

static inline bool hooks_are_used(void)
{
	return __builtin_expect(hooks_wants != 0, 0);
}

/* Whether results have to be known, so that no call should be left to the host for speed alone. */
static inline bool calls_are_watched(void)
{
	return __builtin_expect(hooks_watch, 0);
}

void hooks_leave(const struct task *t, int64_t ret);

/* ---- for the places that ask ---- */

/* A fingerprint of what is asked about, piece by piece; before: of the pieces so far, 0 at first.
 * Nobody outside of the kernel can make two things with the same one. */
uint64_t hooks_print(uint64_t before, const void *piece, size_t n);
/* Whether an earlier run of t's call was told that it may go on with this; if not, the caller asks
 * and then notes what was agreed to. */
bool call_was_asked(struct task *t, uint64_t print);
void call_note_asked(struct task *t, uint64_t print);

/* Asks all tables: the result of the first that does not say 0. */
#define hooks_ask(t, print, slot, arg...)                                           \
	({                                                                          \
		struct task *t_ = (t);                                              \
		uint64_t print_ = (print);                                          \
		int ret_ = 0;                                                       \
		if (!call_was_asked(t_, print_)) {                                  \
			for (size_t i_ = 0; !ret_ && hooks[i_]; i_++)               \
				if (hooks[i_]->slot)                                \
					ret_ = CHECKED(hooks[i_])->slot(t_, ##arg); \
			if (!ret_)                                                  \
				call_note_asked(t_, print_);                        \
		}                                                                   \
		ret_;                                                               \
	})

#endif
