/* The few words every file of the project shares: attributes, small macros, guest addresses. */
#ifndef VIV_BASE_BASE_H
#define VIV_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address in a guest's memory. An integer, so that it cannot be dereferenced by mistake. */
typedef uint64_t uaddr_t;

#define must_check __attribute__((warn_unused_result))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

/* A variable that is written at the start only: program_seal() makes it read-only. Not where the C
 * library has done so for its neighbours before main() runs. */
#ifdef VIV_SEAL_LATE
#define SEALED __attribute__((section(".data.rel.ro.sealed")))
#else
#define SEALED
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* One argument is evaluated twice: it is never a read of memory that a guest can write. */
#undef MIN /* some headers have their own */
#undef MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ALIGN_UP(x, a) (((x) + ((a)-1)) & ~((a)-1))
#define ALIGN_DOWN(x, a) ((x) & ~((a)-1))

#undef PAGE_SIZE /* some C libraries have their own */
#define PAGE_SIZE 4096UL
#define NSEC_PER_SEC 1000000000LL

#endif
