/* The words of rules that are read (parse.c) and printed (print.c). */
#ifndef VIV_POLICY_WORDS_H
#define VIV_POLICY_WORDS_H

#define VERDICT_NAMES 3
#define SCOPE_NAMES 6
#define PROTOCOL_NAMES 4
#define ACCESS_NAMES 4

struct policy_word {
	const char *name;
	unsigned bits;
};

extern const char *const verdict_names[VERDICT_NAMES]; /* by enum verdict */
extern const char *const scope_names[SCOPE_NAMES]; /* by enum scope */
extern const struct policy_word protocol_names[PROTOCOL_NAMES]; /* NET_ */
extern const struct policy_word access_names[ACCESS_NAMES]; /* FILES_ */

#endif
