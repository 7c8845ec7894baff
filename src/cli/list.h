/* What is shown of cells, in tables. */
#ifndef VIV_CLI_LIST_H
#define VIV_CLI_LIST_H

#include <stdio.h>

#include "base/json.h"

/* Its name, else its id. */
const char *cell_shown(const struct json *cell);
/* What it runs: one line without bytes that could steer a terminal. */
void command_print(FILE *to, const struct json *cell, unsigned max);

struct size_text {
	char str[24];
};
/* 12.3MiB */
struct size_text size_text(uint64_t n);

#endif
