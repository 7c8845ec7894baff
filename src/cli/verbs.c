/* The verbs of viv, each described once: what parses its words, its help, what shells complete and
 * the synopsis in the man page come from here. Every verb has --json and --help besides. */
#include "cli/cli.h"

#define OPTS(list) .opts = list, .nopts = ARRAY_LEN(list)
#define ANY (-1)

/* Of whatever starts a process in a cell. dir: what is its directory without. */
#define PROCESS_OPTS(dir)                                                                   \
	{ 'e', "env", "K=V", "set a variable; K alone passes viv's own value" },            \
		{ 0, "env-file", "FILE",                                                    \
		  "read variables from a file of K=V or K lines; --env takes precedence" }, \
		{ 'w', "workdir", "DIR", "working directory (" dir ")" },                   \
		{ 'u', "user", "USER",                                                      \
		  "run as this user: a name in the cell, UID or UID:GID (the cell's)" },    \
	{                                                                                   \
		0, "timeout", "TIME", "end the command after this time (500ms, 10s, 5m)"    \
	}

static const struct opt exec_opts[] = {
	{ 'i', "interactive", NULL, "connect viv's standard input" },
	{ 't', "tty", NULL, "allocate a terminal in the cell" },
	{ 'd', "detach", NULL,
	  "run in the background and print the process number; 'viv logs CELL:NUMBER' shows its "
	  "output" },
	PROCESS_OPTS("the cell's"),
};

static const struct opt shell_opts[] = { PROCESS_OPTS("the user's home") };

static const struct opt attach_opts[] = {
	{ 0, "logs", NULL, "show the kept output first" },
	{ 0, "no-stdin", NULL, "do not connect viv's standard input" },
	{ 0, "detach-keys", "KEYS", "keys that detach from a terminal (ctrl-p,ctrl-q)" },
	{ 0, "sig-proxy", "BOOL", "forward signals to the process (true)" },
};

static const struct opt start_opts[] = {
	{ 'a', "attach", NULL,
	  "show the cell's output until it ends, and exit with its exit status" },
};

static const struct opt stop_opts[] = {
	{ 't', "time", "TIME",
	  "time to wait after SIGTERM before ending the cell (the cell's setting, or 10s)" },
};

static const struct opt sleep_opts[] = {
	{ 't', "time", "TIME",
	  "time to wait after SIGTERM before ending the cell (the cell's setting, or 10s)" },
	{ 0, "freeze", NULL, "keep the processes: they go on when the cell wakes" },
};

static const struct opt kill_opts[] = {
	{ 's', "signal", "SIGNAL", "signal name or number (KILL)" },
};

static const struct opt rm_opts[] = {
	{ 'f', "force", NULL, "also remove running cells, killing them first" },
};

static const struct opt update_opts[] = {
	{ 0, "cpus", "N", "number of processors (1, 0.5, 2)" },
	{ 'm', "memory", "SIZE", "memory limit (64M, 1G)" },
	{ 0, "pids-limit", "N", "maximum number of processes and threads" },
	{ 0, "pids", "N", "same as --pids-limit" },
	{ 0, "disk-size", "SIZE", "disk space limit (100M, 10G)" },
	{ 0, "disk-inodes", "N", "maximum number of files" },
	{ 0, "max-connections", "N", "connections to and from the outside at the same time" },
	{ 0, "max-net-in", "SIZE", "bytes that it may receive from the outside (10G)" },
	{ 0, "max-net-out", "SIZE", "bytes that it may send to the outside (500M)" },
	{ 0, "max-net-rate", "SIZE", "bytes each second, each way (10M)" },
	{ 0, "timeout", "TIME", "end the cell this long after its start" },
	{ 0, "restart", "POLICY", "restart policy: no, on-failure[:MAX] or always" },
	{ 0, "stop-timeout", "TIME", "how long 'viv stop' waits after SIGTERM" },
	{ 0, "idle-timeout", "TIME", "stop the cell when no process has run in it for this long" },
	{ 0, "sleep-after", "TIME",
	  "let the cell sleep when nobody has used it for this long (0: never)" },
	{ 'l', "label", "K=V", "set a label" },
	{ 0, "label-rm", "K", "remove a label" },
};

static const struct opt ps_opts[] = {
	{ 'a', "all", NULL, "include cells that are not running" },
	{ 'f', "filter", "NAME=VALUE",
	  "show only matching cells: state=STATE (or status=), name=NAME, label=NAME[=VALUE]" },
	{ 0, "format", "TEMPLATE",
	  "print fields such as {{.ID}}\\t{{.Names}} (after 'table ': aligned, with headings), "
	  "or 'json'" },
	{ 'q', "quiet", NULL, "print only names (ids of unnamed cells)" },
};

static const struct opt logs_opts[] = {
	{ 'f', "follow", NULL, "keep printing new output until the process ends" },
	{ 'n', "tail", "N", "print only the last N lines ('all': everything)" },
	{ 't', "timestamps", NULL, "prefix each line with its time" },
	{ 0, "since", "TIME",
	  "print only output since a time (2026-01-31T12:00:00Z) or duration (10m)" },
};

static const struct opt cp_opts[] = {
	{ 'a', "archive", NULL,
	  "keep user and group ids (default: root in the cell, you on the host)" },
	{ 'L', "follow-link", NULL, "copy the target of a symbolic link instead of the link" },
	{ 'q', "quiet", NULL, "accepted for compatibility; nothing is printed anyway" },
	{ 'r', "recursive", NULL,
	  "accepted for compatibility; directories are always copied with their contents" },
};

static const struct opt events_opts[] = {
	{ 0, "since", "SEQ", "start after event number SEQ (0: the oldest event kept)" },
	{ 0, "no-follow", NULL, "exit after the newest event" },
};

static const struct opt stats_opts[] = {
	{ 0, "no-stream", NULL, "accepted for compatibility; statistics are always printed once" },
};

static const struct opt top_opts[] = {
	{ 'd', "delay", "TIME", "time between updates (2s)" },
	{ 'n', "iterations", "N", "exit after N updates" },
	{ 's', "sort", "COLUMN", "sort by cpu, memory, disk, tasks, calls or name" },
};

static const struct opt prune_opts[] = {
	{ 'f', "force", NULL, "do not ask for confirmation" },
};

static const struct opt preview_opts[] = {
	{ 0, "expires", "TIME", "how long the address works (1h)" },
	{ 0, "path", NULL, "print the address in its path form, for programs without *.localhost" },
};

static const struct opt journal_opts[] = {
	{ 'f', "follow", NULL, "print new records as they come" },
	{ 0, "kind", "WORDS",
	  "only these kinds or groups of records: file,net,exec,rename (docs/journal-records.md)" },
	{ 0, "path", "GLOB", "only records about these paths: '/etc/*', '/work/**'" },
	{ 0, "process", "PID|PROGRAM", "only records of this process or program" },
	{ 0, "since", "TIME|SEQ",
	  "from this time (2026-01-31T12:00:00Z; 10m: ten minutes ago) or record on" },
	{ 0, "until", "TIME|SEQ", "up to this time or record" },
};

static const struct opt journal_verify_opts[] = {
	{ 0, "deep", NULL, "also unpack and decode every record" },
	{ 0, "key", "KEY", "the public key, or a file with it (default: this host's)" },
	{ 0, "head", "BLOCK:HASH",
	  "a head that was kept elsewhere, as 'viv journal head' prints it" },
};

static const struct opt journal_key_opts[] = {
	{ 0, "rotate", NULL,
	  "make a new key; journals that the old one signed stay good as they are" },
};

static const struct opt journal_check_opts[] = {
	{ 0, "key", "KEY", "the public key, or a file with it (default: this host's)" },
};

static const struct opt touched_opts[] = {
	{ 0, "all", NULL, "list everything, not only the first of each kind" },
	{ 0, "since", "TIME|SEQ", "what happened from this time or record on" },
	{ 0, "until", "TIME|SEQ", "up to this time or record" },
};

static const struct opt blame_opts[] = {
	{ 0, "all", NULL, "every process that wrote it, the last one first" },
};

static const struct opt timeline_opts[] = {
	{ 0, "html", "FILE", "write a page for a browser instead (-: to standard output)" },
	{ 0, "since", "TIME|SEQ", "what happened from this time or record on" },
	{ 0, "until", "TIME|SEQ", "up to this time or record" },
};

static const struct opt journal_diff_opts[] = {
	{ 0, "all", NULL, "list everything, not only the first of each kind" },
};

static const struct opt journal_export_opts[] = {
	{ 0, "format", "FORMAT", "ndjson (default), ocsf or otlp" },
	{ 0, "to", "URL", "send it to a server instead of standard output" },
	{ 0, "since", "TIME|SEQ", "from this time or record on" },
	{ 0, "until", "TIME|SEQ", "up to this time or record" },
};

static const struct opt journal_prune_opts[] = {
	{ 0, "older", "TIME", "of cells that ended longer ago: 30d" },
	{ 0, "larger-than", "SIZE", "that are larger: 1G" },
	{ 0, "keep", "SIZE", "the oldest, until all journals together are no larger than this" },
	{ 'f', "force", NULL, "do not ask for confirmation" },
};

static const struct opt quiet_opts[] = {
	{ 'q', "quiet", NULL, "only the names" },
};

static const struct opt snapshot_opts[] = {
	{ 0, "ls", NULL, "list the cell's snapshots" },
	{ 0, "rm", NULL, "delete snapshot NAME" },
};

static const struct opt diff_opts[] = {
	{ 0, "patch", NULL, "print a patch in git format" },
};

static const struct opt commit_opts[] = {
	{ 't', "tag", "NAME", "name of the image (required)" },
	{ 'q', "quiet", NULL, "print only the hash" },
};

static const struct opt import_opts[] = {
	{ 't', "tag", "NAME", "tag the image" },
	{ 'q', "quiet", NULL, "print only the hash, no warnings" },
	{ 0, "format", "WHAT", "dir, tar, oci, docker or nix (detected)" },
	{ 0, "ref", "NAME", "select one of several container images" },
	{ 0, "command", "PATH", "command of an image that has none" },
	{ 0, "owner", "UID[:GID]", "owner of all files" },
	{ 0, "max-size", "SIZE", "maximum size of the content (64G)" },
	{ 0, "max-entries", "N", "maximum number of files (4000000)" },
};

static const struct opt bootstrap_opts[] = {
	{ 0, "include", "P,Q", "additional packages" },
	{ 0, "variant", "NAME", "mmdebstrap variant: essential, apt, minbase, standard (minbase)" },
	{ 0, "mirror", "URL", "Debian mirror (that of this host's apt)" },
	{ 't', "tag", "NAME", "tag the image" },
	{ 'q', "quiet", NULL, "print only the hash" },
};

static const struct opt image_ls_opts[] = {
	{ 'q', "quiet", NULL, "print only hashes" },
};

static const struct opt export_opts[] = {
	{ 'o', "output", "FILE",
	  "write to FILE instead of standard output; .gz, .xz and .zst are compressed" },
	{ 0, "format", "FORMAT",
	  "tar (the default), oci for an OCI layout in the new directory FILE, or oci-archive for "
	  "an archive of one, which docker loads as well" },
};

static const struct opt image_rm_opts[] = {
	{ 'f', "force", NULL, "with a hash: also remove all tags of the image" },
};

static const struct opt gc_opts[] = {
	{ 0, "untagged", NULL, "first remove untagged images that nothing uses" },
	{ 'q', "quiet", NULL, "print nothing" },
};

static const struct opt verify_opts[] = {
	{ 'q', "quiet", NULL, "print only damage" },
	{ 0, "repair", NULL, "fix the permissions of objects that cells cannot read" },
};

#define PROJECT_OPTS                                                                   \
	{ 'f', "file", "FILE", "project file ('-': standard input) (vivarium.yaml)" }, \
		{ 'p', "project", "NAME",                                              \
		  "project name (from the file, or the name of its directory)" },      \
	{                                                                              \
		0, "dry-run", NULL, "print the plan without changing anything"         \
	}
#define CHANGE_OPTS                                                                             \
	{ 0, "remove-orphans", NULL,                                                            \
	  "remove cells of the project that are no longer in the file" },                       \
	{                                                                                       \
		0, "recreate", NULL, "recreate cells whose image changed; their files are lost" \
	}

static const struct opt wait_opts[] = {
	{ 0, "result", NULL, "print the result that the cell left instead" },
};

static const struct opt up_opts[] = {
	{ 0, "wait", NULL,
	  "wait until cells with a health check are healthy and agents have answered their "
	  "prompts" },
	{ 0, "wait-timeout", "TIME", "the same, no longer than this (30s, 10m)" },
	PROJECT_OPTS,
	CHANGE_OPTS,
};

static const struct opt init_opts[] = {
	{ 'f', "file", "FILE", "write this file (vivarium.yaml)" },
	{ 0, "agent", "NAME", "start with a cell for this agent" },
	{ 0, "force", NULL, "replace the file if it exists" },
};

static const struct opt apply_opts[] = {
	{ 0, "restart", NULL, "restart cells whose changes require it" },
	PROJECT_OPTS,
	CHANGE_OPTS,
};

static const struct opt down_opts[] = {
	{ 'v', "volumes", NULL, "also remove volumes that the project created" },
	PROJECT_OPTS,
};

static const struct opt secret_opts[] = {
	{ 0, "host", "HOST[:PORT]",
	  "send it to this host only (*.NAME: to all below it); can be repeated" },
	{ 0, "header", "NAME", "in this header" },
	{ 0, "bearer", NULL, "as 'Authorization: Bearer' (the default)" },
	{ 0, "basic", "USER",
	  "as the password of this user (*: of any) in 'Authorization: Basic'" },
	{ 0, "query", "NAME", "as this parameter of the URL" },
	{ 0, "anywhere", NULL, "wherever its placeholder stands in headers or the URL" },
	{ 0, "body", NULL, "wherever its placeholder stands in the body of a request" },
	{ 0, "env", "VAR", "variable of the cell that holds the placeholder (its name)" },
	{ 0, "prefix", "TEXT", "begin the placeholder with this, for programs that check it" },
	{ 0, "from-env", "VAR", "take the value from this variable of viv's" },
	{ 0, "from-file", "FILE", "read the value from a file each time that a cell starts" },
	{ 0, "from-command", "COMMAND",
	  "run a command for the value each time that a cell starts" },
};

static const struct opt workflow_run_opts[] = {
	{ 'i', "input", "NAME=VALUE",
	  "an input of the workflow; can be given several times. Values of other types than "
	  "string are JSON" },
	{ 0, "wait", NULL,
	  "wait for the end and print the output; exit status 0: done, 1: failed or cancelled" },
	{ 'q', "quiet", NULL, "with --wait: do not print the run's id" },
};

static const struct opt workflow_cancel_opts[] = {
	{ 0, "no-rollback", NULL, "leave steps that are done as they are: the run can be resumed" },
};

static const struct opt workflow_ls_opts[] = {
	{ 0, "state", "STATE", "only running, rollback, done, failed or cancelled runs" },
	{ 0, "name", "NAME", "only runs of this workflow" },
	{ 0, "defined", NULL, "list the workflows that projects declare instead" },
	{ 'n', "limit", "N", "at most N runs, the newest (100)" },
	{ 'q', "quiet", NULL, "print ids only" },
};

static const struct opt workflow_show_opts[] = {
	{ 0, "html", "FILE", "write a page with a graph for a browser (-: to standard output)" },
};

static const struct opt tool_opts[] = {
	{ 0, "command", "PROGRAM", "program to run, with ARG... behind it; never a shell" },
	{ 0, "schema", "FILE",
	  "with --command: JSON schema of its arguments ('-': standard input)" },
	{ 0, "from-mcp", "COMMAND", "an MCP server that speaks on its standard streams" },
	{ 0, "description", "TEXT", "what cells are told of it" },
	{ 0, "timeout", "TIME", "end a call after this time (60s)" },
	{ 0, "max-output", "SIZE", "end a call that prints more (1M)" },
};

static const struct opt policy_check_opts[] = {
	{ 0, "policy", "FILE",
	  "ask the rules of this file ('-': standard input) instead of a cell's" },
	{ 0, "connect", "URL", "a connection: https://HOST/PATH, HOST:PORT or udp://HOST:PORT" },
	{ 0, "method", "METHOD", "with a URL: method of the request (GET)" },
	{ 0, "program", "PATH", "with --connect: program that connects" },
	{ 0, "file", "PATH", "access to a file" },
	{ 0, "access", "LIST", "with --file: of read, write, create and delete (read)" },
	{ 0, "exec", "PATH", "starting a program" },
	{ 0, "env", "NAME", "seeing a variable" },
	{ 0, "tool", "NAME[/SUBCOMMAND]", "calling a tool" },
	{ 0, "cell", "IMAGE", "starting a sub-cell of this image" },
};

static const struct opt policy_learn_opts[] = {
	{ 0, "forget", NULL, "begin a new record instead of printing rules" },
};

static const struct opt policy_denials_opts[] = {
	{ 'f', "follow", NULL, "go on with new ones" },
};

static const struct opt token_opts[] = {
	{ 0, "scope", "SCOPE", "what the token allows: admin, cell or read" },
	{ 0, "cell", "CELL", "restrict the token to this cell" },
	{ 0, "name", "NAME", "a name to recognize the token by" },
	{ 0, "expires", "TIME", "how long the token is valid (10m, 24h)" },
};

static const struct opt agent_add_opts[] = {
	{ 0, "version", "VERSION", "version of the agent's own package (that of the definition)" },
	{ 0, "base", "IMAGE", "install into this image, which has node and npm (agent-base)" },
	{ 0, "include", "P,Q",
	  "Debian packages of this host that the image gets besides the usual" },
	{ 0, "command", "LINE", "define an agent: its terminal program" },
	{ 0, "acp", "LINE", "define an agent: the program that speaks ACP" },
	{ 0, "print", "LINE", "define an agent: the program for one prompt, which is added" },
	{ 0, "package", "NAME[@VERSION]", "define an agent: an npm package; can be repeated" },
	{ 0, "network", "PRESET", "define an agent: what it may reach; can be repeated" },
	{ 0, "secret", "NAME", "define an agent: a secret that it uses; can be repeated" },
	{ 'q', "quiet", NULL, "print only the image" },
};

static const struct opt agent_update_opts[] = {
	{ 0, "base", "IMAGE", "install into this image, which has node and npm (agent-base)" },
	{ 'q', "quiet", NULL, "print only the images" },
};

static const struct opt agent_shell_opts[] = {
	{ 0, "mount", "SRC[:DST][:ro]",
	  "show a host directory at DST (the agent's working directory); can be repeated" },
	{ 0, "on-copy", NULL,
	  "copy the directory of --mount (.) instead of mounting it; the cell stays; see viv "
	  "merge" },
	{ 0, "name", "CELL", "use the named cell, which stays; create it if it does not exist" },
	{ 0, "no-secrets", NULL, "do not give it the secrets of its definition" },
	{ 0, "no-system-prompt", NULL, "do not tell the agent about its cell" },
	{ 0, "append-prompt", "TEXT", "tell the agent this as well" },
};

static const struct opt session_new_opts[] = {
	{ 0, "agent", "AGENT", "start this agent" },
	{ 0, "prompt", "TEXT", "send a first prompt" },
	{ 0, "mode", "MODE", "a mode that the agent offers" },
	{ 0, "model", "MODEL", "a model that the agent offers" },
	{ 'w', "workdir", "DIR", "working directory (the agent's, or the cell's)" },
	{ 'e', "env", "K=V", "set a variable; K alone passes viv's own value" },
	{ 'u', "user", "USER", "run as this user of the cell" },
	{ 0, "no-system-prompt", NULL, "tell the agent nothing about its computer" },
	{ 0, "append-prompt", "TEXT", "add this to what the agent is told about its computer" },
};

static const struct opt agent_run_opts[] = {
	{ 0, "mount", "SRC[:DST][:ro]",
	  "show a host directory at DST (the agent's working directory); can be repeated" },
	{ 0, "on-copy", NULL,
	  "copy the directory of --mount (.) instead of mounting it; see viv merge" },
	{ 0, "copy", "DIR[:DST]",
	  "copy this host directory to DST (the agent's working directory)" },
	{ 0, "no-secrets", NULL, "do not give it the secrets of its definition" },
	{ 0, "cell", "CELL", "use this cell; create it if it does not exist (a new one)" },
	{ 'd', "detach", NULL, "print the session's id and do not wait" },
	{ 0, "rm", NULL, "remove the cell at the end, if it was created for this" },
	{ 0, "mode", "MODE", "a mode that the agent offers" },
	{ 0, "model", "MODEL", "a model that the agent offers" },
	{ 0, "no-system-prompt", NULL, "tell the agent nothing about its computer" },
	{ 0, "append-prompt", "TEXT", "add this to what the agent is told about its computer" },
};

static const struct opt acp_opts[] = {
	{ 0, "agent", "AGENT", "the agent that the editor talks to" },
	{ 0, "cell", "CELL", "let it live in this cell (one for each project)" },
	{ 0, "mount", "DIR[:ro]", "show this directory of the host to it, under the same path" },
	{ 0, "on-copy", NULL,
	  "copy the directory of --mount (.) instead of mounting it; see viv merge" },
	{ 0, "no-secrets", NULL, "do not give it the secrets of its definition" },
};

static const struct opt session_prompt_opts[] = {
	{ 0, "no-wait", NULL, "send the prompt and print its number" },
};

static const struct opt session_events_opts[] = {
	{ 0, "since", "SEQ", "only events after this number" },
	{ 'f', "follow", NULL, "wait for further events" },
};

static const struct opt session_ls_opts[] = {
	{ 'a', "all", NULL, "also show closed sessions" },
	{ 0, "cell", "CELL", "only sessions of this cell" },
	{ 'q', "quiet", NULL, "print ids only" },
};

static const struct opt transcript_opts[] = {
	{ 0, "markdown", NULL, "print Markdown" },
	{ 0, "html", NULL, "print one page of HTML, with everything in it" },
	{ 'o', "output", "FILE", "write to this file" },
	{ 0, "from", "FILE", "read events from a file of --json; -: standard input" },
};

static const struct opt transcript_search_opts[] = {
	{ 0, "cell", "CELL", "only sessions of this cell" },
	{ 0, "limit", "N", "at most N results" },
	{ 'q', "quiet", NULL, "print ids of sessions only" },
};

static const struct opt approvals_opts[] = {
	{ 'a', "all", NULL, "also show approvals that were answered or withdrawn" },
	{ 0, "cell", "CELL", "only those of this cell" },
	{ 'q', "quiet", NULL, "print only numbers" },
};

static const struct opt answer_opts[] = {
	{ 0, "once", NULL, "answer this question only (the default)" },
	{ 0, "always", NULL,
	  "also add a rule to the cell's policy that answers the same in future" },
};

static const struct opt daemon_opts[] = {
	{ 0, "approval-hook", "PROGRAM", "ask this program about each new approval" },
	{ 0, "listen", "ADDR", "also listen on TCP at ADDRESS:PORT; clients need a token" },
	{ 0, "tls-cert", "FILE", "TLS certificate; required for addresses other than loopback" },
	{ 0, "tls-key", "FILE", "private key of the certificate" },
	{ 0, "cors-origin", "ORIGIN",
	  "let web pages of this origin, such as https://app.example.org, use the API over TCP" },
	{ 0, "preview-port", "N",
	  "serve previews at this port of 127.0.0.1 (a free one, the same each time)" },
	{ 0, "journal-days", "N",
	  "remove journals of cells that do not run when they were written N days ago (30; 0: never)" },
	{ 0, "journal-space", "SIZE",
	  "remove the oldest of them when they take more than SIZE together (4G; 0: never)" },
};

static const struct opt merge_opts[] = {
	{ 'y', "yes", NULL, "write without asking" },
	{ 'n', "dry-run", NULL, "only show the changes" },
	{ 0, "no-patch", NULL, "list the files without their differences" },
	{ 0, "beside", NULL, "write the cell's version of a conflict as NAME.theirs" },
	{ 0, "skip-conflicts", NULL, "leave conflicts out" },
	{ 0, "with-git", NULL,
	  "also write to .git, which lets the cell run programs here, for example as hooks" },
	{ 0, "max-size", "SIZE", "most bytes of changed files (4G)" },
	{ 0, "discard", NULL, "forget the copy: nothing of it comes back" },
};

static const struct opt cron_add_opts[] = {
	{ 0, "at", "TIME", "once, at this time (2026-12-01T09:00, 2026-12-01T09:00:00Z)" },
	{ 0, "in", "TIME", "once, after this time (10m, 2h)" },
	{ 0, "tz", "ZONE", "time zone of the schedule: Europe/Oslo, UTC (the host's)" },
	{ 0, "cell", "CELL", "run the command after '--' in this cell; start it if it is stopped" },
	{ 0, "session", "SESSION", "send --prompt to this session" },
	{ 0, "prompt", "TEXT", "the prompt" },
	{ 0, "run", NULL, "run a new cell each time: after '--' options and command of 'viv run'" },
	{ 0, "workflow", "FILE|NAME",
	  "run this workflow, as the file is now, or the one that a project declares" },
	{ 'i', "input", "NAME=VALUE", "with --workflow: an input of it" },
	{ 0, "overlap", "skip|allow|queue",
	  "what to do when the last run is not over: skip this one, run it as well, or let it "
	  "wait (skip)" },
	{ 0, "queue", "N", "with --overlap queue: how many may wait (1)" },
	{ 0, "catch-up", "none|one|all",
	  "runs for times that were missed while vivd did not run: none, one, or one for each, "
	  "up to 100 (none; one for --at and --in)" },
	{ 0, "jitter", "TIME", "start up to this much later, by chance" },
	{ 0, "timeout", "TIME", "end a run after this time" },
	{ 0, "history", "N", "runs that are kept with their output (20)" },
	{ 'e', "env", "K=V", "with --cell: set a variable; K alone passes viv's own value" },
	{ 'w', "workdir", "DIR", "with --cell: working directory (the cell's)" },
	{ 'u', "user", "USER", "with --cell: run as this user of the cell" },
};

static const struct opt cron_ls_opts[] = {
	{ 0, "cell", "CELL", "only those of this cell" },
	{ 'q', "quiet", NULL, "print only names" },
};

static const struct opt cron_rm_opts[] = {
	{ 'f', "force", NULL, "also if it runs: the run is ended" },
};

static const struct opt cron_logs_opts[] = {
	{ 0, "run", "N", "show the output of this run (the newest)" },
	{ 0, "all", NULL, "list the runs that are kept instead" },
};

static const struct opt mcp_opts[] = {
	{ 0, "cell", "CELL", "use this cell only" },
	{ 0, "read-only", NULL, "offer only tools that change nothing" },
	{ 0, "http", "ADDR:PORT",
	  "serve HTTP at this loopback address (port 0: any), and print URL and token" },
	{ 0, "token-file", "FILE", "with --http: take the token from this file" },
	{ 0, "allow-origin", "ORIGIN", "with --http: let web pages of this origin use the server" },
};

static const struct opt help_opts[] = {
	{ 0, "man", NULL, NULL },
	{ 0, "options", NULL, NULL },
	{ 0, "settings", NULL, NULL },
};

const struct verb verbs[] = {
	{ "run", "run a command in a new cell", run_main, .args = "[--] COMMAND [ARGUMENT...]",
	  .opts = run_opts, .nopts = RUN_NOPTS, .min = 0, .max = ANY,
	  .flags = VERB_GUEST | VERB_COMMAND | VERB_OWN,
	  .about = "Creates a cell, runs COMMAND in it and exits with its exit status. COMMAND "
		   "uses viv's standard streams and a clean\n"
		   "environment. Its files are removed with the cell unless --name is given." },
	{ "create", "create a cell without starting it", create_main,
	  .args = "[--] [COMMAND [ARGUMENT...]]", .opts = run_opts, .nopts = RUN_NOPTS, .max = ANY,
	  .flags = VERB_COMMAND | VERB_OWN,
	  .about = "Creates a cell and prints its name or id; 'viv start' starts it. Without "
		   "COMMAND (and without an image that has one)\n"
		   "the cell runs until it is stopped, and 'viv exec' runs commands in it." },
	{ "start", "start cells", start_main, .args = "CELL...", .min = 1, .max = ANY,
	  OPTS(start_opts) },
	{ "stop", "stop cells", stop_main, .args = "CELL...", .min = 1, .max = ANY, OPTS(stop_opts),
	  .about = "Sends SIGTERM to the first process of each cell and ends the cell if it is "
		   "still running when the time is up. The\n"
		   "restart policy does not start a stopped cell again." },
	{ "restart", "stop cells and start them again", restart_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(stop_opts) },
	{ "sleep", "let cells sleep until somebody uses them", sleep_main, .args = "CELL...",
	  .min = 1, .max = ANY, OPTS(sleep_opts),
	  .about = "Ends the processes of each cell as 'viv stop' does and frees their memory. "
		   "Files, "
		   "sessions, previews, schedules and\n"
		   "published ports stay. With --freeze the processes are written to the disk, and "
		   "go on where they were when the\n"
		   "cell wakes; what cannot be frozen yet is refused and the cell runs on.\n"
		   "The cell starts again when somebody uses it: a command, a file, a prompt, a "
		   "request to a\n"
		   "preview or a connection to a published port (docs/sleep.md)." },
	{ "wake", "start cells that sleep", wake_main, .args = "CELL...", .min = 1, .max = ANY },
	{ "pause", "suspend all processes in cells", pause_main, .args = "CELL...", .min = 1,
	  .max = ANY,
	  .about = "Suspends all processes in the cell until 'viv resume'. Clocks keep running." },
	{ "resume", "resume paused cells", resume_main, .args = "CELL...", .min = 1, .max = ANY },
	{ "kill", "send a signal to cells, or end them at once", kill_main,
	  .args = "CELL[:PROCESS]...", .min = 1, .max = ANY, OPTS(kill_opts),
	  .about = "Sends a signal to the first process of each cell, or to PROCESS. KILL without "
		   "a process ends the whole cell at once." },
	{ "wait", "wait until cells end and print their exit status", wait_main,
	  .args = "CELL[:PROCESS]...", .min = 1, .max = ANY, OPTS(wait_opts),
	  .about = "Waits until each cell or process ends and prints its exit status. A program in "
		   "the cell leaves a result by writing to /dev/result." },
	{ "rm", "remove cells and their files", rm_main, .args = "CELL...", .min = 1, .max = ANY,
	  OPTS(rm_opts),
	  .about = "Removes cells with their files and snapshots. Forks keep the data they share "
		   "with a removed cell." },
	{ "rename", "rename a cell", rename_main, .args = "CELL NAME", .min = 2, .max = 2,
	  .about = "Renames a named cell that is not running." },
	{ "update", "change limits and settings of cells", update_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(update_opts),
	  .about = "Changes cells while they run, or for their next start. A value of 0 removes a "
		   "limit or a time. A memory limit below the\n"
		   "current usage is refused. Lower limits for processes or disk remove nothing, "
		   "but no more is allocated." },
	{ "ps", "list running cells", ps_main, .max = 0, OPTS(ps_opts) },
	{ "ls", "list all cells", ls_main, .max = 0, OPTS(ps_opts),
	  .about = "The same as 'viv ps --all'." },
	{ "tree", "show cells and the cells that they have made", tree_main, .args = "[CELL]",
	  .max = 1,
	  .about = "Shows each cell with its state, the memory and processes that it uses, what it "
		   "may use, and below it the cells that it has made (docs/subcells.md)." },
	{ "inspect", "show the details of cells", inspect_main, .args = "CELL...", .min = 1,
	  .max = ANY,
	  .about = "Prints the details of each cell as JSON; with --json on one line." },
	{ "port", "show which ports of the host lead into a cell", port_main,
	  .args = "CELL [PORT[/udp]]", .min = 1, .max = 2,
	  .about = "Lists the ports that the cell publishes (-p); with PORT, prints where the host "
		   "listens for this one." },
	{ "exec", "run a command in a running cell", exec_main,
	  .args = "CELL [--] COMMAND [ARGUMENT...]", .min = 2, .max = ANY, OPTS(exec_opts),
	  .flags = VERB_GUEST | VERB_COMMAND,
	  .about =
		  "Runs COMMAND in a running cell and exits with its exit status. COMMAND uses "
		  "viv's standard output and error; its input\n"
		  "is empty without -i. If viv ends, COMMAND gets SIGHUP, unless it is detached." },
	{ "shell", "open a shell in a running cell", shell_main, .args = "CELL", .min = 1, .max = 1,
	  OPTS(shell_opts), .flags = VERB_GUEST,
	  .about = "Starts the login shell of the cell's user (from the cell's /etc/passwd, "
		   "otherwise /bin/sh), with a terminal if viv has one." },
	{ "attach", "attach to a running cell", attach_main, .args = "CELL[:PROCESS]", .min = 1,
	  .max = 1, OPTS(attach_opts), .flags = VERB_GUEST,
	  .about = "Shows the output of a detached cell's command, or of one of its detached "
		   "processes, and exits with its exit status.\n"
		   "Standard input is connected if the cell was started with -i; its end is the "
		   "end of the command's input.\n"
		   "With -t, the detach keys leave the command running and end viv." },
	{ "logs", "show the output of a detached cell or process", logs_main,
	  .args = "CELL[:PROCESS]", .min = 1, .max = 1, OPTS(logs_opts),
	  .about = "Shows the output of a detached cell, or of one of its detached processes; "
		   "standard error is printed to standard error.\n"
		   "The last 8 to 16 MiB are kept." },
	{ "cp", "copy files between a cell and the host", cp_main,
	  .args = "CELL:PATH LOCAL|- | LOCAL|- CELL:PATH", .min = 2, .max = 2, OPTS(cp_opts),
	  .about = "Copies files and directories between a cell and the host. The cell may be "
		   "running or stopped; a stopped cell must have a\n"
		   "name. A directory is copied into an existing directory; with '/.' after it, "
		   "only its contents are. '-' is a tar archive on\n"
		   "standard input or output. Write a local name that contains ':' as ./NAME." },
	{ "stats", "show the resource usage of cells", stats_main, .args = "[CELL...]", .max = ANY,
	  OPTS(stats_opts), .about = "Shows the resource usage of running cells once." },
	{ "top", "show resource usage continuously", top_main, .max = 0, OPTS(top_opts),
	  .about = "Shows running cells, busiest first, until 'q' is pressed. The keys c, m, d, t, "
		   "s and n sort by processor, memory, disk,\n"
		   "tasks, system calls and name; r reverses the order. Without a terminal it "
		   "prints one table after another." },
	{ "events", "print events as they happen", events_main, .max = 0, OPTS(events_opts) },
	{ "prune", "remove unused cells, images and leftover files", prune_main, .max = 0,
	  OPTS(prune_opts),
	  .about = "Removes ended cells without a name, untagged images that nothing uses, and "
		   "files left behind by killed programs. Shows\n"
		   "what it will remove and asks first." },
	{ "image", "import, list, export and remove images", .args = "", .flags = VERB_GROUP,
	  .about = "Images are immutable file trees, identified by a hash of their content and by "
		   "tags. IMAGE is a tag, a hash, or at least\n"
		   "the first 6 digits of a hash." },
	{ "image import", "create an image from files", image_import_main, .args = "SRC|-",
	  .min = 1, .max = 1, OPTS(import_opts),
	  .about = "SRC is a directory; a tar archive, plain or compressed with gzip, bzip2, xz or "
		   "zstd; a container image (an OCI layout, an\n"
		   "archive of one, or the output of 'docker save'); or, with --format nix, a list "
		   "of Nix store paths. '-' is standard input.\n"
		   "The last line printed is the image's hash." },
	{ "image bootstrap", "create an image of a Debian release", image_bootstrap_main,
	  .args = "SUITE", .min = 1, .max = 1, OPTS(bootstrap_opts),
	  .about = "SUITE is a Debian release, for example bookworm. Uses mmdebstrap and the "
		   "mirror of this host's apt; the same packages\n"
		   "give the same image." },
	{ "image ls", "list images", image_main, .max = 0, OPTS(image_ls_opts) },
	{ "image inspect", "show the details of an image", image_main, .args = "IMAGE", .min = 1,
	  .max = 1 },
	{ "image export", "write an image as a tar archive or OCI layout", image_main,
	  .args = "IMAGE", .min = 1, .max = 1, OPTS(export_opts) },
	{ "image tag", "add a tag to an image", image_tag_main, .args = "IMAGE NAME", .min = 2,
	  .max = 2 },
	{ "image rm", "remove tags and images", image_rm_main, .args = "IMAGE...", .min = 1,
	  .max = ANY, OPTS(image_rm_opts),
	  .about = "Removes tags. An image is removed with its last tag, or when given by hash. "
		   "Images in use by cells or disks are kept." },
	{ "image gc", "remove content that no image uses", image_gc_main, .max = 0, OPTS(gc_opts) },
	{ "image verify", "check the content of images against its hashes", image_verify_main,
	  .args = "[IMAGE...]", .max = ANY, OPTS(verify_opts) },
	{ "snapshot", "save, list or delete snapshots of a cell's files", snapshot_main,
	  .args = "CELL [NAME]", .min = 1, .max = 2, OPTS(snapshot_opts),
	  .about = "Saves the cell's files as they are now, whether it is running or not, and "
		   "prints the snapshot's name. Nothing is copied:\n"
		   "later changes are written elsewhere." },
	{ "fork", "create a cell with the files of another cell", fork_main,
	  .args = "CELL[@SNAPSHOT] NEW", .min = 2, .max = 2,
	  .about = "Creates cell NEW with the files of CELL, current or from SNAPSHOT. From then "
		   "on the two cells are independent; nothing\n"
		   "is copied." },
	{ "diff", "show what a cell changed", diff_main,
	  .args = "CELL[@SNAPSHOT] [CELL[@SNAPSHOT]]", .min = 1, .max = 2, OPTS(diff_opts),
	  .about = "Lists what was added (A), changed (C) and deleted (D): in CELL since its "
		   "image, in CELL since SNAPSHOT, or between two\n"
		   "cells or snapshots. --patch prints text files as a patch for 'patch -p1' or "
		   "'git apply'." },
	{ "merge", "bring the changes of a copied directory back", merge_main, .args = "CELL",
	  .min = 1, .max = 1, OPTS(merge_opts),
	  .about = "Shows what the cell changed in the host directories that --copy put into it, "
		   "asks, and writes it to the host (docs/copies.md).\n"
		   "Nothing is written through links, to .git, or over files that the host changed "
		   "meanwhile." },
	{ "verify", "check a cell's disk for damage", verify_main, .args = "CELL[@SNAPSHOT]",
	  .min = 1, .max = 1,
	  .about = "Checks that the logs of a cell's disk can be read and that no content is "
		   "missing." },
	{ "commit", "create an image from a cell's files", commit_main, .args = "CELL[@SNAPSHOT]",
	  .min = 1, .max = 1, OPTS(commit_opts),
	  .about = "Creates an image from the files of a cell, current or from SNAPSHOT, and "
		   "prints its hash. For a cell on the host image\n"
		   "this includes everything it sees of the host." },
	{ "rollback", "restore a cell's files from a snapshot", rollback_main,
	  .args = "CELL SNAPSHOT", .min = 2, .max = 2, OPTS(stop_opts),
	  .about = "Restores the cell's files from the snapshot. Changes since the cell's last "
		   "snapshot are lost; all snapshots are kept.\n"
		   "A running cell is stopped first, and started again if vivd started it; the "
		   "cell of a 'viv run' in the foreground only ends." },
	{ "volume", "create, inspect, list and remove volumes", .args = "", .flags = VERB_GROUP,
	  .about = "A volume is a disk that cells mount: viv run --volume NAME:/data -- ... One "
		   "cell at a time can write to it, or many can\n"
		   "read it (NAME:/data:ro)." },
	{ "volume create", "create a volume", volume_create_main, .args = "NAME", .min = 1,
	  .max = 1 },
	{ "volume ls", "list volumes", volume_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "volume inspect", "show the details of volumes", volume_inspect_main, .args = "NAME...",
	  .min = 1, .max = ANY,
	  .about = "Prints name, size, disk and cells of each volume as JSON; with --json on one "
		   "line." },
	{ "volume prune", "remove unused volumes", volume_prune_main, .max = 0, OPTS(prune_opts),
	  .about = "Removes the volumes that no cell mounts, running or not, and that no project "
		   "created. Shows what it will remove and\n"
		   "asks first. A cell that only 'viv run' in the foreground gave a volume counts "
		   "while it runs." },
	{ "volume rm", "remove volumes and their files", volume_rm_main, .args = "NAME...",
	  .min = 1, .max = ANY },
	{ "up", "create and start the cells of a project", up_main, .args = "[CELL...]", .max = ANY,
	  OPTS(up_opts),
	  .about = "Creates and starts the cells of a project, changes those that differ from the "
		   "file (with a restart if necessary), and\n"
		   "leaves the rest alone. With CELL, only those cells and their dependencies." },
	{ "init", "write a commented vivarium.yaml to start from", init_main, .max = 0,
	  OPTS(init_opts),
	  .about = "Writes a vivarium.yaml with one cell and the keys that are used most, as "
		   "comments. 'viv up' creates and starts what it describes." },
	{ "apply", "update the running cells of a project", apply_main, .args = "[CELL...]",
	  .max = ANY, OPTS(apply_opts),
	  .about = "Like 'viv up', but running cells keep running: settings that can change at run "
		   "time are changed, and cells that need a\n"
		   "restart are reported." },
	{ "down", "stop and remove the cells of a project", down_main, .max = 0, OPTS(down_opts),
	  .about = "Stops and removes all cells of the project, dependent cells first. With "
		   "--project, no file is needed." },
	{ "secret", "manage keys that cells use and never see", .args = "", .flags = VERB_GROUP,
	  .about = "A cell that is given a secret (viv run --secret NAME) has a placeholder in a "
		   "variable. The value is put into requests to the\n"
		   "hosts and the places that the secret is bound to, outside the cell, and taken "
		   "out of what comes back." },
	{ "secret set", "set a secret, or change its value", secret_set_main, .args = "NAME",
	  .min = 1, .max = 1, OPTS(secret_opts),
	  .about = "The value is asked for, or read from standard input; it is never part of a "
		   "command line. Well-known names, such as\n"
		   "ANTHROPIC_API_KEY or GITHUB_TOKEN, need no host and no place. Running cells "
		   "have the new value at once." },
	{ "secret ls", "list secrets, without their values", secret_ls_main, .max = 0,
	  OPTS(quiet_opts) },
	{ "secret show", "show hosts and places of a secret", secret_show_main, .args = "NAME",
	  .min = 1, .max = 1 },
	{ "secret refresh", "read the values of running cells again", secret_refresh_main,
	  .args = "NAME...", .min = 1, .max = ANY },
	{ "secret rm", "remove secrets, from running cells as well", secret_rm_main,
	  .args = "NAME...", .min = 1, .max = ANY },
	{ "agent", "install coding agents and run them in cells", .args = "", .flags = VERB_GROUP,
	  .about = "Known agents are data: what to install, what to start, what it may reach and "
		   "which keys it uses (docs/agents.md). Definitions\n"
		   "of your own are in $XDG_CONFIG_HOME/vivarium/agents/NAME.yaml." },
	{ "agent ls", "list known agents", agent_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "agent show", "show the definition of an agent", agent_show_main, .args = "AGENT",
	  .min = 1, .max = 1 },
	{ "agent add", "install an agent into an image, or define one", agent_add_main,
	  .args = "AGENT", .min = 1, .max = 1, OPTS(agent_add_opts),
	  .about = "Installs the npm packages of the agent in a cell that reaches this host's npm "
		   "registry only, and makes the image agent-AGENT\n"
		   "of it. The base is an image of common programs of this host, which is made "
		   "once. Options that define an agent write a\n"
		   "definition of your own; one without packages needs no image." },
	{ "agent update", "install the newest versions of agents", agent_update_main,
	  .args = "[AGENT...]", .max = ANY, OPTS(agent_update_opts),
	  .about = "Without AGENT, all that have an image. The old image stays until the new one "
		   "is complete." },
	{ "agent rm", "remove images and own definitions of agents", agent_rm_main,
	  .args = "AGENT...", .min = 1, .max = ANY },
	{ "agent run", "let an agent do something in a cell", agent_run_main,
	  .args = "AGENT PROMPT...|-", .min = 2, .max = ANY, OPTS(agent_run_opts),
	  .about = "Creates a cell with the agent's image, network rules and secrets, and shows "
		   "what the agent says and does, as 'viv session\n"
		   "prompt' does. At the end it prints what changed and how to look at it, keep "
		   "it or throw it away. With --on-copy nothing on the\n"
		   "host changes before 'viv merge'. Exit status 0: the agent ended its turn; 1: "
		   "it was cancelled, refused or failed; 130: left alone." },
	{ "agent shell", "run an agent's own terminal program in a cell", agent_shell_main,
	  .args = "AGENT [-- ARG...]", .min = 1, .max = ANY, OPTS(agent_shell_opts),
	  .flags = VERB_GUEST,
	  .about = "The cell has the agent's image, rules and secrets, and goes when the program "
		   "ends, unless it has a name or works on a copy:\n"
		   "viv agent shell claude --mount . ARGs are the program's." },
	{ "agent prompt", "print what an agent is told about a cell", agent_prompt_main,
	  .args = "CELL", .min = 1, .max = 1 },
	{ "tool", "manage programs of this host that cells can call", .args = "",
	  .flags = VERB_GROUP,
	  .about =
		  "A cell that is given a tool (viv run --tool NAME) has a command NAME. It runs a "
		  "program on the host, as vivd's user, with\n"
		  "arguments that were checked against a JSON schema (docs/tools.md). Rules about "
		  "tools allow, deny or ask." },
	{ "tool add", "add a tool, or change it", tool_add_main, .args = "NAME [ARG...]", .min = 1,
	  .max = ANY, OPTS(tool_opts),
	  .about = "The program gets the arguments as JSON on its standard input; what it prints "
		   "and "
		   "its exit status are those of the command in\n"
		   "the cell. Each tool of an MCP server becomes a subcommand." },
	{ "tool ls", "list tools", tool_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "tool show", "show a tool with its schemas", tool_show_main, .args = "NAME", .min = 1,
	  .max = 1 },
	{ "tool rm", "remove tools, from running cells as well", tool_rm_main, .args = "NAME...",
	  .min = 1, .max = ANY },
	{ "workflow", "run steps that survive restarts", .args = "", .flags = VERB_GROUP,
	  .about = "A workflow is a YAML file of steps: commands in cells, prompts for agents, "
		   "approvals, loops (docs/workflows.md). vivd writes each\n"
		   "result down before the next step starts, so a run goes on after whatever was "
		   "killed. RUN is an id or the beginning of one." },
	{ "workflow run", "start a workflow", workflow_run_main, .args = "FILE|NAME", .min = 1,
	  .max = 1, OPTS(workflow_run_opts),
	  .about = "Runs a file, or a workflow that a project declares (PROJECT.NAME, or NAME if "
		   "no other project has it). Prints the id of the run." },
	{ "workflow check", "check a workflow file", workflow_check_main, .args = "FILE", .min = 1,
	  .max = 1, .about = "Errors give line and column. Nothing is started." },
	{ "workflow ls", "list runs", workflow_ls_main, .max = 0, OPTS(workflow_ls_opts) },
	{ "workflow show", "show a run and its steps", workflow_show_main, .args = "RUN", .min = 1,
	  .max = 1, OPTS(workflow_show_opts) },
	{ "workflow logs", "print the output of a run's steps", workflow_logs_main,
	  .args = "RUN [STEP]", .min = 1, .max = 2 },
	{ "workflow wait", "wait for the end of a run and print its output", workflow_wait_main,
	  .args = "RUN", .min = 1, .max = 1,
	  .about = "Exit status 0: done, 1: failed or cancelled." },
	{ "workflow cancel", "end runs", workflow_cancel_main, .args = "RUN...", .min = 1,
	  .max = ANY, OPTS(workflow_cancel_opts),
	  .about = "Commands of the run are ended. Steps that are done and have a 'rollback' are "
		   "rolled back; cancelled once more, that ends, too." },
	{ "workflow retry", "try the failed steps of runs again", workflow_retry_main,
	  .args = "RUN...", .min = 1, .max = ANY, .about = "Steps that are done stay done." },
	{ "workflow resume", "let cancelled runs go on", workflow_retry_main, .args = "RUN...",
	  .min = 1, .max = ANY, .about = "Steps that are done stay done." },
	{ "workflow rm", "remove runs that are over", workflow_rm_main, .args = "RUN...", .min = 1,
	  .max = ANY },
	{ "policy", "show, change and test what a cell may do", .args = "", .flags = VERB_GROUP,
	  .about = "A policy is a list of rules, the last one that matches decides "
		   "(docs/policy.md). Changes take effect at once, as a whole,\n"
		   "and are kept; connections that a new policy denies are ended. A cell that was "
		   "started without any rule about the network\n"
		   "has to be started again to get some." },
	{ "policy show", "show the rules of a cell or a preset", policy_show_main,
	  .args = "CELL|PRESET", .min = 1, .max = 1 },
	{ "policy presets", "list the presets", policy_presets_main, .max = 0 },
	{ "policy set", "replace the rules of a cell", policy_set_main, .args = "CELL FILE|-",
	  .min = 2, .max = 2 },
	{ "policy add", "add rules to those of a cell", policy_add_main, .args = "CELL RULE...",
	  .min = 2, .max = ANY,
	  .about = "Adds rules behind those of the cell: viv policy add agent allow net "
		   "api.github.com. Rules that can never decide any more\n"
		   "because of the new ones are removed." },
	{ "policy check", "say what would happen and which rule decides", policy_check_main,
	  .args = "[CELL]", .max = 1, OPTS(policy_check_opts),
	  .about = "Exit status 0: allowed; 1: denied; 10: somebody would be asked. Where a name "
		   "leads is not looked up." },
	{ "policy learn", "print the smallest policy that covers what a cell did",
	  policy_learn_main, .args = "CELL", .min = 1, .max = 1, OPTS(policy_learn_opts),
	  .about = "Prints rules for all that the cell has connected to since it was created, or "
		   "since --forget. To learn what a program\n"
		   "needs, run it with --network audit, which lets everything public through." },
	{ "policy denials", "show what a cell was denied", policy_denials_main, .args = "CELL",
	  .min = 1, .max = 1, OPTS(policy_denials_opts),
	  .about = "Shows the events cell.denied of the cell. When there are too many, some are "
		   "only counted." },
	{ "approvals", "list and answer questions of cells", approvals_ls_main, .args = "",
	  .max = 0, .flags = VERB_GROUP,
	  .about = "A rule that says 'ask' makes the call wait until somebody allows or denies it "
		   "(docs/policy.md)." },
	{ "approvals ls", "list open questions", approvals_ls_main, .max = 0,
	  OPTS(approvals_opts) },
	{ "approvals watch", "show questions and answers as they come", approvals_watch_main,
	  .max = 0 },
	{ "approvals show", "show approvals as JSON", approvals_show_main, .args = "ID...",
	  .min = 1, .max = ANY },
	{ "approvals allow", "let calls go on", approvals_allow_main, .args = "ID...", .min = 1,
	  .max = ANY, OPTS(answer_opts) },
	{ "approvals deny", "refuse calls", approvals_deny_main, .args = "ID...", .min = 1,
	  .max = ANY, OPTS(answer_opts) },
	{ "acp", "let an editor use an agent in a cell", acp_main, .args = "[-- COMMAND...]",
	  .max = ANY, OPTS(acp_opts),
	  .about = "Speaks the Agent Client Protocol on standard input and output: an editor that "
		   "can start agents starts this instead.\n"
		   "Permissions are asked in the editor. The agent sees the editor's project only "
		   "with --mount (docs/transcripts.md)." },
	{ "session", "prompt agents in cells", session_ls_main, .args = "", .max = 0,
	  .flags = VERB_GROUP,
	  .about = "A session is an agent that runs in a cell and is kept over many prompts "
		   "(docs/sessions.md). SESSION is its id, a beginning\n"
		   "of it, or the name of a cell with one open session." },
	{ "session new", "start an agent in a cell", session_new_main,
	  .args = "CELL [-- COMMAND...]", .min = 1, .max = ANY, OPTS(session_new_opts),
	  .about = "Starts the cell if it is stopped, and the agent in it, or a COMMAND that "
		   "speaks ACP, and prints the session's id." },
	{ "session prompt", "send a prompt and show what the agent does", session_prompt_main,
	  .args = "SESSION TEXT...|-", .min = 2, .max = ANY, OPTS(session_prompt_opts),
	  .about = "Shows what the agent says and does until its turn ends. On a terminal, "
		   "questions of the agent and of its cell can be\n"
		   "answered; Ctrl-C cancels the turn, twice leaves the session alone. Exit "
		   "status 0: the agent ended its turn; 1: it was\n"
		   "cancelled, refused or failed; 130: left alone. With '-', the text is standard "
		   "input." },
	{ "session cancel", "cancel the turn of sessions", session_cancel_main,
	  .args = "SESSION...", .min = 1, .max = ANY },
	{ "session ls", "list sessions", session_ls_main, .max = 0, OPTS(session_ls_opts) },
	{ "session show", "show the details of sessions", session_show_main, .args = "SESSION...",
	  .min = 1, .max = ANY },
	{ "session events", "show the events of a session", session_events_main, .args = "SESSION",
	  .min = 1, .max = 1, OPTS(session_events_opts),
	  .about = "With --json, one event on each line, as vivd keeps them." },
	{ "session mode", "change the mode of an agent", session_mode_main, .args = "SESSION MODE",
	  .min = 2, .max = 2 },
	{ "session model", "change the model of an agent", session_model_main,
	  .args = "SESSION MODEL", .min = 2, .max = 2 },
	{ "session config", "change an option of an agent", session_config_main,
	  .args = "SESSION OPTION VALUE", .min = 3, .max = 3 },
	{ "session close", "end agents; transcripts are kept", session_close_main,
	  .args = "SESSION...", .min = 1, .max = ANY },
	{ "session rm", "remove sessions and their transcripts", session_rm_main,
	  .args = "SESSION...", .min = 1, .max = ANY },
	{ "transcript", "show or export what happened in a session", transcript_main,
	  .args = "SESSION", .max = 1, OPTS(transcript_opts),
	  .about = "Prints what was said and done, for a terminal, as Markdown, as a page of HTML "
		   "or, with --json, as events. 'viv transcript\n"
		   "search WORDS' searches all transcripts (docs/transcripts.md)." },
	{ "transcript search", "search all transcripts", transcript_search_main, .args = "WORDS...",
	  .min = 1, .max = ANY, OPTS(transcript_search_opts) },
	{ "journal", "show what a cell did", journal_main, .args = "CELL", .min = 1, .max = 1,
	  OPTS(journal_opts),
	  .about =
		  "Prints the records of a cell's journal, also of a cell that is gone: programs, "
		  "files, connections, decisions\n"
		  "(docs/journal.md). 'viv journal ls' lists journals, 'viv journal verify' checks "
		  "that one was not changed." },
	{ "journal ls", "list journals, also of cells that are gone", journal_ls_main, .max = 0,
	  OPTS(quiet_opts) },
	{ "journal verify", "check that a journal was not changed (exit status 1 if it was)",
	  journal_verify_main, .args = "CELL", .min = 1, .max = 1, OPTS(journal_verify_opts) },
	{ "journal head", "print number and hash of the last sealed block", journal_head_main,
	  .args = "CELL", .min = 1, .max = 1,
	  .about =
		  "Keep it elsewhere: 'viv journal verify --head' then finds out if the end of the "
		  "journal was cut off." },
	{ "journal key", "print the public key that signs this host's journals", journal_key_main,
	  .max = 0, OPTS(journal_key_opts) },
	{ "journal prove", "print a proof that a record is in a journal", journal_prove_main,
	  .args = "CELL SEQ", .min = 2, .max = 2 },
	{ "journal check", "check such a proof, on any machine", journal_check_main,
	  .args = "FILE|-", .min = 1, .max = 1, OPTS(journal_check_opts) },
	{ "journal prune", "remove journals of cells that have ended", journal_prune_main, .max = 0,
	  OPTS(journal_prune_opts) },
	{ "journal diff", "show what happened between two snapshots", journal_diff_main,
	  .args = "CELL[@SNAPSHOT] [CELL[@SNAPSHOT]]", .min = 1, .max = 2, OPTS(journal_diff_opts),
	  .about = "Prints what 'viv touched' prints, for the records between the two. Without a "
		   "snapshot, the first is the\n"
		   "beginning of the journal and the second its end." },
	{ "journal export", "write a journal for other programs", journal_export_main,
	  .args = "CELL", .min = 1, .max = 1, OPTS(journal_export_opts),
	  .about =
		  "NDJSON is one record per line; OCSF are events of the Open Cybersecurity Schema "
		  "Framework; OTLP are traces and\n"
		  "logs for a collector of OpenTelemetry, whose headers are taken from "
		  "OTEL_EXPORTER_OTLP_HEADERS (docs/journal.md)." },
	{ "touched", "show the files, programs and hosts a cell touched", touched_main,
	  .args = "CELL", .min = 1, .max = 1, OPTS(touched_opts),
	  .about = "Prints which files were created, written, renamed, removed and read, which "
		   "programs ran, which hosts were\n"
		   "contacted, what was denied and approved, from the cell's journal "
		   "(docs/journal.md). A file that was made and is\n"
		   "gone again is temporary." },
	{ "blame", "show which process wrote a file", blame_main, .args = "CELL PATH", .min = 2,
	  .max = 2, OPTS(blame_opts),
	  .about = "Prints the process that wrote the file last, by whatever name it had then, its "
		   "program, its parents, and the\n"
		   "prompt or command that started them." },
	{ "timeline", "show a cell's run as a story", timeline_main, .args = "CELL", .min = 1,
	  .max = 1, OPTS(timeline_opts),
	  .about =
		  "Prints the cell's processes as a tree with times, what each changed and whom it "
		  "contacted, and denials, approvals\n"
		  "and limits where they happened. --html writes one page that needs nothing "
		  "else." },
	{ "preview", "open a port of a cell in a browser", preview_main, .args = "CELL PORT",
	  .min = 2, .max = 2, OPTS(preview_opts),
	  .about =
		  "Prints an address under which this host's browsers reach PORT of the cell until "
		  "the time is up, whether the cell\n"
		  "has a network or not. Whoever has the address can use it. 'viv preview ls' "
		  "lists "
		  "previews, 'viv preview rm' ends them." },
	{ "preview ls", "list previews", preview_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "preview rm", "end previews", preview_rm_main, .args = "ID...", .min = 1, .max = ANY },
	{ "cron", "run commands and prompts by the clock", .args = "", .flags = VERB_GROUP,
	  .about = "A schedule is kept by vivd, over restarts and changes of the clock "
		   "(docs/cron.md): viv cron add nightly '0 3 * * *' --cell web\n"
		   "-- ./backup.sh" },
	{ "cron add", "add a schedule", cron_add_main, .args = "NAME [SCHEDULE] [-- COMMAND...]",
	  .min = 1, .max = ANY, OPTS(cron_add_opts),
	  .about =
		  "SCHEDULE has five fields (minute, hour, day of month, month, day of week) or is "
		  "@hourly, @daily, @weekly, @monthly, @yearly\n"
		  "or @reboot. With --at or --in it is left out. What runs is a command in a cell "
		  "(--cell), a prompt of a session (--session,\n"
		  "--prompt) or a new cell, which goes when it ends (--run)." },
	{ "cron ls", "list schedules", cron_ls_main, .max = 0, OPTS(cron_ls_opts) },
	{ "cron show", "show a schedule and its last run", cron_show_main, .args = "NAME...",
	  .min = 1, .max = ANY },
	{ "cron rm", "remove schedules", cron_rm_main, .args = "NAME...", .min = 1, .max = ANY,
	  OPTS(cron_rm_opts) },
	{ "cron pause", "let no more times of schedules fire", cron_pause_main, .args = "NAME...",
	  .min = 1, .max = ANY },
	{ "cron resume", "let times of schedules fire again", cron_resume_main, .args = "NAME...",
	  .min = 1, .max = ANY,
	  .about = "Times that passed while the schedule was paused are not made up for." },
	{ "cron run", "run schedules now", cron_run_main, .args = "NAME...", .min = 1, .max = ANY },
	{ "cron logs", "show the output of a schedule's last run", cron_logs_main, .args = "NAME",
	  .min = 1, .max = 1, OPTS(cron_logs_opts),
	  .about = "The last 16 KiB of each run's output are kept. Of a run that is not over, what "
		   "it has written so far is shown." },
	{ "token", "create, list and revoke API tokens", .args = "", .flags = VERB_GROUP,
	  .about = "A token is shown once, when it is created; only its hash is stored. Scopes: "
		   "'admin' may do everything, 'cell' may use one\n"
		   "cell and see no other, 'read' may look but not change anything (with --cell: "
		   "only at that cell)." },
	{ "token create", "create a token", token_create_main, .max = 0, OPTS(token_opts) },
	{ "token ls", "list tokens", token_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "token rm", "revoke tokens", token_rm_main, .args = "ID...", .min = 1, .max = ANY },
	{ "daemon", "start, stop and query vivd", .args = "", .flags = VERB_GROUP,
	  .about = "vivd manages cells. Commands that need it start it. It runs until 'viv daemon "
		   "stop'; cells keep running without it." },
	{ "daemon start", "start vivd", daemon_start_main, .max = 0, OPTS(daemon_opts) },
	{ "daemon stop", "stop vivd; cells keep running", daemon_stop_main, .max = 0 },
	{ "daemon restart", "restart vivd with the same options", daemon_restart_main, .max = 0 },
	{ "daemon status", "show whether vivd is running (exit status 3 if not)",
	  daemon_status_main, .max = 0 },
	{ "mcp", "let an agent use cells: an MCP server", mcp_main,
	  .args = "[-- OPTIONS of viv create]", .max = ANY, OPTS(mcp_opts),
	  .about =
		  "Serves the Model Context Protocol on standard input and output, for agents that "
		  "start it themselves (docs/mcp.md). Cells that\n"
		  "a client creates have the options after '--': they have no network and nothing "
		  "of the host unless these grant it." },
	{ "system", "show disk usage", .args = "", .flags = VERB_GROUP },
	{ "system df", "show how much disk space is used", system_df_main, .max = 0,
	  .about = "Shows how many cells with files of their own, snapshots, images and volumes "
		   "there "
		   "are, how much space they take, and how\n"
		   "much of it is in use by no running cell: 0 for snapshots that another snapshot "
		   "or "
		   "cell is based on." },
	{ "doctor", "check whether this machine can run cells", doctor_main, .max = 0,
	  .about = "Checks the kernel, limits, control groups, the disk and vivd, and says what to "
		   "do. Exit status 1 means that a requirement\n"
		   "is missing." },
	{ "completion", "print a completion script for bash or zsh", completion_main,
	  .args = "bash|zsh", .min = 1, .max = 1,
	  .about =
		  "For bash: eval \"$(viv completion bash)\" in ~/.bashrc. For zsh: viv completion "
		  "zsh >~/.zfunc/_viv, with\n"
		  "~/.zfunc in fpath before compinit." },
	{ "help", "show help for a command", help_main, .args = "[COMMAND...]", .max = 2,
	  OPTS(help_opts) },
	{ "version", "show the version", version_main, .max = 0 },
};
const unsigned nverbs = ARRAY_LEN(verbs);
