/* Sessions without a cell: lines of an agent, good ones, damaged ones and mixtures of both, in
 * every phase; and a vivd that is replaced in between. Events have numbers without a gap, are never
 * changed, and what waits for the agent has its place in the input without a gap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/approvals/approvals.h"
#include "daemon/sessions/private.h"
#include "tap.h"

#define SEEDS 8
#define STEPS 800

static struct daemon d;
static struct cell c;
static char dir[] = "/tmp/viv-sessions.XXXXXX";
static const char *wrong;
static uint64_t state;

static void expect(bool good, const char *what)
{
	if (!good && !wrong)
		wrong = what;
}

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static const char *const lines[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{"
	"\"loadSession\":true},\"authMethods\":[{\"id\":\"api-key\"}]}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"a\",\"modes\":{"
	"\"currentModeId\":\"x\",\"availableModes\":[{\"id\":\"x\",\"name\":\"X\"}]}}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"stopReason\":\"end_turn\",\"usage\":{"
	"\"inputTokens\":1}}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-32000,\"message\":\"auth\",\"data\":["
	"1]}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/"
	"update\",\"params\":{\"sessionId\":\"a\",\"update\":{\"sessionUpdate\":\"agent_message_"
	"chunk\",\"content\":{\"type\":\"text\",\"text\":\"%d\"}}}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/"
	"update\",\"params\":{\"sessionId\":\"a\",\"update\":{\"sessionUpdate\":\"config_option_"
	"update\",\"configOptions\":[{\"id\":\"m\",\"category\":\"model\",\"currentValue\":\"v\","
	"\"options\":[{\"value\":\"v\",\"name\":\"%d\"},{\"group\":\"g\",\"options\":[{\"value\":"
	"\"w\"}]}]}]}}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/"
	"update\",\"params\":{\"sessionId\":\"a\",\"update\":{\"sessionUpdate\":\"usage_update\","
	"\"used\":%d,\"size\":2,\"cost\":{}}}}",
	"{\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":\"session/"
	"request_permission\",\"params\":{\"sessionId\":\"a\",\"toolCall\":{\"title\":\"t\"},"
	"\"options\":[{\"optionId\":\"o\",\"name\":\"n\",\"kind\":\"allow_once\"}]}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"fs/"
	"read_text_file\",\"params\":{\"sessionId\":\"a\",\"path\":\"/x\"}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"terminal/"
	"wait_for_exit\",\"params\":{\"sessionId\":\"a\",\"terminalId\":\"t_1\"}}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"terminal/release\"}",
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"no/such\",\"params\":[]}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"params\":{\"n\":%d}}",
	"noise %d",
};

/* One of them, perhaps with another byte, cut, or with a piece of another. */
static size_t line_make(char *to, size_t size, int64_t id)
{
	char text[2048];
	size_t n;
	char number[24];
	const char *from = lines[rnd(ARRAY_LEN(lines))], *mark = strstr(from, "%d");

	snprintf(number, sizeof(number), "%lld", (long long)(rnd(3) ? id : (int64_t)rnd(1000)));
	n = (size_t)snprintf(text, sizeof(text), "%.*s%s%s", (int)(mark - from), from, number,
			     mark + 2);
	switch (rnd(8)) {
	case 0:
		text[rnd((unsigned)n)] = (char)rnd(256);
		break;
	case 1:
		n = rnd((unsigned)n);
		break;
	case 2:
		memmove(text + rnd((unsigned)n / 2), text + n / 2, n - n / 2);
		break;
	default:
		break;
	}
	n = MIN(n, size - 1);
	memcpy(to, text, n);
	to[n] = '\0';
	return n;
}

static void cell_init(void)
{
	memset(&c, 0, sizeof(c));
	c.d = &d;
	strcpy(c.id, "0123456789abcdef0123456789abcdef");
	c.spec = json_object();
	c.state = CELL_STOPPED;
	list_init(&c.link);
	list_init(&c.waits);
	list_init(&c.changed);
}

static void settled(struct daemon *x)
{
	(void)x;
}

static void vivd_open(void)
{
	struct err e = { 0 };

	memset(&d, 0, sizeof(d));
	if (db_open(&d.db, dir, -1, &e) < 0) {
		printf("Bail out! %s\n", err_line(&e).str);
		exit(1);
	}
	uv_loop_init(&d.loop);
	events_open(&d);
	d.settled = settled;
	approvals_open(&d, NULL);
	permission_open();
}

static void vivd_close(void)
{
	sessions_close(&d);
	uv_run(&d.loop, UV_RUN_NOWAIT);
	uv_run(&d.loop, UV_RUN_NOWAIT);
	expect(uv_loop_close(&d.loop) == 0, "something is left in the loop");
	db_close(&d.db);
}

static struct session *first(void)
{
	return list_is_empty(sessions_all()) ? NULL
					     : list_first(sessions_all(), struct session, link);
}

/* All events as one text. */
static char *transcript(struct session *s)
{
	struct buf b = { 0 };
	int64_t seq = 0, want = 1;
	char *line;

	while ((line = session_event_next(s, &seq))) {
		json_t *o = json_loads(line, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);

		expect(json_is_object(o), "an event is no JSON");
		expect(seq == want++, "a number is missing");
		json_decref(o);
		buf_add(&b, line, strlen(line));
		free(line);
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

static void outbox_check(struct session *s)
{
	sqlite3_stmt *q = db_query(&d.db,
				   "SELECT at,length(CAST(line AS BLOB)) FROM session_outbox WHERE "
				   "session=? ORDER BY at",
				   "i", s->row);
	int64_t at = -1;

	while (db_next(q)) {
		expect(at < 0 || db_int(q, 0) == at, "there is a gap in the input");
		at = db_int(q, 0) + db_int(q, 1);
	}
	db_done(q);
	expect(at < 0 || (uint64_t)at == s->put_end, "the end of the input is another");
}

static void step(struct session *s)
{
	char line[2048];
	struct err e = { 0 };
	int64_t n, seq;

	switch (rnd(12)) {
	case 0:
		(void)!session_prompt(s, json_pack("[{s:s,s:s}]", "type", "text", "text", "x"), "t",
				      &n, &seq, &e);
		break;
	case 1:
		(void)!session_cancel(s, &e);
		break;
	case 2: {
		json_t *list = approvals_list(&d, "", false);

		if (json_array_size(list))
			(void)!approval_answer(
				&d,
				json_integer_value(json_object_get(json_array_get(list, 0), "id")),
				rnd(2), "t", &e);
		json_decref(list);
		break;
	}
	default:
		session_begin(s);
		for (unsigned i = 0; i < 1 + rnd(6); i++)
			acp_line(s, line, line_make(line, sizeof(line), s->calls - rnd(2)), 1);
		s->taken += 100;
		expect(session_end(s, NULL) == 0, "a change was not written");
	}
	expect(permission_count(s) <= 32, "too many questions are open");
	expect((s->state == SESSION_WAITING) <= (permission_count(s) > 0), "it waits for nothing");
	s->starting = false; /* there is no cell */
}

static void seed_run(unsigned seed)
{
	struct session *s;
	struct err e = { 0 };
	char *before, *after;

	state = seed * 77 + 1;
	cell_init();
	vivd_open();
	s = session_add(&c, json_pack("{s:[s],s:s}", "command", "x", "mode", "x"), &e);
	session_begin(s);
	s->proc = 5;
	acp_begin(s);
	session_end(s, NULL);
	for (unsigned i = 0; i < STEPS && !wrong; i++) {
		step(s);
		if (!s->proc) {
			session_begin(s);
			s->proc = 5;
			acp_begin(s);
			session_end(s, NULL);
		}
		if (rnd(100))
			continue;
		outbox_check(s);
		before = transcript(s);
		vivd_close();
		vivd_open();
		sessions_read(&d);
		s = first();
		after = transcript(s);
		expect(!strcmp(before, after), "another vivd sees another transcript");
		free(before);
		free(after);
	}
	outbox_check(s);
	json_decref(transcripts_search(&d, "1 \"x *", "", 10, &e));
	expect(session_remove(s, &e) == 0, "it is not removed");
	vivd_close();
	json_decref(c.spec);
}

/* ---- a transaction that is lost ---- */

static unsigned held;

static void on_hold(struct db *db)
{
	(void)db;
	held++;
}

static int refuse(void *arg)
{
	(void)arg;
	return 1;
}

/* One that reads nothing. */
static struct follow *follow_fake(void)
{
	struct follow *f = xalloc(sizeof(*f));

	uv_fs_event_init(&d.loop, &f->event);
	uv_timer_init(&d.loop, &f->timer);
	f->event.data = f->timer.data = f;
	f->nhandles = 2;
	f->reader.files[0] = f->reader.files[1] = -1;
	return f;
}

static void update_take(struct session *s, const char *text)
{
	char line[512];
	int n = snprintf(
		line, sizeof(line),
		"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
		"\"sessionId\":\"a\",\"update\":{\"sessionUpdate\":\"plan\",\"x\":\"%s\"}}}",
		text);

	s->hard = false;
	session_begin(s);
	acp_line(s, line, (size_t)n, 1);
	s->taken += (uint64_t)n;
	(void)!session_end_stream(s, true);
}

/* What was to be written a moment later could not be: the session is what the database has of it,
 * and the agent's output is read again from there. */
static void lost_test(void)
{
	struct session *s;
	struct err e = { 0 };
	uint64_t taken;
	int64_t seq;
	char *text;

	wrong = NULL;
	cell_init();
	vivd_open();
	sessions_read(&d);
	s = session_add(&c, json_pack("{s:[s]}", "command", "x"), &e);
	session_begin(s);
	s->proc = 5;
	acp_begin(s);
	session_end(s, NULL);
	d.db.hold = on_hold;
	s->follow = follow_fake();
	update_take(s, "kept");
	db_flush(&d.db);
	seq = s->seq;
	taken = s->taken;
	held = 0;
	update_take(s, "lost");
	update_take(s, "lost, too");
	eq(held, 1, "events of a stream are written a moment later");
	eq(s->seq, seq + 2, "and have their numbers");
	sqlite3_commit_hook(d.db.sql, refuse, NULL);
	db_flush(&d.db);
	sqlite3_commit_hook(d.db.sql, NULL, NULL);
	eq(s->seq, seq, "they are lost: so are their numbers");
	eq((int64_t)s->taken, (int64_t)taken, "the agent's output is read again from there");
	ok(!s->follow, "by another reader");
	s->follow = follow_fake();
	update_take(s, "lost");
	update_take(s, "lost, too");
	db_flush(&d.db);
	eq(s->seq, seq + 2, "then they are there");
	text = transcript(s);
	ok(!wrong && strstr(text, "\"lost\"") && strstr(text, "lost, too"), "once, without a gap");
	free(text);
	s->starting = false;
	(void)!session_remove(s, &e);
	vivd_close();
	json_decref(c.spec);
}

/* ---- lines and parts of them ---- */

struct got {
	char text[256];
	uint64_t skipped;
};

static void on_line(void *arg, const char *p, size_t n)
{
	struct got *g = arg;

	strncat(g->text, p, n);
	strcat(g->text, "|");
}

static void on_skipped(void *arg, const char *shown, size_t n, uint64_t length)
{
	struct got *g = arg;

	expect(n == LINE_SHOWN && shown[0] == 'x', "what is shown of a long line");
	g->skipped = length;
}

static void lines_test(void)
{
	struct got g = { 0 };
	struct lines_user u = { .line = on_line, .skipped = on_skipped, .arg = &g };
	struct lines l = { 0 };
	char *block = malloc(1 << 20);

	lines_feed(&l, "a\nb", 3, &u);
	lines_feed(&l, "c\n\nd", 4, &u);
	ok(!strcmp(g.text, "a|bc||"), "lines in pieces");
	lines_end(&l, &u);
	memset(block, 'x', 1 << 20);
	for (int i = 0; i < 10; i++)
		lines_feed(&l, block, 1 << 20, &u);
	lines_feed(&l, "\nafter\n", 7, &u);
	ok(g.skipped == 10u << 20 && !strcmp(g.text, "a|bc||d|after|"),
	   "a line that is too long is skipped");
	lines_free(&l);
	free(block);
}

static void raw_test(void)
{
	static const char line[] = "{\"params\" : {\"a\":[1,{\"update\":2}],\"update\": "
				   "{\"x\":\"}\\\"\",\"n\":1.10}} ,\"method\":\"m\"}";
	size_t n = 0;
	const char *p = rpc_raw(line, sizeof(line) - 1, "params", "update", &n);

	ok(p && n == 20 && !strncmp(p, "{\"x\":\"}\\\"\",\"n\":1.10}", n),
	   "a part of a line as it stands");
	ok(!rpc_raw("{}", 2, "params", "update", &n) &&
		   !rpc_raw("{\"params\":1}", 12, "params", "update", &n),
	   "a part that is not there");
}

int main(void)
{
	lines_test();
	raw_test();
	if (!mkdtemp(dir))
		return 1;
	lost_test();
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		wrong = NULL;
		seed_run(seed);
		ok(!wrong, wrong ? wrong : "an agent's lines, good and bad, over several vivds");
	}
	if (chdir(dir) == 0) {
		unlink("state.db");
		unlink("state.db-wal");
		unlink("state.db-shm");
		unlink(".room");
	}
	rmdir(dir);
	return tap_end();
}
