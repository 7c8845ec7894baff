/* The commands of viv-journal that answer questions and export, on a journal in a directory:
 * journalask.py runs them and starts the servers that exports are sent to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journalmake.h"

#define TEXT(s) ((struct jtext){ s, (uint32_t)strlen(s) })
#define WORDS(s) ((struct jtext){ s, sizeof(s) })
#define ADD(KIND, pid, ...) maker_add(&m, J_##KIND, &(struct journal_##KIND){ __VA_ARGS__ }, pid)

static struct maker m;
static const uint8_t hash[JOURNAL_HASH] = { 0xab, 0xcd };

/* An agent that is asked twice, with a compiler, a download and a denial. */
static void journal_make(int dir)
{
	maker_init(&m, dir, "0123456789ab");
	ADD(START, 0, .id = TEXT("0123456789ab"), .name = TEXT("web"), .image = TEXT("debian:12"),
	    .level = TEXT("all"), .version = TEXT("0.1.0"));
	ADD(COMMAND, 0, .number = 1, .args = WORDS("agent\0--acp"));
	ADD(EXEC, 1, .path = TEXT("/usr/bin/agent"), .args = WORDS("agent\0--acp"),
	    .cwd = TEXT("/work"), .parent = 0);
	ADD(SESSION, 0, .session = TEXT("s1"), .agent = TEXT("coder"), .root = 1);
	ADD(PROMPT, 0, .session = TEXT("s1"), .number = 1, .text = TEXT("build <b>it</b>"));
	ADD(FORK, 10, .parent = 1);
	ADD(EXEC, 10, .path = TEXT("/bin/sh"), .args = WORDS("sh\0-c\0make"), .cwd = TEXT("/work"),
	    .parent = 1);
	ADD(FORK, 11, .parent = 10);
	ADD(EXEC, 11, .path = TEXT("/usr/bin/cc"), .args = WORDS("cc\0a.c"), .cwd = TEXT("/work"),
	    .parent = 10);
	ADD(READ, 11, .path = TEXT("/work/a.c"));
	ADD(CREATE, 11, .path = TEXT("/work/a.o.tmp"), .mode = 0100644);
	ADD(OPEN, 11, .path = TEXT("/work/a.o.tmp"), .flags = 0101);
	ADD(WRITE, 11, .path = TEXT("/work/a.o.tmp"), .size = 100);
	ADD(CONTENT, 11, .path = TEXT("/work/a.o.tmp"), .size = 100, .hash = hash);
	ADD(RENAME, 11, .path = TEXT("/work/a.o.tmp"), .to = TEXT("/work/a.o"));
	ADD(EXIT, 11, .code = 0);
	ADD(EXIT, 10, .code = 0);
	ADD(ANSWER, 0, .session = TEXT("s1"), .number = 1, .reason = TEXT("end_turn"));
	ADD(OPERATOR, 0, .action = TEXT("snapshot"), .detail = TEXT("one"));
	ADD(PROMPT, 0, .session = TEXT("s1"), .number = 2, .text = TEXT("fetch"));
	ADD(FORK, 11, .parent = 1); /* its number is used again */
	ADD(EXEC, 11, .path = TEXT("/usr/bin/curl"), .args = WORDS("curl\0\xff\xfe"),
	    .cwd = TEXT("/work"), .parent = 1);
	ADD(NAME, 11, .name = TEXT("example.org"), .decision = TEXT("allow"), .rule = TEXT("r1"));
	ADD(CONNECT, 11, .connection = 1, .protocol = TEXT("tcp"), .name = TEXT("example.org"),
	    .address = TEXT("192.0.2.7"), .port = 443, .decision = TEXT("allow"),
	    .program = TEXT("curl"));
	ADD(REQUEST, 11, .connection = 1, .method = TEXT("GET"),
	    .url = TEXT("https://example.org/"), .decision = TEXT("allow"), .number = 1);
	ADD(RESPONSE, 11, .connection = 1, .number = 1, .method = TEXT("GET"),
	    .url = TEXT("https://example.org/"), .status = 200, .in = 500);
	ADD(REQUEST, 11, .connection = 1, .method = TEXT("PATCH"),
	    .url = TEXT("https://user@[2001:db8::1]:8443/a?b"), .decision = TEXT("deny"));
	/* By its number, whatever address the cell knows. */
	ADD(CLOSE, 11, .protocol = TEXT("tcp"), .address = TEXT("198.18.0.5"), .port = 443,
	    .in = 1500, .out = 300, .connection = 1);
	ADD(CONNECT, 11, .connection = 2, .protocol = TEXT("tcp"), .name = TEXT("evil.example"),
	    .address = TEXT("192.0.2.9"), .port = 80, .decision = TEXT("deny"),
	    .rule = TEXT("deny *.example"));
	ADD(DENIAL, 11, .scope = TEXT("net"), .what = TEXT("evil.example:80"),
	    .rule = TEXT("deny *.example"));
	ADD(CREATE, 11, .path = TEXT("/work/page"), .mode = 0100644);
	ADD(WRITE, 11, .path = TEXT("/work/page"), .size = 500);
	ADD(LINK, 11, .path = TEXT("/work/page"), .to = TEXT("/work/page2"));
	ADD(CHANGE, 11, .path = TEXT("/work/page"));
	ADD(REMOVE, 11, .path = TEXT("/work/a.o"));
	ADD(MOUNT, 11, .path = TEXT("/mnt"));
	ADD(EXIT, 11, .code = 22);
	ADD(APPROVAL, 0, .id = TEXT("q"), .scope = TEXT("net"), .what = TEXT("x"),
	    .answer = TEXT("allow"), .by = TEXT("me"));
	ADD(TOOL, 0, .tool = TEXT("deploy"), .args = TEXT("{}"), .status = 0);
	ADD(LIMIT, 0, .what = TEXT("memory"));
	ADD(POLICY, 0, .rules = WORDS("allow a\0deny b"));
	ADD(INBOUND, 0, .peer = TEXT("127.0.0.1:5000"), .port = 8080);
	ADD(OPERATOR, 0, .action = TEXT("snapshot"), .detail = TEXT("two"));
	ADD(ANSWER, 0, .session = TEXT("s1"), .number = 2, .reason = TEXT("end_turn"));
	ADD(HOLE, 0, .reason = TEXT("test"), .count = 2);
	ADD(STOP, 0, .status = 0, .reason = TEXT("ended"));
	maker_close(&m);
}

int main(int argc, char **argv)
{
	char top[] = "/tmp/viv-ask.XXXXXX", path[64], self[400], program[480], *slash;
	int dir, status;
	pid_t pid;

	(void)argc;
	if (!mkdtemp(top))
		return 1;
	snprintf(path, sizeof(path), "%s/j", top);
	if (mkdir(path, 0700) || (dir = open(path, O_RDONLY | O_DIRECTORY)) < 0)
		return 1;
	journal_make(dir);
	close(dir);
	snprintf(self, sizeof(self), "%s", argv[0]);
	slash = strrchr(self, '/');
	if (!slash)
		return 1;
	*slash = 0;
	snprintf(program, sizeof(program), "%s/../../viv-journal", self);
	pid = fork();
	if (pid == 0) {
		execlp("python3", "python3", "tests/unit/journalask.py", program, path, (char *)0);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	snprintf(program, sizeof(program), "rm -rf %s", top);
	if (system(program))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
