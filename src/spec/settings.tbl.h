/* A cell's settings, one row for each: from here come the parsers of the command line, of JSON and
 * of vivarium.yaml, the help, the man page, the completion, the schemas of the API and of the YAML
 * file, the types of the TypeScript client, and the answers to "can it change while the cell runs?"
 * and "can a cell that has booted already become this?". To add a setting is to add a row.
 *
 *   SETTING(ID, TYPE, member, JSON, OPTION, LETTER, VALUE, MIN, MAX, FLAGS, HELP)
 *
 *   TYPE    TEXT, PATH (absolute, in the cell), FLAG, CHOICE (of the words in setting_choices()),
 *           COUNT, CPUS, SIZE (bytes), TIME (nanoseconds; in JSON seconds), WORDS (a list; as an
 *           option a line for /bin/sh, or with S_EACH one word each time), MAP (NAME=VALUE), MOUNTS,
 *           RESTART, OWN (code of its own in args.c)
 *   member  of struct run_options; none: OWN has none of its own
 *   JSON    the field, also the key in YAML; limits.memory is in an object of its own. NULL: on the
 *           command line only
 *   OPTION  without the dashes; NULL: not on the command line. VALUE is what its value is called
 *   MIN, MAX  in the unit of JSON; of WORDS the most words. MAX 0: none
 *   HELP    one line; NULL: not for people (words between viv and its keepers)
 *
 * The order is that of the help. Rows of one object in JSON stand together. Rows without an option
 * come last. */

#define YEARS (366.0 * 24 * 3600)

SETTING(IMAGE, TEXT, image, "image", "image", 0, "NAME", 0, 0, S_WARM | S_PLACE | S_YAML | S_VARS,
	"root file system: an image of the store, or 'host' (the default), which shows the host's /usr, /bin and /lib")
SETTING(NAME, TEXT, name, "name", "name", 0, "CELL", 0, 0, 0,
	"use the named cell, which keeps its files; create it if it does not exist")
SETTING(RM, FLAG, rm, "auto_remove", "rm", 0, NULL, 0, 0, S_WARM, "remove the cell and its files when it ends (always so without a name)")
SETTING(ENTRYPOINT, TEXT, entrypoint, "entrypoint", "entrypoint", 0, "FILE", 0, 0, S_WARM | S_YAML,
	"run this program instead of the image's entry point; empty: none")
SETTING(CPUS, CPUS, cpu_milli, "limits.cpus", "cpus", 0, "N", 0.01, 4096, S_LIVE | S_WARM | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"processors that the cell may use and sees, such as 2 or 0.5")
SETTING(MEMORY, SIZE, memory, "limits.memory", "memory", 'm', "SIZE", 4 << 20, 0, S_LIVE | S_WARM | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"memory that the cell may use and sees, such as 64M or 1G")
SETTING(PIDS, COUNT, pids, "limits.pids", "pids", 0, "N", 1, 4000000, S_LIVE | S_WARM | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"processes and threads that may exist at the same time")
SETTING(PIDS_LIMIT, OWN, none, NULL, "pids-limit", 0, "N", 0, 0, S_WARM, "the same as --pids")
SETTING(DISK, SIZE, disk_bytes, "limits.disk", "disk-size", 0, "SIZE", 1 << 20, 0, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"bytes that the cell may keep in its own files, such as 100M or 10G")
SETTING(INODES, COUNT, disk_inodes, "limits.inodes", "disk-inodes", 0, "N", 16, 9e15, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"files that the cell may create")
SETTING(MAX_CONNECTIONS, COUNT, max_connections, "max_connections", "max-connections", 0, "N", 1, 1000000, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"connections to and from the outside that the cell may have at the same time")
SETTING(MAX_NET_IN, SIZE, max_net_in, "max_net_in", "max-net-in", 0, "SIZE", 1, 0, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"bytes that the cell may receive from the outside while it runs, such as 10G")
SETTING(MAX_NET_OUT, SIZE, max_net_out, "max_net_out", "max-net-out", 0, "SIZE", 1, 0, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"bytes that the cell may send to the outside while it runs, such as 500M")
SETTING(MAX_NET_RATE, SIZE, max_net_rate, "max_net_rate", "max-net-rate", 0, "SIZE", 1024, 0, S_LIVE | S_PLACE | S_YAML | S_VARS | S_ZERO,
	"bytes that the cell may receive and may send each second, such as 10M")
SETTING(TIMEOUT, TIME, timeout_ns, "timeout", "timeout", 0, "TIME", 0, 10 * YEARS, S_LIVE | S_WARM | S_YAML | S_VARS | S_ZERO,
	"end the cell after this time, such as 500ms, 10s or 5m; the exit status is 124")
SETTING(ENV, MAP, env_given, "env", "env", 'e', "K=V", 0, 0, S_WARM | S_YAML | S_VARS | S_HOST,
	"set an environment variable; a name alone passes the host's value on")
SETTING(ENV_FILE, OWN, none, NULL, "env-file", 0, "FILE", 0, 0, S_WARM,
	"read variables from FILE, one K=V or K on each line; --env takes precedence")
SETTING(WORKDIR, PATH, workdir, "workdir", "workdir", 'w', "DIR", 0, 0, S_WARM | S_YAML | S_VARS,
	"directory that the command starts in (default: the image's, or /)")
SETTING(USER, TEXT, user_text, "user", "user", 'u', "USER", 0, 0, S_WARM | S_YAML | S_VARS | S_WORD,
	"user of the image (of 'host': root, agent or nobody), UID or UID:GID")
SETTING(GROUP_ADD, WORDS, group_add, "group_add", "group-add", 0, "GROUP", 0, 32, S_YAML | S_EACH,
	"a further group of the cell's processes: a name of its /etc/group, or a number")
SETTING(ULIMIT, MAP, ulimits, "ulimits", "ulimit", 0, "NAME=SOFT[:HARD]", 0, 0, S_YAML | S_VARS,
	"limit of each process, such as nofile=1024:4096 or core=0; -1 is unlimited")
SETTING(READ_ONLY, FLAG, read_only, "read_only", "read-only", 0, NULL, 0, 0, S_YAML,
	"the cell cannot write to its root file system, only to mounts, volumes, --tmpfs, /dev and /dev/shm")
SETTING(MOUNT, MOUNTS, mounts, "mounts", "mount", 0, "SRC:DST[:ro|rw]", 0, 0, S_PLACE | S_YAML,
	"show a host directory or file, or s3://BUCKET/PREFIX, at DST; also in docker's form: type=bind,source=SRC,target=DST")
SETTING(COPY, OWN, none, NULL, "copy", 0, "DIR:DST", 0, 0, S_PLACE,
	"copy a host directory to DST before the first start of a named cell; changes come back only by 'viv merge'")
SETTING(S3_ENDPOINT, TEXT, s3_endpoint, "s3_endpoint", "s3-endpoint", 0, "URL", 0, 0, S_PLACE,
	"server of s3:// mounts (default: AWS_ENDPOINT_URL, or Amazon's)")
SETTING(VOLUME, OWN, none, NULL, "volume", 'v', "NAME:DST[:ro|rw]", 0, 0, S_PLACE,
	"mount a volume at DST: files that outlive cells; a NAME with a '/' is a host directory or file")
SETTING(TMPFS, OWN, none, NULL, "tmpfs", 0, "DST[:size=N]", 0, 0, S_PLACE, "mount an empty file system in memory at DST")
SETTING(SHM_SIZE, OWN, none, NULL, "shm-size", 0, "SIZE", 0, 0, S_PLACE, "mount a file system in memory of this size at /dev/shm, such as 64M")
SETTING(HOSTNAME, TEXT, hostname, "hostname", "hostname", 'h', "NAME", 1, 64, S_PLACE | S_YAML | S_VARS, "host name of the cell (default: cell)")
SETTING(NETWORK, OWN, none, NULL, "network", 0, "PRESET", 0, 0, S_PLACE,
	"what the cell may reach: none (the default), open, or another preset ('viv policy presets' lists them)")
SETTING(ALLOW, OWN, none, NULL, "allow", 0, "HOST[:PORTS]", 0, 0, S_PLACE, "let the cell reach this host; more words of a rule may follow (docs/policy.md)")
SETTING(DENY, OWN, none, NULL, "deny", 0, "HOST[:PORTS]", 0, 0, S_PLACE, "keep the cell from this host, although a rule before allows it")
SETTING(ASK, OWN, none, NULL, "ask", 0, "HOST[:PORTS]", 0, 0, S_PLACE, "let the cell reach this host when somebody agrees ('viv approvals')")
SETTING(POLICY_FILE, OWN, none, NULL, "policy", 0, "FILE", 0, 0, S_PLACE, "read rules from a file (docs/policy.md)")
SETTING(PUBLISH, WORDS, ports, "ports", "publish", 'p', "[ADDR:]HOSTPORT:CELLPORT", 0, 128, S_WARM | S_YAML | S_EACH,
	"let programs on the host reach a port of the cell; ADDR is 127.0.0.1 unless given, HOSTPORT 0 any free port; /udp may follow")
SETTING(ADD_HOST, WORDS, add_host, "add_host", "add-host", 0, "NAME:ADDRESS", 0, 64, S_PLACE | S_YAML | S_EACH,
	"give a name an address, in /etc/hosts and in the cell's resolver; rules still decide what the cell may reach")
SETTING(DNS, WORDS, dns, "dns", "dns", 0, "ADDRESS", 0, 8, S_PLACE | S_YAML | S_EACH, "ask this DNS server for the cell instead of the host's")
SETTING(DNS_SEARCH, WORDS, dns_search, "dns_search", "dns-search", 0, "DOMAIN", 0, 6, S_PLACE | S_YAML | S_EACH,
	"domain that the cell adds to short names; the host's own are not passed on")
SETTING(SECRET, WORDS, secrets, "secrets", "secret", 0, "NAME", 0, 64, S_YAML | S_EACH,
	"give the cell the use of a secret ('viv secret set'); programs see a placeholder in its variable, and its hosts get the value")
SETTING(TOOL, WORDS, tools, "tools", "tool", 0, "NAME", 0, 64, S_YAML | S_EACH,
	"give the cell a tool of the host ('viv tool add'), which is a command there")
SETTING(PULL, OWN, none, NULL, "pull", 0, "WHEN", 0, 0, S_WARM, "accepted for docker's sake: missing or never; images come from 'viv image'")
SETTING(INIT, OWN, none, NULL, "init", 0, NULL, 0, 0, S_WARM, "accepted for docker's sake: a cell always has an init that reaps processes")
SETTING(WASM, PATH, wasm, "binfmt_wasm", "binfmt-wasm", 0, "COMMAND", 1, 400, 0,
	"program in the cell that runs WebAssembly modules (default: node's WASI)")
SETTING(INTERACTIVE, FLAG, interactive, "stdin_open", "interactive", 'i', NULL, 0, 0, S_WARM,
	"with --detach: keep the command's input open (in the foreground it always reads viv's)")
SETTING(TTY, FLAG, tty, "tty", "tty", 't', NULL, 0, 0, S_WARM, "give the command a terminal, or fail without one")
SETTING(CHANGES, FLAG, changes, NULL, "changes", 0, NULL, 0, 0, 0, "at the end, list the files that were added, changed and deleted")
SETTING(TRACE, FLAG, trace, NULL, "trace", 0, NULL, 0, 0, 0, "print every system call to standard error")
SETTING(FAST, CHOICE, fast, "fast", "fast", 0, "MODE", 0, 0, 0,
	"how calls avoid a switch to the kernel: on (the default), off, check, eager or detach")
SETTING(JOURNAL, CHOICE, journal, "journal", "journal", 0, "LEVEL", 0, 0, S_PLACE | S_YAML,
	"what the cell's journal records: off, changes, or all, which includes the files that are read (default: all, or VIV_JOURNAL of the environment)")
SETTING(JOURNAL_FULL, CHOICE, journal_full, "journal_full", "journal-full", 0, "WHAT", 0, 0, S_PLACE | S_YAML,
	"what the cell does when its journal cannot be written, as the disk is full or --journal-max is reached: wait (the default with --journal), or continue, and the journal has a hole (the default without)")
SETTING(JOURNAL_MAX, SIZE, journal_max, "journal_max", "journal-max", 0, "SIZE", 2 << 20, 0, S_PLACE | S_YAML | S_VARS,
	"how large the cell's journal may become on disk; then --journal-full decides (default: no limit)")
SETTING(QUIET, FLAG, quiet, NULL, "quiet", 'q', NULL, 0, 0, S_WARM, "print no warnings")
SETTING(DETACH, FLAG, detach, NULL, "detach", 'd', NULL, 0, 0, S_WARM,
	"run the cell in the background and print its id; 'viv logs' shows its output")
SETTING(LABEL, MAP, labels, "labels", "label", 'l', "K=V", 0, 0, S_LIVE | S_WARM | S_VIVD | S_YAML,
	"with --detach: a label, for 'viv ps --filter'")
SETTING(RESTART, RESTART, restart, "restart", "restart", 0, "POLICY", 0, 0, S_LIVE | S_WARM | S_VIVD | S_YAML,
	"with --detach: no, on-failure, on-failure:N, always or unless-stopped (the same as always)")
SETTING(STOP_TIMEOUT, TIME, stop_ns, "stop_grace", "stop-timeout", 0, "TIME", 0, 10 * YEARS, S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS,
	"with --detach: time between SIGTERM and SIGKILL when the cell is stopped (default: 10s)")
SETTING(STOP_SIGNAL, TEXT, stop_signal_text, "stop_signal", "stop-signal", 0, "SIGNAL", 0, 0, S_WARM | S_YAML | S_VARS | S_WORD,
	"signal that asks the command to end when the cell is stopped (default: the image's, or TERM)")
SETTING(IDLE_TIMEOUT, TIME, idle_ns, "idle_timeout", "idle-timeout", 0, "TIME", 0, 10 * YEARS, S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS,
	"with --detach: stop the cell after this time without a process in it")
SETTING(SLEEP_AFTER, TIME, sleep_ns, "sleep_after", "sleep-after", 0, "TIME", 0, 10 * YEARS, S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS,
	"with --detach: let the cell, which needs a name, sleep when nobody has used it for this time; 0: never (default: 15m without a command, else 0)")
SETTING(HEALTH_CMD, WORDS, health_command, "health.command", "health-cmd", 0, "COMMAND", 0, 0, S_LIVE | S_WARM | S_VIVD | S_YAML | S_REQUIRED,
	"with --detach: command that sh runs in the cell again and again; the cell is healthy while it exits with 0")
SETTING(HEALTH_INTERVAL, TIME, health_interval_ns, "health.interval", "health-interval", 0, "TIME", 0.01, YEARS,
	S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS, "time from the end of one health check to the next (default: 30s)")
SETTING(HEALTH_TIMEOUT, TIME, health_timeout_ns, "health.timeout", "health-timeout", 0, "TIME", 0.01, YEARS,
	S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS, "a health check that takes longer is killed and has failed (default: 30s)")
SETTING(HEALTH_START, TIME, health_start_ns, "health.start_period", "health-start-period", 0, "TIME", 0, YEARS,
	S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS, "time after the start in which failures do not count until a check has passed (default: 0)")
SETTING(HEALTH_RETRIES, COUNT, health_retries, "health.retries", "health-retries", 0, "N", 1, 1000,
	S_LIVE | S_WARM | S_VIVD | S_YAML | S_VARS, "failures in a row that make the cell unhealthy (default: 3)")
SETTING(JSON, FLAG, json, NULL, "json", 0, NULL, 0, 0, S_WARM, "print viv's own messages as JSON")
SETTING(HELP, OWN, none, NULL, "help", 0, NULL, 0, 0, S_WARM, "show this help")

/* not on the command line */
SETTING(COMMAND, WORDS, argv, "command", NULL, 0, NULL, 0, 4096, S_WARM | S_YAML,
	"first process of the cell, with which the cell ends. Absent: none, and the cell runs until it is stopped. Empty: the image's own command")
SETTING(POLICY, WORDS, policy, "policy", NULL, 0, NULL, 0, 4096, S_LIVE | S_PLACE | S_YAML,
	"rules of what the cell may reach and do, one in each string; the last that matches decides")
SETTING(HIDDEN_ENV, WORDS, hidden_env, "hidden_env", NULL, 0, NULL, 0, 0, S_LIVE | S_WARM, "variables of env whose values are never shown")

/* between viv or vivd and viv-keeper (keeper/client.h) */
SETTING(SPEC, OWN, none, NULL, "spec", 0, "JSON", 0, 0, S_WARM, NULL)
SETTING(IDLE, FLAG, idle, NULL, "idle", 0, NULL, 0, 0, S_WARM, NULL)
SETTING(ID, OWN, none, NULL, "id", 0, "ID", 0, 0, S_WARM, NULL)
SETTING(PARENT, OWN, none, NULL, "parent", 0, "ID", 0, 0, S_WARM, NULL)
SETTING(LEAVE, FLAG, leave, NULL, "leave", 0, NULL, 0, 0, S_WARM, NULL)
SETTING(POOL, OWN, none, NULL, "pool", 0, NULL, 0, 0, 0, NULL)
SETTING(WOKEN, FLAG, woken, NULL, "woken", 0, NULL, 0, 0, 0, NULL)
SETTING(VISIT, FLAG, visit, NULL, "visit", 0, NULL, 0, 0, 0, NULL)
SETTING(MERGE, OWN, none, NULL, "merge", 0, NULL, 0, 0, 0, NULL)

#undef YEARS
