/* viv init: a vivarium.yaml to start from. What it says works as it stands; keys that are used most
 * are there as comments, and become true when the '#' is removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/jsontext.h"
#include "cli/args.h"

static const char head[] =
	"# Cells of this project. 'viv up' creates and starts them, 'viv up --dry-run' shows what "
	"it "
	"would do,\n"
	"# 'viv down' removes them. All keys: docs/yaml.md\n"
	"\n"
	"# name: shop                  # of the project; without it, the name of this directory\n"
	"\n"
	"cells:\n";

static const char command_cell[] =
	"  work:\n"
	"    command: [sh, -c, 'echo ready; exec sleep infinity']\n"
	"    # image: NAME              # of 'viv image ls'; without it, the host's programs\n"
	"    # replicas: 3              # work-1 to work-3, each with its number in $VIV_REPLICA\n"
	"    # restart: on-failure      # or always, no\n"
	"    # health: {command: [test, -e, /ready], interval: 10s}\n";

/* %s: the agent. */
static const char agent_cell[] =
	"  coder:\n"
	"    agent: %s              # 'viv agent add %s' installs it, 'viv secret set' keeps its "
	"key\n"
	"    prompt: Read the files in /work and write a summary to /work/SUMMARY.md.\n"
	"    # prompt_file: task.md     # instead of 'prompt'\n"
	"    mounts:\n"
	"      - {source: ., target: /work}\n";

static const char rest[] =
	"    limits: {cpus: 1, memory: 512M, pids: 200}\n"
	"    # env: {MODE: test, TOKEN: \"${TOKEN}\"}\n"
	"    # mounts: [{source: ., target: /work, readonly: true}, {volume: data, target: "
	"/data}]\n"
	"    # policy: [allow net example.org]\n"
	"    # secrets: [GITHUB_TOKEN]  # of 'viv secret set'; the cell sees a placeholder\n"
	"    # tools: [weather]         # of 'viv tool add'\n"
	"    # journal: all             # do not run without a record of what it does ('viv touched')\n"
	"    # depends_on: [db]\n"
	"\n"
	"# volumes: {data: }\n"
	"\n"
	"# workflows:                  # 'viv workflow run NAME'; a file, or steps "
	"(docs/workflows.md)\n"
	"#   tidy: {steps: [{run: echo tidy}]}\n"
	"# schedules:                  # what runs by the clock (docs/cron.md)\n"
	"#   nightly: {schedule: '0 3 * * *', tz: UTC, workflow: tidy}\n";

static int file_write(const char *file, bool force, const struct buf *b, struct err *e)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	size_t done = 0;

	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "'%s' exists" REMEDY "--force replaces it", file);
	while (fd >= 0 && done < b->len) {
		ssize_t n = write(fd, b->p + done, b->len - done);

		if (n < 0 && errno != EINTR)
			break;
		done += (size_t)MAX(n, (ssize_t)0);
	}
	if (fd < 0 || done < b->len || close(fd) < 0)
		return err_set(e, ERR_FAILED, "cannot write '%s': %s", file, strerror(errno));
	return 0;
}

int init_main(struct args *a, struct err *e)
{
	const char *file = arg_value(a, "file"), *agent = arg_value(a, "agent");
	struct buf b = { 0 };
	char cell[sizeof(agent_cell) + 128];
	int r;

	if (agent && (!*agent || strlen(agent) > 32 ||
		      strspn(agent, "abcdefghijklmnopqrstuvwxyz0123456789-_") < strlen(agent)))
		return args_wrong(a, e, "'%.80s' is not the name of an agent", agent);
	if (!file)
		file = "vivarium.yaml";
	buf_add_text(&b, head);
	if (agent) {
		snprintf(cell, sizeof(cell), agent_cell, agent, agent);
		buf_add_text(&b, cell);
	} else {
		buf_add_text(&b, command_cell);
	}
	buf_add_text(&b, rest);
	r = file_write(file, arg_is_on(a, "force"), &b, e);
	buf_free(&b);
	if (r)
		return r;
	if (a->json) {
		struct buf line = { 0 };

		buf_add_text(&line, "{");
		json_member_text(&line, "file", file);
		buf_add(&line, "}", 2);
		puts((char *)line.p);
		buf_free(&line);
	} else {
		printf("%s\n", file);
	}
	return 0;
}
