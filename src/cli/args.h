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
	int argc; /* all words as they were given; argv[0] is the verb */
	char **argv;
};

/* 0 or -1. With --help it does not matter how many words there are. */
int must_check args_take(struct args *a, const struct verb *v, int argc, char **argv,
			 struct err *e);

/* name is one of the verb's options. */
bool arg_is_on(const struct args *a, const char *name);
/* The last one's value, or NULL. */
const char *arg_value(const struct args *a, const char *name);
/* All of them, one after the other; *at begins with 0. NULL: that was the last. */
const char *arg_next(const struct args *a, const char *name, unsigned *at);
/* A time; *ret stays when it is not given. 0 or -1. */
int must_check arg_time(const struct args *a, const char *name, int64_t *ret, struct err *e);

/* Before something is removed: 1 with --force, or if the answer to the question at the terminal is
 * yes; 0 if it is no; -1: nobody can be asked. */
int must_check removal_is_agreed(const struct args *a, const char *question, struct err *e);

/* Wrong usage: the message with the verb's synopsis. Always -1. */
int args_wrong(const struct args *a, struct err *e, const char *fmt, ...) printf_like(3, 4);

/* What every verb has. */
extern const struct opt common_opts[];
extern const unsigned ncommon_opts;

#endif
