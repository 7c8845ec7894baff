/* The rules of a cell: which part of it decides by which of them. net is viv-gate's, which reads
 * the rules as text; files and exec are the kernel's, which gets them compiled
 * (policy/compiled.h). */
#include <string.h>

#include "keeper/keeper.h"
#include "policy/policy.h"
#include "wire/memfd.h"

static int rules_read(char *const *lines, struct policy *p, struct err *e)
{
	policy_init(p);
	for (; lines && *lines; lines++)
		if (policy_parse(p, *lines, strlen(*lines), "policy", 0, 0, e) < 0)
			return -1;
	return 0;
}

int rules_compile(char *const *lines, int *ret_fd, struct err *e)
{
	struct buf bytes = { 0 };
	struct policy p;
	int ret = rules_read(lines, &p, e);

	*ret_fd = -1;
	if (ret == 0 && policy_compile(&p, &bytes)) {
		*ret_fd = memfd_sealed("viv-policy", bytes.p, bytes.len);
		if (*ret_fd < 0)
			ret = err_set(e, ERR_FAILED, "cannot hand the policy over: %s",
				      strerror(-*ret_fd));
	}
	buf_free(&bytes);
	policy_fini(&p);
	return ret;
}

bool rules_have_net(char *const *lines)
{
	struct policy p;
	struct err e;
	bool found = rules_read(lines, &p, &e) < 0; /* the gate says what is wrong with them */

	found = found || policy_has_net(&p);
	policy_fini(&p);
	return found;
}
