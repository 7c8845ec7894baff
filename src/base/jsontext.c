/* See jsontext.h. */
#include "base/jsontext.h"

#include <string.h>

#include "base/utf8.h"

void json_bytes(FILE *to, const char *text, size_t len)
{
	fputc('"', to);
	while (len) {
		int n = utf8_length(text, len);
		unsigned char c = (unsigned char)*text;

		if (n <= 0)
			fputs("\\ufffd", to);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else
			fwrite(text, 1, (size_t)n, to);
		n = n > 0 ? n : 1;
		text += n;
		len -= (size_t)n;
	}
	fputc('"', to);
}

void json_quoted(FILE *to, const char *text)
{
	json_bytes(to, text, strlen(text));
}

const char *err_code(enum err_kind kind)
{
	static const char *const codes[] = { [ERR_FAILED] = "failed",
					     [ERR_USAGE] = "usage",
					     [ERR_NOT_FOUND] = "not_found",
					     [ERR_DENIED] = "denied",
					     [ERR_CONFLICT] = "conflict" };

	return (unsigned)kind < ARRAY_LEN(codes) && codes[kind] ? codes[kind] : "failed";
}

void json_failure(FILE *to, const char *code, const char *text)
{
	const char *remedy = strstr(text, "; ");

	fprintf(to, "{\"code\":\"%s\",\"message\":", code);
	json_bytes(to, text, remedy ? (size_t)(remedy - text) : strlen(text));
	if (remedy) {
		fprintf(to, ",\"remedy\":");
		json_quoted(to, remedy + 2);
	}
	fprintf(to, "}\n");
}
