/* viv system df: how much room things take, as vivd counts it. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/list.h"
#include "cli/vivd.h"

static uint64_t number(const struct json *v, const char *key)
{
	uint64_t n = 0;

	return json_get_u64(v, key, &n) ? n : 0;
}

int system_df_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("GET", "/v1/system/df", NULL, &d, e) < 0)
		return -1;
	if (a->json) {
		json_line_print(d.root, false);
	} else {
		printf("%-12s %8s %12s %12s\n", "TYPE", "COUNT", "SIZE", "RECLAIMABLE");
		for (const struct json *k = d.root->first; k; k = k->next)
			printf("%-12s %8llu %12s %12s\n", k->key,
			       (unsigned long long)number(k, "count"),
			       size_text(number(k, "size")).str,
			       size_text(number(k, "reclaimable")).str);
	}
	json_free(&d);
	return 0;
}
