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

int system_df_main(int argc, char **argv)
{
	struct json_doc d = { 0 };
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv);

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	status = vivd_ask(c, "GET", "/v1/system/df", NULL, &d);
	viv_close(c);
	if (!status && a.json) {
		json_value_print(stdout, d.root, false);
		putchar('\n');
	} else if (!status) {
		printf("%-12s %8s %12s %12s\n", "TYPE", "COUNT", "SIZE", "RECLAIMABLE");
		for (const struct json *k = d.root->first; k; k = k->next)
			printf("%-12s %8llu %12s %12s\n", k->key,
			       (unsigned long long)number(k, "count"),
			       size_text(number(k, "size")).str,
			       size_text(number(k, "reclaimable")).str);
	}
	json_free(&d);
	return status;
}
