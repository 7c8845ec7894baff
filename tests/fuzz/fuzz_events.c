/* Events of a session, as an agent's output becomes them: what is shown at a terminal, Markdown and
 * HTML. Each line of the input is an event of its own: behind 'J' as it stands, else a text that is
 * put into one of the places where an agent's texts stand. */
/* objects: src/cli/transcriptitems.c src/cli/transcriptmd.c src/cli/transcripthtml.c src/cli/transcriptview.c src/cli/sessionview.c src/cli/sessionevent.c src/base/safetext.c src/cli/color.c src/cli/jsonprint.c src/keeper/disk/textdiff.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/siphash.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/sessionview.h"
#include "cli/transcript.h"
#include "fuzz.h"

const char fuzz_name[] = "events";
const size_t fuzz_max = 4096;

/* '$' is the text, with its quotes. */
static const char *const places[] = {
	"{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":$}}",
	"{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\",\"text\":$}}",
	"{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":$}}",
	"{\"sessionUpdate\":\"tool_call\",\"toolCallId\":$,\"title\":$,\"kind\":$,\"rawInput\":{$:[$]}}",
	"{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"x\",\"status\":\"failed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":$}}]}",
	"{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"x\",\"status\":\"completed\",\"content\":[{\"type\":\"diff\",\"path\":$,\"oldText\":\"a\\nb\\n\",\"newText\":$}]}",
	"{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":$,\"status\":$}]}",
	"{\"sessionUpdate\":$,\"x\":$}",
};

void fuzz_init(void)
{
}

/* The event of a line of the input. */
static void event_make(struct buf *b, const char *text)
{
	char *clean = xstrndup(text + 1, strlen(text + 1));

	/* What is in JSON is UTF-8. */
	clean[text_utf8_head(clean, strlen(clean))] = '\0';
	buf_add_text(b, "{\"seq\":1,\"time\":\"t\",\"type\":\"update\",\"data\":{\"update\":");
	for (const char *p = places[(unsigned char)text[0] % ARRAY_LEN(places)]; *p; p++)
		if (*p == '$')
			json_text_add(b, clean);
		else
			buf_add(b, p, 1);
	buf_add(b, "}}", 3);
	free(clean);
}

/* Text and line ends, and no tag but ours. */
static void output_check(const char *out, bool html)
{
	const char *end = out + strlen(out);

	for (const char *p = out; p < end; p++) {
		unsigned n = text_printable(p, (size_t)(end - p));

		FUZZ_CHECK(n || *p == '\n' || *p == '\t');
		p += n ? n - 1 : 0;
	}
	FUZZ_CHECK(!html || (!strcasestr(out, "<script") && !strcasestr(out, "<svg") && !strcasestr(out, "<iframe") && !strcasestr(out, "<a ")));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char *outs[3] = { NULL }, *text = xstrndup((const char *)data, size), *save = NULL;
	FILE *files[3];
	size_t sizes[3];
	struct session_view *v;
	struct transcript t;
	struct event ev;
	struct err e;

	for (unsigned i = 0; i < 3; i++)
		files[i] = open_memstream(&outs[i], &sizes[i]);
	v = view_new(files[0], 0);
	transcript_init(&t);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct buf b = { 0 };

		if (*line == 'J')
			buf_add(&b, line + 1, strlen(line));
		else
			event_make(&b, line);
		if (event_read(&ev, (char *)b.p, strlen((char *)b.p), &e) == 0) {
			view_event(v, &ev);
			event_free(&ev);
			FUZZ_CHECK(transcript_add(&t, (char *)b.p, strlen((char *)b.p), &e) == 0);
		}
		buf_free(&b);
	}
	view_break(v);
	transcript_markdown(&t, files[1]);
	transcript_html(&t, files[2]);
	for (unsigned i = 0; i < 3; i++) {
		fclose(files[i]);
		output_check(outs[i], i == 2);
		free(outs[i]);
	}
	transcript_fini(&t);
	view_free(v);
	free(text);
}
