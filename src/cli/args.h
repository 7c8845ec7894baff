/* The words of a verb, parsed as its row of the table says. Options stand before, between or after
 * the other words, unless these are a command (VERB_COMMAND); "--" ends them. Every verb has --json
 * and --help. */
#ifndef VIV_CLI_ARGS_H
#define VIV_CLI_ARGS_H

#include "cli/cli.h"

#define ARGS_MAX 512 /* options */

struct args {
	const struct verb *verb;
	struct {
		const struct opt *opt;
		const char *value; /* NULL: a switch */
	} given[ARGS_MAX];
	unsigned ngiven;
	char **words; /* what is left, NULL-terminated */
	int n;
	bool json;
};

#define ARGS_HELP (-1)

/* 0; else what the verb returns: the exit status, with the message printed, or ARGS_HELP, with the
 * help printed. */
int must_check args_take(struct args *a, int argc, char **argv);

/* name is one of the verb's options. */
bool arg_is_on(const struct args *a, const char *name);
/* The last one's value, or NULL. */
const char *arg_value(const struct args *a, const char *name);
/* All of them, one after the other; *at begins with 0. NULL: that was the last. */
const char *arg_next(const struct args *a, const char *name, unsigned *at);
/* A time; *ret stays when it is not given. False: it is none, and that was said. */
bool arg_time(const struct args *a, const char *name, int64_t *ret);

/* Wrong usage: the message with the verb's synopsis; the exit status. */
int args_wrong(const struct verb *v, const char *fmt, ...) printf_like(2, 3);

/* What every verb has. */
extern const struct opt common_opts[];
extern const unsigned ncommon_opts;
/* The verb that main() chose. */
extern const struct verb *verb_now;

#endif
