/* What a program in a cell says at the door, as vivd reads it: the request, and its arguments
 * against the schema of a tool with every kind of rule. */
/* objects: src/daemon/tools/request.c src/daemon/tools/schema.c src/daemon/tools/validate.c src/daemon/state/fields.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c */
/* libraries: -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "daemon/tools/schema.h"
#include "daemon/tools/tools.h"
#include "fuzz.h"

const char fuzz_name[] = "toolcall";
const size_t fuzz_max = 4096;

static json_t *schema;

void fuzz_init(void)
{
	static const char text[] =
		"{\"type\":\"object\",\"required\":[\"a\"],\"minProperties\":1,\"maxProperties\":9,"
		"\"additionalProperties\":{\"type\":[\"null\",\"integer\"]},\"$defs\":{\"s\":{"
		"\"type\":\"string\",\"minLength\":1,\"maxLength\":4}},\"properties\":{\"a\":{"
		"\"$ref\":\"#/$defs/s\"},\"b\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"$ref\":"
		"\"#/$defs/s\"},{\"type\":\"number\",\"multipleOf\":0.5,\"exclusiveMaximum\":9}]},"
		"\"uniqueItems\":true,\"maxItems\":5},\"c\":{\"oneOf\":[{\"const\":1},{\"enum\":[1,2,"
		"{\"x\":[]}]},{\"allOf\":[{\"minimum\":3},{\"maximum\":4}]}]},\"d\":false}}";
	json_t *o = json_loads(text, 0, NULL);
	struct err e = { 0 };

	schema = schema_read(o, &e);
	FUZZ_CHECK(schema);
	json_decref(o);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1);
	struct err e = { 0 };
	json_t *o, *arguments;

	if (!text)
		return;
	memcpy(text, data, size);
	o = door_request(text, size, &e);
	FUZZ_CHECK(o || (e.kind && e.message[0]));
	if (o) {
		arguments = json_object_get(o, "arguments");
		FUZZ_CHECK(json_is_string(json_object_get(o, "op")));
		FUZZ_CHECK(!arguments || json_is_object(arguments));
		e.kind = ERR_NONE;
		if (arguments && schema_validate(schema, arguments, &e) == 0)
			FUZZ_CHECK(json_is_string(json_object_get(arguments, "a")));
		else if (arguments)
			FUZZ_CHECK(e.kind && e.message[0]);
	}
	json_decref(o);
	free(text);
}
