/* An agent in a cell, from C: sends one prompt, allows what the agent asks for, and prints what it
 * says.
 *
 *	cc session.c -lvivarium -o session
 *	viv create --name work; ./session work '{"agent":"claude"}' 'fix the failing test'
 *
 * The program reads JSON with strstr to need nothing but libvivarium; one of your own has a parser. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vivarium.h>

static struct viv_error error;
static struct viv_reply reply;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s %s\n", what, error.text, reply.body ? reply.body : "");
	exit(1);
}

static long long number(const char *json, const char *key)
{
	const char *at = strstr(json, key);

	return at ? atoll(at + strlen(key)) : -1;
}

/* Prints a JSON text up to its closing quote; \n and \" are all that this example knows. */
static void text_print(const char *at)
{
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		putchar(*at == 'n' && at[-1] == '\\' ? '\n' : *at);
	}
}

/* 1: the turn of this prompt has ended. */
static int event(struct viv_client *answers, const char *line, long long prompt)
{
	const char *said = strstr(line, "\"agent_message_chunk\"");
	struct viv_reply answered;

	if (strstr(line, "\"type\":\"update\"") && said && (said = strstr(said, "\"text\":\"")))
		text_print(said + strlen("\"text\":\""));
	if (strstr(line, "\"type\":\"permission\"")) {
		if (viv_approval_answer(answers, number(line, "\"approval\":"), 1, 0, &answered,
					&error) < 0)
			die("answer");
		viv_reply_free(&answered);
	}
	return strstr(line, "\"type\":\"turn\"") && number(line, "\"prompt\":") == prompt;
}

int main(int argc, char **argv)
{
	struct viv_client *c = viv_open(NULL, VIV_START, &error);
	struct viv_client *events = viv_open(NULL, 0, &error);
	struct pollfd p = { .events = POLLIN };
	char session[32] = "";
	const char *line, *id;
	long long prompt;
	size_t size;
	int r, ended = 0;

	if (argc != 4 || !c || !events)
		die("usage: session CELL JSON PROMPT");
	if (viv_session_new(c, argv[1], argv[2], &reply, &error) < 0 || reply.status != 201)
		die("new");
	id = strstr(reply.body, "\"id\":\"");
	if (!id || sscanf(id, "\"id\":\"%31[^\"]", session) != 1)
		die("new");
	viv_reply_free(&reply);
	if (viv_session_prompt(c, argv[1], session, argv[3], &reply, &error) < 0 ||
	    reply.status != 202)
		die("prompt");
	prompt = number(reply.body, "\"prompt\":");
	viv_reply_free(&reply);

	if (viv_session_follow(events, argv[1], session, 0, &reply, &error) < 0 ||
	    reply.status != 200)
		die("events");
	while (!ended) {
		while (!ended && (r = viv_follow_line(events, &line, &size, &error)) > 0)
			ended = event(c, line, prompt);
		if (!ended && r < 0)
			die("events");
		p.fd = viv_follow_fd(events);
		if (!ended)
			poll(&p, 1, -1);
	}
	putchar('\n');
	if (viv_session_do(c, argv[1], session, "close", &reply, &error) < 0)
		die("close");
	viv_reply_free(&reply);
	viv_close(events);
	viv_close(c);
	return 0;
}
