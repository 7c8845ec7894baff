/* Values as people write them: sizes, times, numbers, signals, and the word that was probably
 * meant. */
#ifndef VIV_SPEC_VALUES_H
#define VIV_SPEC_VALUES_H

#include "base/base.h"

/* 64M, 1G, 1.5g, 4096, 512KiB: bytes. False: not a size, or zero. */
bool value_size(const char *s, uint64_t *ret);
/* 500ms, 10s, 5m, 1h, 2.5 (seconds): nanoseconds. */
bool value_duration(const char *s, int64_t *ret);
/* An instant, in nanoseconds since 1970: as RFC 3339 has it (2026-01-31T12:00:00.5Z, or with
 * +01:00), in seconds since 1970, or a duration with its unit before now ("10m"). */
bool value_instant(const char *s, int64_t now, int64_t *ret);
/* A decimal fraction as thousandths: 1.5 is 1500. */
bool value_milli(const char *s, uint64_t *ret);
bool value_u32(const char *s, uint32_t *ret);
/* TERM, SIGTERM, sigterm or 15. 0: there is none of that name. */
int value_signal(const char *text);
/* The word of words (n of them, stride bytes apart) that s was probably meant to be, or NULL. */
const char *value_similar(const char *s, const void *words, unsigned n, size_t stride);

#endif
