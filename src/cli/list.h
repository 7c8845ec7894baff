/* What is shown of cells, in tables. */
#ifndef VIV_CLI_LIST_H
#define VIV_CLI_LIST_H

#include <stdio.h>

#include "base/json.h"
#include "cli/args.h"

/* Its name, else its id. */
const char *cell_shown(const struct json *cell);
/* Up to max characters, without bytes that could steer a terminal; returns how many there were. */
unsigned text_print(FILE *to, const char *s, unsigned max);
/* A list of words, with spaces between them. */
void words_print(FILE *to, const struct json *words, unsigned max);
/* What it runs: one line without bytes that could steer a terminal. */
void command_print(FILE *to, const struct json *cell, unsigned max);

/* Its ports, as ADDRESS:PORT->PORT/PROTOCOL (port.c). */
void ports_print(FILE *to, const struct json *cell);

struct format;

/* Something of which vivd has a list: a table of it, or JSON, or, with --quiet, the names alone. */
struct listing {
	const char *path, *member; /* where it is asked for, and what the answer calls it */
	void (*heading)(void);
	void (*row)(const struct json *item);
	const char *(*name)(const struct json *item);
	bool (*is_shown)(const struct json *item); /* NULL: all are */
	struct format *format; /* prints instead of heading() and row(); NULL: none was given */
};
/* 0 or -1. The verb has --quiet. */
int must_check list_show(const struct args *a, const struct listing *l, struct err *e);

struct size_text {
	char str[24];
};
/* 12.3MiB */
struct size_text size_text(uint64_t n);

#endif
