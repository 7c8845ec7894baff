/* A JSON schema, as an operator or an MCP server may give it: what is read is bounded, is read the
 * same again, and can be compared with any value. */
/* objects: src/daemon/tools/schema.c src/daemon/tools/validate.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c */
/* libraries: -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "daemon/tools/schema.h"
#include "fuzz.h"

const char fuzz_name[] = "schema";
const size_t fuzz_max = 4096;

static json_t *values;

void fuzz_init(void)
{
	values = json_loads("[{},{\"a\":1,\"b\":[1,1.0,\"x\",null,{}]},{\"a\":{\"a\":{\"a\":[]}}}]",
			    0, NULL);
	FUZZ_CHECK(values);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL), *s, *again, *v;
	struct err e = { 0 };
	size_t i;

	if (!o)
		return;
	s = schema_read(o, &e);
	FUZZ_CHECK(s || (e.kind && e.message[0]));
	if (s) {
		FUZZ_CHECK(!json_object_get(s, "$ref") && !json_object_get(s, "$defs"));
		again = schema_read(s, &e);
		FUZZ_CHECK(again && json_equal(s, again));
		json_decref(again);
		json_array_foreach(values, i, v) {
			e.kind = ERR_NONE;
			if (schema_validate(s, v, &e) < 0)
				FUZZ_CHECK(e.kind && e.message[0]);
		}
	}
	json_decref(s);
	json_decref(o);
}
