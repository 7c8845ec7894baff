/* Transcripts and the view of a session: chunks become one text, updates of a tool call one item,
 * and nothing that an agent writes is a control character, a tag or a fence in what comes out. */
/* objects: src/cli/transcriptitems.c src/cli/transcriptmd.c src/cli/transcripthtml.c src/cli/sessionview.c src/cli/sessionevent.c src/base/safetext.c src/cli/color.c src/cli/jsonprint.c src/keeper/disk/textdiff.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/siphash.c */
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/safetext.h"
#include "cli/sessionview.h"
#include "cli/transcript.h"
#include "tap.h"

#define UPDATE(n, body) \
	"{\"seq\":" #n ",\"time\":\"t\",\"type\":\"update\",\"data\":{\"update\":{" body "}}}"
#define CHUNK(n, kind, text)                                                                       \
	UPDATE(n, "\"sessionUpdate\":\"" kind "\",\"content\":{\"type\":\"text\",\"text\":\"" text \
		  "\"}")

static char *out;

enum form { VIEW, MARKDOWN, HTML };

/* The events in this form. */
static const char *made(enum form form, const char *const *lines)
{
	struct session_view *v;
	struct transcript t;
	struct event ev;
	struct err e;
	size_t n = 0;
	FILE *mem;

	free(out);
	out = NULL;
	mem = open_memstream(&out, &n);
	v = view_new(mem, 0);
	transcript_init(&t);
	for (; *lines; lines++)
		if (form == VIEW && event_read(&ev, *lines, strlen(*lines), &e) == 0) {
			view_event(v, &ev);
			event_free(&ev);
		} else if (form != VIEW && transcript_add(&t, *lines, strlen(*lines), &e) < 0) {
			fputs("(bad)", mem);
		}
	if (form == VIEW)
		view_break(v);
	else if (form == HTML)
		transcript_html(&t, mem);
	else
		transcript_markdown(&t, mem);
	transcript_fini(&t);
	view_free(v);
	fclose(mem);
	return out;
}

#define MADE(form, ...) made(form, (const char *const[]){ __VA_ARGS__, NULL })

static bool has(const char *text)
{
	if (!strstr(out, text))
		printf("# not there: %s\n# in: %.2000s\n", text, out);
	return strstr(out, text) != NULL;
}

/* Nothing but text and line ends. */
static bool is_clean(void)
{
	for (const unsigned char *p = (const unsigned char *)out; *p; p++)
		if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f ||
		    (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)) {
			printf("# byte %d of: %.500s\n", *p, out);
			return false;
		}
	return true;
}

static void view_tests(void)
{
	MADE(VIEW, CHUNK(1, "agent_message_chunk", "Hello, "),
	     CHUNK(2, "agent_message_chunk", "world"));
	ok(!strcmp(out, "Hello, world\n"), "chunks are one line");
	MADE(VIEW,
	     CHUNK(1, "agent_message_chunk", "a\\u001b[2J\\u0007b\\u009b31m\\u202e\\rc\\r\\nd"));
	ok(is_clean() && !strcmp(out, "a\\x1b[2J\\x07b\\u009b31m\\u202e\\rc\nd\n"),
	   "escape sequences are shown");
	MADE(VIEW,
	     UPDATE(1,
		    "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"1\",\"title\":\"Read\\nx\","
		    "\"kind\":\"read\",\"status\":\"pending\""),
	     UPDATE(2, "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"1\",\"status\":"
		       "\"completed\""));
	ok(!strcmp(out, "• Read\\nx (read) ✓\n"), "a tool call is one line");
	MADE(VIEW,
	     UPDATE(1, "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"1\",\"title\":\"Edit\","
		       "\"content\":[{\"type\":\"diff\",\"path\":\"/a\",\"oldText\":\"1\\n2\\n\","
		       "\"newText\":\"1\\n3\\n4\\n\"}]"),
	     CHUNK(2, "agent_thought_chunk", "hm"),
	     UPDATE(3, "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"1\",\"status\":"
		       "\"completed\""));
	ok(has("• Edit\nhm\n✓ Edit\n  /a +2 -1\n"), "its result comes later, with its changes");
	MADE(VIEW, UPDATE(1, "\"sessionUpdate\":\"from_the_future\",\"x\":[{}]"));
	ok(has("(update: from_the_future)"), "unknown updates are named");
	MADE(VIEW,
	     UPDATE(1, "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":7,\"title\":null,"
		       "\"content\":\"x\",\"status\":[]"),
	     UPDATE(2, "\"sessionUpdate\":\"plan\",\"entries\":[1,\"x\",{\"content\":{}}]"),
	     "{\"seq\":3,\"type\":\"permission\",\"data\":null}", "{\"seq\":4,\"type\":\"turn\"}");
	ok(is_clean(), "wrong types do no harm");
}

static void markdown_tests(void)
{
	MADE(MARKDOWN, CHUNK(1, "agent_message_chunk", "see ```\\n<b>\\n``` <script> `<x>`"));
	ok(has("&lt;script> `&lt;x>`"), "tags outside of code are text");
	MADE(MARKDOWN, CHUNK(1, "agent_message_chunk", "```\\nopen"),
	     CHUNK(2, "agent_thought_chunk", "next"));
	ok(has("```\nopen\n```\n"), "code that is not closed is closed");
	MADE(MARKDOWN,
	     UPDATE(1, "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"1\",\"title\":\"*x*\","
		       "\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":"
		       "\"a\\n````\\nb\"}}]"));
	ok(has("**\\*x\\***") && has("`````\na\n````\nb\n`````\n"),
	   "output cannot leave its fence");
}

static void html_tests(void)
{
	static const char evil[] =
		"</pre></details><script>alert(1)</script><img src=x onerror=\\\"y\\\">'&";
	char line[2048];

	MADE(HTML,
	     "{\"seq\":1,\"type\":\"prompt\",\"data\":{\"content\":[{\"type\":\"text\",\"text\":"
	     "\"<p>\"}],\"by\":\"<i>\"}}");
	ok(has("default-src 'none'") && has("&#60;p&#62;") && !strstr(out, "<i>"),
	   "the page has a policy, and a prompt is text");
	for (unsigned i = 0; i < 7; i++) {
		static const char *const forms[] = {
			"\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
			"\"text\":\"%s\"}",
			"\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
			"\"text\":\"```%s\\n%s\"}",
			"\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\","
			"\"mimeType\":\"image/png\",\"data\":\"%s\"}",
			"\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"%s\",\"title\":\"%s\","
			"\"kind\":\"x\",\"rawInput\":{\"%s\":1}",
			"\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"1\",\"content\":[{"
			"\"type\":\"diff\",\"path\":\"%s\",\"newText\":\"%s\"}],\"rawOutput\":\"%"
			"s\"",
			"\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"%s\",\"status\":\"%"
			"s\"}]",
			"\"sessionUpdate\":\"%s\",\"title\":\"%s\"",
		};
		int n = snprintf(
			line, sizeof(line),
			"{\"seq\":1,\"time\":\"%s\",\"type\":\"update\",\"data\":{\"update\":{",
			evil);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		n += snprintf(line + n, sizeof(line) - (size_t)n, forms[i], evil, evil, evil);
#pragma GCC diagnostic pop
		snprintf(line + n, sizeof(line) - (size_t)n, "}}}");
		MADE(HTML, line);
		ok(!strstr(out, "(bad)") && !strstr(out, "<script") && !strstr(out, "<img src=x") &&
			   !strstr(out, "onerror=\"") && is_clean(),
		   "nothing of the agent is HTML");
	}
	MADE(HTML,
	     UPDATE(1, "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\","
		       "\"mimeType\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}"));
	ok(has("<img alt=\"image\" src=\"data:image/png;base64,iVBORw0KGgo=\">"),
	   "images are shown");
}

static void item_tests(void)
{
	char line[256];
	struct transcript t;
	struct err e;

	transcript_init(&t);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(line, sizeof(line),
			 "{\"seq\":%u,\"type\":\"update\",\"data\":{\"update\":{\"sessionUpdate\":"
			 "\"tool_call_update\",\"toolCallId\":\"t%u\",\"status\":\"%s\"}}}",
			 i + 1, i % 10000, i < 10000 ? "pending" : "completed");
		if (transcript_add(&t, line, strlen(line), &e) < 0)
			break;
	}
	eq(t.ntools, 10000, "tool calls are found again");
	eq((long long)ITEM_COUNT(&t), 10000, "and are one item each");
	ok(!strcmp(ITEM_AT(&t, 9999)->status, "completed"), "with their last state");
	ok(transcript_add(&t, "{\"seq\":1}", 9, &e) < 0 && transcript_add(&t, "[]", 2, &e) < 0 &&
		   transcript_add(&t, "{", 1, &e) < 0,
	   "what is no event is refused");
	transcript_fini(&t);
}

static void seen_tests(void)
{
	size_t n = 0;
	FILE *mem;

	free(out);
	out = NULL;
	mem = open_memstream(&out, &n);
	safe_print(mem, "a\u200b\U000e0041b\n", strlen("a\u200b\U000e0041b\n"),
		   SAFE_SEEN | SAFE_LINE, 0);
	fclose(mem);
	ok(!strcmp(out, "a\\u200b\\ue0041b\\n"), "who decides sees what takes no room");
	free(out);
	out = NULL;
	mem = open_memstream(&out, &n);
	safe_json(mem, "{\"a\":\"\xc2\x9b\x7f\"}", strlen("{\"a\":\"\xc2\x9b\x7f\"}"));
	fclose(mem);
	ok(!strcmp(out, "{\"a\":\"\\u009b\\u007f\"}"), "JSON for a terminal has no controls");
}

int main(void)
{
	view_tests();
	markdown_tests();
	html_tests();
	item_tests();
	seen_tests();
	free(out);
	return tap_end();
}
