/* viv update: changes what can be changed while a cell runs, in one request for each cell. Values
 * are checked here as those of 'viv run' are, so that what is wrong is said in viv's words; 0 takes
 * a limit or a time away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cells.h"
#include "cli/change.h"
#include "cli/vivd.h"

/* The member that takes a limit away, if that is meant. */
static bool is_none(const char *text)
{
	return !strcmp(text, "0") || !strcmp(text, "-1");
}

static int size_add(const struct args *a, const char *option, const char *name, struct buf *b,
		    struct err *e)
{
	const char *text = arg_value(a, option);
	uint64_t n;

	if (!text)
		return 0;
	if (is_none(text))
		json_member_add(b, name, "null");
	else if (value_size(text, &n))
		json_member_number(b, name, n);
	else
		return args_wrong(a, e, "--%s '%s': a size such as 64M or 1G, or 0 for none",
				  option, text);
	return 0;
}

static int count_add(const struct args *a, const char *option, const char *name, struct buf *b,
		     struct err *e)
{
	const char *text = arg_value(a, option);
	uint32_t n;

	if (!text)
		return 0;
	if (is_none(text))
		json_member_add(b, name, "null");
	else if (value_u32(text, &n))
		json_member_number(b, name, n);
	else
		return args_wrong(a, e, "--%s '%s': a number, or 0 for none", option, text);
	return 0;
}

static int cpus_add(const struct args *a, struct buf *b, struct err *e)
{
	const char *text = arg_value(a, "cpus");
	char value[32];
	uint64_t milli;

	if (!text)
		return 0;
	if (!value_milli(text, &milli) || milli > 4096000)
		return args_wrong(a, e, "--cpus '%s': a number such as 2 or 0.5, or 0 for all",
				  text);
	snprintf(value, sizeof(value), "%llu.%03llu", (unsigned long long)milli / 1000,
		 (unsigned long long)milli % 1000);
	json_member_add(b, "cpus", milli ? value : "null");
	return 0;
}

static int time_add(const struct args *a, const char *option, const char *name, struct buf *b,
		    struct err *e)
{
	const char *text = arg_value(a, option);
	int64_t ns;

	if (!text)
		return 0;
	if (!strcmp(text, "0"))
		json_member_add(b, name, "null");
	else if (value_duration(text, &ns))
		json_member_seconds(b, name, ns);
	else
		return args_wrong(a, e, "--%s '%s': a time such as 500ms, 10s or 5m", option, text);
	return 0;
}

/* 0 is not the same as none: a cell without a command sleeps by default. */
static int sleep_add(const struct args *a, struct buf *b, struct err *e)
{
	const char *text = arg_value(a, "sleep-after");

	if (!text || strcmp(text, "0"))
		return time_add(a, "sleep-after", "sleep_after", b, e);
	json_member_add(b, "sleep_after", "0");
	return 0;
}

static int restart_add(const struct args *a, struct buf *b, struct err *e)
{
	const char *text = arg_value(a, "restart"), *colon = text ? strchr(text, ':') : NULL;
	char *policy;
	uint32_t max;

	if (!text)
		return 0;
	if (colon && !value_u32(colon + 1, &max))
		return args_wrong(a, e, "--restart '%s': no, on-failure[:MAX] or always", text);
	policy = xstrndup(text, strcspn(text, ":"));
	json_member_add(b, "restart", "{");
	json_member_text(b, "policy", policy);
	json_member_add(b, "max", colon ? colon + 1 : "null");
	buf_add_text(b, "}");
	free(policy);
	return 0;
}

/* K=V, and the names of those that go. The last word on a name counts. */
static void labels_add(const struct args *a, struct buf *b)
{
	bool any = false;

	for (unsigned i = 0; i < a->ngiven; i++) {
		const char *option = a->given[i].opt->name, *text = a->given[i].value;
		bool rm = !strcmp(option, "label-rm"), again = false;
		size_t n;
		char *name;

		if (!text || (!rm && strcmp(option, "label")))
			continue;
		n = rm ? strlen(text) : strcspn(text, "=");
		for (unsigned k = i + 1; k < a->ngiven; k++) {
			const char *other = a->given[k].value;

			again |= !strncmp(a->given[k].opt->name, "label", 5) &&
				 !strncmp(other, text, n) && (!other[n] || other[n] == '=');
		}
		if (again)
			continue;
		if (!any)
			json_member_add(b, "labels", "{");
		any = true;
		name = xstrndup(text, n);
		if (rm)
			json_member_add(b, name, "null");
		else
			json_member_text(b, name, text[n] ? text + n + 1 : "");
		free(name);
	}
	if (any)
		buf_add_text(b, "}");
}

static int limits_add(const struct args *a, struct buf *b, struct err *e)
{
	const char *pids = arg_value(a, "pids-limit") ? "pids-limit" : "pids";
	struct buf l = { 0 };
	int r = -1;

	if (cpus_add(a, &l, e) == 0 && size_add(a, "memory", "memory", &l, e) == 0 &&
	    count_add(a, pids, "pids", &l, e) == 0 && size_add(a, "disk-size", "disk", &l, e) == 0)
		r = count_add(a, "disk-inodes", "inodes", &l, e);
	if (!r && l.len) {
		json_member_add(b, "limits", "{");
		buf_add(b, l.p, l.len);
		buf_add_text(b, "}");
	}
	buf_free(&l);
	return r;
}

static int body_write(const struct args *a, struct buf *b, struct err *e)
{
	buf_add_text(b, "{");
	if (limits_add(a, b, e) < 0 || restart_add(a, b, e) < 0 ||
	    time_add(a, "timeout", "timeout", b, e) < 0 ||
	    time_add(a, "stop-timeout", "stop_grace", b, e) < 0 ||
	    time_add(a, "idle-timeout", "idle_timeout", b, e) < 0 || sleep_add(a, b, e) < 0 ||
	    count_add(a, "max-connections", "max_connections", b, e) < 0 ||
	    size_add(a, "max-net-in", "max_net_in", b, e) < 0 ||
	    size_add(a, "max-net-out", "max_net_out", b, e) < 0 ||
	    size_add(a, "max-net-rate", "max_net_rate", b, e) < 0)
		return -1;
	labels_add(a, b);
	if (b->len == 1)
		return args_wrong(a, e, "nothing to change is given");
	buf_add(b, "}", 2);
	return 0;
}

int update_main(struct args *a, struct err *e)
{
	struct buf b = { 0 };
	int r = body_write(a, &b, e);

	if (!r)
		r = cells_change(a, "PATCH", "", (char *)b.p, e);
	buf_free(&b);
	return r;
}
