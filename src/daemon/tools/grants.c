/* See tools.h: what a cell may call, decided by its tools and its rules (policy/policy.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/tools/tools.h"
#include "policy/policy.h"

#define GRANTS_MAX (8u << 20)

struct grants {
	struct policy policy;
	json_t *o; /* the words of tools are its */
	char **tools;
};

void grants_free(struct grants *g)
{
	if (!g)
		return;
	policy_fini(&g->policy);
	free(g->tools);
	json_decref(g->o);
	free(g);
}

struct grants *grants_read(int fd)
{
	struct grants *g = xalloc(sizeof(*g));
	char **rules = NULL, *text = NULL;
	struct stat st;
	struct err e;
	bool ok;

	policy_init(&g->policy);
	ok = fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= (off_t)GRANTS_MAX;
	if (ok) {
		text = xalloc((size_t)st.st_size);
		ok = pread(fd, text, (size_t)st.st_size, 0) == st.st_size;
		g->o = ok ? json_loadb(text, (size_t)st.st_size, 0, NULL) : NULL;
	}
	ok = json_is_array(json_object_get(g->o, "tools")) &&
	     json_is_array(json_object_get(g->o, "policy"));
	if (ok) {
		g->tools = json_words(json_object_get(g->o, "tools"));
		rules = json_words(json_object_get(g->o, "policy"));
	}
	for (char **r = rules; ok && *r; r++)
		ok = policy_parse(&g->policy, *r, strlen(*r), "policy", 0, 0, &e) == 0;
	free(rules);
	free(text);
	if (ok)
		return g;
	grants_free(g);
	return NULL;
}

enum tool_verdict grants_decide(const struct grants *g, const char *path, char **ret_rule)
{
	struct decision d = policy_tools(&g->policy, g->tools, path);
	struct buf b = { 0 };

	if (ret_rule && d.rule) {
		rule_print(d.rule, &b);
		*ret_rule = (char *)b.p;
	} else if (ret_rule) {
		*ret_rule = NULL;
	}
	return d.verdict == VERDICT_ALLOW ? TOOL_ALLOW
	       : d.verdict == VERDICT_ASK ? TOOL_ASK
					  : TOOL_DENY;
}
