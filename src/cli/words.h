/* The words of small verbs: options are taken out of them, and what is left is counted. */
#ifndef VIV_CLI_WORDS_H
#define VIV_CLI_WORDS_H

#include <stdbool.h>

/* Takes "--NAME VALUE" or "--NAME=VALUE" out of argv: 0, *ret stays when it is not there; or an exit status. */
int option_take(int *argc, char **argv, const char *name, const char **ret);
/* Takes "--NAME" out of argv. */
bool flag_take(int *argc, char **argv, const char *name);
/* What is left: no options, and between min and max words. 0 or an exit status. */
int words_check(int argc, char **argv, int min, int max, const char *usage);

#endif
