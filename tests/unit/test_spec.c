/* The table of a cell's settings, and that all forms of a setting agree: the command line, JSON,
 * and back. */
/* objects: src/spec/ src/policy/ src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/store/disktree.c src/store/files.c src/base/crc32c.c src/base/log.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/options.h"
#include "tap.h"

static void rows_check(void)
{
	char seen[32][40];
	unsigned n = 0;

	for (unsigned i = 0; i < SETTINGS_COUNT; i++) {
		const struct opt *o = &run_opts[i];
		const struct setting *s = &settings[i];
		size_t len = s->json ? strcspn(s->json, ".") : 0;

		ok(!o->name == (i == SET_COMMAND || i == SET_POLICY || i == SET_HIDDEN_ENV),
		   "an option has a name");
		ok(s->type != SETTING_FLAG || !o->value, "a switch takes no value");
		for (unsigned k = 0; k < i; k++) {
			ok(!o->name || !run_opts[k].name || strcmp(o->name, run_opts[k].name),
			   "names of options differ");
			ok(!o->letter || o->letter != run_opts[k].letter, "letters differ");
			ok(!s->json || !settings[k].json || strcmp(s->json, settings[k].json),
			   "fields differ");
		}
		if (!s->json)
			continue;
		/* The writer opens each object once. */
		if (n && strlen(seen[n - 1]) == len && !strncmp(seen[n - 1], s->json, len))
			continue;
		for (unsigned k = 0; k < n; k++)
			ok(strlen(seen[k]) != len || strncmp(seen[k], s->json, len),
			   "the rows of an object stand together");
		if (s->json[len] && n < 32)
			snprintf(seen[n++], sizeof(seen[0]), "%.*s", (int)len, s->json);
	}
}

static int json_take(const char *text, struct err *e)
{
	struct run_options o = { 0 };
	int ret = run_options_read(&o, text, strlen(text), e);

	run_options_fini(&o);
	return ret;
}

static int option_take(const char *name, const char *value, struct err *e)
{
	char option[64], copy[64], verb[] = "run", detach[] = "--detach", check[] = "--health-cmd",
				   line[] = "true";
	char *argv[] = { verb, detach, check, line, option, copy, NULL };
	struct run_options o = { 0 };
	int ret;

	snprintf(option, sizeof(option), "--%s", name);
	snprintf(copy, sizeof(copy), "%s", value);
	ret = run_options_parse(&o, 6, argv, e);
	run_options_fini(&o);
	return ret;
}

/* The same number on the command line and in JSON. */
static void both(unsigned i, double v, bool want)
{
	const bool option_want = v == 0 ? want && !(settings[i].flags & S_ZERO) : want;
	const char *json = settings[i].json, *dot = strchr(json, '.');
	char text[160], value[64], what[200];
	bool whole = settings[i].type == SETTING_COUNT || settings[i].type == SETTING_SIZE;
	struct err e;

	snprintf(value, sizeof(value), whole ? "%.0f" : "%.3f", v);
	if (!dot)
		snprintf(text, sizeof(text), "{\"%s\":%s}", json, value);
	else
		snprintf(text, sizeof(text), "{\"%.*s\":{%s\"%s\":%s}}", (int)(dot - json), json,
			 strncmp(json, "health.", 7) ? "" : "\"command\":[\"x\"],", dot + 1, value);
	snprintf(what, sizeof(what), "%s as JSON %s", text, want ? "is taken" : "is refused");
	if (!ok((json_take(text, &e) == 0) == want, what) && want)
		printf("# %s\n", e.message);
	if (v == 0)
		snprintf(value, sizeof(value), "0");
	snprintf(what, sizeof(what), "--%s %s %s", run_opts[i].name, value,
		 option_want ? "is taken" : "is refused");
	if (!ok((option_take(run_opts[i].name, value, &e) == 0) == option_want, what) &&
	    option_want)
		printf("# %s\n", e.message);
}

static void bounds_check(void)
{
	for (unsigned i = 0; i < RUN_NOPTS; i++) {
		const struct setting *s = &settings[i];

		if (!s->json || s->type < SETTING_COUNT || s->type > SETTING_TIME)
			continue;
		both(i, s->min > 0 ? s->min : 1, true);
		both(i, 0, s->flags & S_ZERO || s->min == 0);
		if (s->min > 1 || (s->type == SETTING_CPUS && s->min > 0.01))
			both(i, s->min / 2, false);
		if (s->max && s->max < 1e9) {
			both(i, s->max, true);
			both(i, s->max + 1, false);
		}
	}
}

static char *written(const struct run_options *o)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	run_options_write(o, 0, &b);
	buf_add(&b, "}", 2);
	return (char *)b.p;
}

static void round_trip(void)
{
	static const char *const words[] = { "run",
					     "--image",
					     "i",
					     "--entrypoint",
					     "/e",
					     "--cpus",
					     "1.5",
					     "-m",
					     "64M",
					     "--pids",
					     "7",
					     "--disk-size",
					     "10M",
					     "--disk-inodes",
					     "99",
					     "--timeout",
					     "1.5s",
					     "-eA=1",
					     "-e",
					     "B=x \"y\"",
					     "-e",
					     "A=2",
					     "-w",
					     "/w",
					     "-u",
					     "1:2",
					     "--group-add",
					     "video",
					     "--group-add=7",
					     "--ulimit",
					     "core=1:2",
					     "--ulimit",
					     "nofile=20:30",
					     "--ulimit=core=0",
					     "--read-only",
					     "--mount",
					     "/s:/d:ro",
					     "--volume",
					     "v:/v",
					     "--tmpfs",
					     "/t:size=1M",
					     "-h",
					     "host",
					     "--binfmt-wasm",
					     "/bin/x y",
					     "-dit",
					     "--fast",
					     "eager",
					     "-l",
					     "k=v",
					     "--label",
					     "empty",
					     "--restart",
					     "on-failure:3",
					     "--stop-timeout",
					     "0",
					     "--idle-timeout",
					     "5m",
					     "--health-cmd",
					     "test -e /x",
					     "--health-interval",
					     "10ms",
					     "--health-retries",
					     "2",
					     "--",
					     "echo",
					     "--",
					     "1" };
	char *argv[ARRAY_LEN(words) + 1] = { NULL };
	struct run_options o = { 0 }, again = { 0 };
	char *first, *second;
	struct err e = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		argv[i] = xstrndup(words[i], strlen(words[i]));
	ok(run_options_parse(&o, ARRAY_LEN(words), argv, &e) == 0, "a command line");
	printf("# %s\n", e.message);
	first = written(&o);
	printf("# %s\n", first);
	ok(!strcmp(first,
		   "{\"image\":\"i\",\"entrypoint\":\"/"
		   "e\",\"limits\":{\"cpus\":1.500,\"memory\":67108864,\"pids\":7,"
		   "\"disk\":10485760,\"inodes\":99},\"timeout\":1.5,\"env\":{\"B\":\"x "
		   "\\\"y\\\"\",\"A\":\"2\"},\"workdir\":\"/w\","
		   "\"user\":\"1:2\",\"group_add\":[\"video\",\"7\"],\"ulimits\":{\"nofile\":\"20:"
		   "30\",\"core\":\"0\"},\"read_only\":true,\"mounts\":[{\"source\":\"/"
		   "s\",\"target\":\"/"
		   "d\",\"readonly\":true},{\"volume\":\"v\","
		   "\"target\":\"/v\"},{\"tmpfs\":true,\"target\":\"/"
		   "t\",\"size\":1048576}],\"hostname\":\"host\","
		   "\"binfmt_wasm\":\"/bin/x "
		   "y\",\"stdin_open\":true,\"tty\":true,\"fast\":\"eager\","
		   "\"labels\":{\"k\":\"v\",\"empty\":\"\"},\"restart\":{\"policy\":\"on-"
		   "failure\",\"max\":3},\"stop_grace\":0,"
		   "\"idle_timeout\":300,\"health\":{\"command\":[\"/bin/sh\",\"-c\",\"test "
		   "-e /x\"],\"interval\":0.01,"
		   "\"retries\":2},\"command\":[\"echo\",\"--\",\"1\"]}"),
	   "as JSON");
	ok(run_options_read(&again, first, strlen(first), &e) == 0, "is read");
	printf("# %s\n", e.message);
	second = written(&again);
	ok(!strcmp(first, second), "and written as it was");
	printf("# %s\n", second);
	free(first);
	free(second);
	run_options_fini(&o);
	run_options_fini(&again);
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		free(argv[i]);
}

static void refused(const char *json, const char *code)
{
	struct err e = { 0 };

	ok(json_take(json, &e) < 0 && !strcmp(err_code(&e), code), json);
	printf("# %s\n", e.message);
}

static bool is_warm(const char *json)
{
	struct run_options o = { 0 };
	struct err e;
	bool warm = run_options_read(&o, json, strlen(json), &e) == 0 && run_fits_warm(&o);

	run_options_fini(&o);
	return warm;
}

/* What a warm cell cannot become: all that its kernel has from the moment it boots, and what is
 * printed of its whole life. */
static bool is_cold(unsigned id)
{
	static const enum setting_id cold[] = { SET_NAME,
						SET_DISK,
						SET_INODES,
						SET_MOUNT,
						SET_S3_ENDPOINT,
						SET_VOLUME,
						SET_TMPFS,
						SET_SHM_SIZE,
						SET_HOSTNAME,
						SET_WASM,
						SET_CHANGES,
						SET_TRACE,
						SET_FAST,
						SET_JOURNAL,
						SET_JOURNAL_FULL,
						SET_JOURNAL_MAX,
						SET_GROUP_ADD,
						SET_ULIMIT,
						SET_READ_ONLY,
						SET_NETWORK,
						SET_ALLOW,
						SET_DENY,
						SET_ASK,
						SET_POLICY_FILE,
						SET_POLICY,
						SET_ADD_HOST,
						SET_DNS,
						SET_DNS_SEARCH,
						SET_SECRET,
						SET_MAX_CONNECTIONS,
						SET_MAX_NET_IN,
						SET_MAX_NET_OUT,
						SET_MAX_NET_RATE,
						SET_TOOL,
						SET_COPY };

	for (unsigned i = 0; i < ARRAY_LEN(cold); i++)
		if (cold[i] == id)
			return true;
	return false;
}

/* Random settings together: it is warm when each of them is. */
static void warm_by_model(void)
{
	unsigned wrong = 0, warm = 0;

	srandom(1);
	for (unsigned i = 0; i < 5000; i++) {
		struct run_options o = { 0 };
		bool cold = false;

		for (unsigned n = (unsigned)random() % 4; n; n--) {
			unsigned id = (unsigned)random() % RUN_NOPTS;

			o.given[id] = true;
			cold |= is_cold(id);
		}
		wrong += run_fits_warm(&o) == cold;
		warm += !cold;
	}
	eq(wrong, 0, "a warm cell can become all but a fixed list");
	ok(warm > 1000 && warm < 4000, "of both kinds there were many");
}

int main(void)
{
	rows_check();
	warm_by_model();
	bounds_check();
	round_trip();
	refused("{\"nope\":1}", "unknown_field");
	refused("{\"limits\":{\"nope\":1}}", "unknown_field");
	refused("{\"limits\":1}", "wrong_type");
	refused("{\"image\":1}", "wrong_type");
	refused("{\"tty\":\"true\"}", "wrong_type");
	refused("{\"command\":[1]}", "wrong_type");
	refused("{\"env\":{\"A\":1}}", "wrong_type");
	refused("{\"env\":{\"A=B\":\"1\"}}", "invalid");
	refused("{\"ulimits\":{\"nofile\":1}}", "wrong_type");
	refused("{\"ulimits\":{\"nofile\":\"2:1\"}}", "invalid");
	refused("{\"ulimits\":{\"nofiles\":\"2\"}}", "invalid");
	refused("{\"ulimits\":{\"core\":\"18446744073709551616\"}}", "invalid");
	refused("{\"group_add\":[\"a,b\"]}", "invalid");
	refused("{\"group_add\":\"a\"}", "wrong_type");
	refused("{\"add_host\":[\"db\"]}", "invalid");
	refused("{\"add_host\":[\"db:1.2.3\"]}", "invalid");
	refused("{\"add_host\":[\"a..b:1.2.3.4\"]}", "invalid");
	refused("{\"add_host\":[\"a b:1.2.3.4\"]}", "invalid");
	refused("{\"dns\":[\"one\"]}", "invalid");
	refused("{\"dns_search\":[\".\"]}", "invalid");
	refused("{\"dns_search\":[\"a b\"]}", "invalid");
	struct host_value h;
	ok(host_parse("Db.Org:[fd00::1]", &h) && !strcmp(h.name, "db.org") &&
		   !strcmp(h.addr, "fd00::1") && host_parse("a:::1", &h) &&
		   !strcmp(h.addr, "::1") && host_parse("a=1.2.3.4", &h) && !host_parse("a:", &h),
	   "forms of --add-host");
	refused("{\"read_only\":1}", "wrong_type");
	refused("{\"limits\":{\"memory\":-1}}", "wrong_type");
	refused("{\"limits\":{\"memory\":1.5}}", "wrong_type");
	refused("{\"mounts\":[{\"source\":\"/a\"}]}", "missing_field");
	refused("{\"mounts\":[{\"target\":\"/a\"}]}", "invalid");
	refused("{\"mounts\":[{\"source\":\"etc\",\"target\":\"/a\"}]}", "invalid");
	refused("{\"mounts\":[{\"tmpfs\":true,\"target\":\"/a\"},{\"tmpfs\":true,\"target\":\"/a/"
		"\"}]}",
		"invalid");
	refused("{\"restart\":{}}", "missing_field");
	refused("{\"restart\":{\"policy\":\"often\"}}", "invalid");
	refused("{\"health\":{\"interval\":1}}", "missing_field");
	refused("{\"health\":{\"command\":[]}}", "invalid");
	refused("{\"name\":\"a b\"}", "invalid");
	refused("{\"fast\":\"slow\"}", "invalid");
	ok(is_warm("{}") && is_warm("{\"env\":{\"A\":\"1\"},\"limits\":{\"memory\":67108864}}"),
	   "a warm cell takes variables and a memory limit");
	ok(!is_warm("{\"read_only\":true}") && !is_warm("{\"ulimits\":{\"core\":\"0\"}}") &&
		   !is_warm("{\"group_add\":[\"7\"]}"),
	   "not what only a boot gives");
	ok(is_warm("{\"read_only\":false,\"ulimits\":{},\"group_add\":[],\"mounts\":[],\"limits\":{"
		   "\"disk\":0}}"),
	   "and what says nothing");
	ok(!is_warm("{\"hostname\":\"x\"}") && !is_warm("{\"limits\":{\"disk\":1048576}}") &&
		   !is_warm("{\"mounts\":[{\"tmpfs\":true,\"target\":\"/a\"}]}"),
	   "but no host name, disk limit or mount");
	ok(setting_is_live("limits") && setting_is_live("labels") && setting_is_live("health") &&
		   !setting_is_live("image") && !setting_is_live("mounts") &&
		   !setting_is_live("limit"),
	   "what can change while it runs");
	return tap_end();
}
