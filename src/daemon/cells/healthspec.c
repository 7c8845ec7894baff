/* What a health check may be, as JSON; apart from health.c, which needs all of vivd. */
#include "daemon/state/fields.h"
#include "daemon/cells/health.h"

#define MAX_SECONDS (366.0 * 24 * 3600)
#define MAX_RETRIES 1000

static const struct field fields[] = {
	{ "command", FIELD_TEXTS, true },	 { "interval", FIELD_NUMBER, false },
	{ "timeout", FIELD_NUMBER, false },	 { "retries", FIELD_INT, false },
	{ "start_period", FIELD_NUMBER, false },
};

int health_check(const json_t *spec, struct fault *f)
{
	static const char *const seconds[] = { "interval", "timeout", "start_period" };
	const json_t *v;

	if (fields_check(spec, fields, ARRAY_LEN(fields), "health.", f) < 0)
		return -1;
	v = json_array_get(json_object_get(spec, "command"), 0);
	if (!v || !*json_string_value(v))
		return fault_set(f, 400, "invalid", "'health.command' begins with a program");
	for (unsigned i = 0; i < ARRAY_LEN(seconds); i++) {
		v = json_object_get(spec, seconds[i]);
		if (v &&
		    (json_number_value(v) > MAX_SECONDS || (json_number_value(v) < 0.01 && i < 2)))
			return fault_set(f, 400, "invalid",
					 "'health.%s' is at least a hundredth of a second and at "
					 "most a year",
					 seconds[i]);
	}
	v = json_object_get(spec, "retries");
	if (v && (json_integer_value(v) < 1 || json_integer_value(v) > MAX_RETRIES))
		return fault_set(f, 400, "invalid", "'health.retries' is between 1 and %d",
				 MAX_RETRIES);
	return 0;
}
