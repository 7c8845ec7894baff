/* The program itself in memory: what of it is constant, and when it becomes read-only.
 *
 * Tables with pointers in them (operations of files, handlers of calls) are constant, but in a
 * program that is loaded at a random address somebody has to write the pointers first. They lie
 * together, between the constants without pointers and the variables (RELRO), and are made
 * read-only afterwards: by the C library, or by program_seal() where that has no such code for
 * static programs (musl). */
#ifndef VIV_BASE_PROGRAM_H
#define VIV_BASE_PROGRAM_H

#include "base/base.h"

/* Constants and tables: from here, so many bytes. */
extern struct program_range {
	uintptr_t start, size;
} program_constants;

/* Makes tables and SEALED variables read-only. Returns 0 or a negative errno. */
int must_check program_seal(void);

/* Where the program was loaded: the difference between two runs of the same build is that between
 * all their pointers to code and to tables. */
uintptr_t program_base(void);

/* Ends the program: something in its memory is not what it must be. what says so, without an
 * address in it. */
_Noreturn void memory_damaged(const char *what);
/* Gets that text before the end; NULL: standard error does. */
extern void (*damage_sink)(const char *text);

/* For objects that call a function back: the address of a constant that holds it. So no object has
 * a pointer to code in it, only ones to the program's constants, which CHECKED() can check. */
#define CALLBACK(fn)                                             \
	({                                                       \
		static __typeof__(&(fn)) const callback_ = (fn); \
		&callback_;                                      \
	})

/* A table of functions, or a CALLBACK, before one of them is called: it must be one of the
 * program's own constants, so that a pointer in a damaged object cannot lead to a table that
 * somebody else has made. */
#define CHECKED(table)                                                                          \
	({                                                                                      \
		__typeof__(table) table_ = (table);                                             \
		if (__builtin_expect((uintptr_t)table_ - program_constants.start >=             \
					     program_constants.size,                            \
				     0))                                                        \
			memory_damaged("an object's operations are not a table of the kernel"); \
		table_;                                                                         \
	})

#endif
