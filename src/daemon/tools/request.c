/* See tools.h: the request of a program in a cell (wire/tools.h). */
#include <string.h>

#include "daemon/state/fields.h"
#include "daemon/tools/tools.h"

json_t *door_request(const char *text, size_t n, struct err *e)
{
	static const struct field fields[] = { { "op", FIELD_TEXT, true },
					       { "tool", FIELD_TEXT, false },
					       { "subcommand", FIELD_TEXT, false },
					       { "arguments", FIELD_OBJECT, false } };
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	const char *op;

	if (!json_is_object(o)) {
		err_note(e, ERR_INVALID_JSON, "the request is not an object of JSON");
	} else if (fields_check(o, fields, ARRAY_LEN(fields), "", e) == 0) {
		op = json_text(o, "op");
		if (!strcmp(op, "list") || !strcmp(op, "show") || !strcmp(op, "call"))
			return o;
		err_note(e, ERR_INVALID, "'op' is list, show or call");
	}
	json_decref(o);
	return NULL;
}
