/* The verbs of viv, each described once: what parses its words, its help, what shells complete and the synopsis in the man page come from
 * here. Every verb has --json and --help besides. */
#include "cli/cli.h"

#define OPTS(list) .opts = list, .nopts = ARRAY_LEN(list)
#define ANY (-1)

/* Of whatever starts a process in a cell. dir: what is its directory without. */
#define PROCESS_OPTS(dir)                                                                \
	{ 'e', "env", "K=V", "set a variable; a name alone passes the host's value" },   \
		{ 0, "env-file", "FILE",                                                 \
		  "set variables: each line is K=V or K; what --env says counts more" }, \
		{ 'w', "workdir", "DIR", "directory that it starts in (" dir ")" },      \
		{ 'u', "user", "USER",                                                   \
		  "as whom: a name of the cell, UID or UID:GID (the cell's)" },          \
	{                                                                                \
		0, "timeout", "TIME", "end it after this time (500ms, 10s, 5m)"          \
	}

static const struct opt exec_opts[] = {
	{ 'i', "interactive", NULL, "the command reads viv's standard input" },
	{ 't', "tty", NULL, "it has a terminal of its own in the cell, shown at viv's" },
	{ 'd', "detach", NULL,
	  "print the process's number and leave it to itself; 'viv logs CELL:NUMBER' has its "
	  "output" },
	PROCESS_OPTS("the cell's"),
};

static const struct opt shell_opts[] = { PROCESS_OPTS("the user's home") };

static const struct opt start_opts[] = {
	{ 'a', "attach", NULL, "show its output until it ends, and end with its exit status" },
};

static const struct opt stop_opts[] = {
	{ 't', "time", "TIME", "between SIGTERM and the end of the cell (its own, or 10s)" },
};

static const struct opt kill_opts[] = {
	{ 's', "signal", "SIGNAL", "by name or number (KILL)" },
};

static const struct opt rm_opts[] = {
	{ 'f', "force", NULL, "also cells that run: they are killed" },
};

static const struct opt update_opts[] = {
	{ 0, "cpus", "N", "processors that the cell may use and sees (1, 0.5, 2)" },
	{ 'm', "memory", "SIZE", "memory that the cell may use and sees (64M, 1G)" },
	{ 0, "pids-limit", "N", "processes and threads at once" },
	{ 0, "pids", "N", "the same" },
	{ 0, "disk-size", "SIZE", "bytes that it may have on its disk" },
	{ 0, "disk-inodes", "N", "files that it may have there" },
	{ 0, "timeout", "TIME", "end it so long after its start" },
	{ 0, "restart", "POLICY", "no, on-failure[:MAX] or always" },
	{ 0, "stop-timeout", "TIME", "between SIGTERM and the end of the cell" },
	{ 0, "idle-timeout", "TIME", "stop it when nothing ran in it for that time" },
	{ 'l', "label", "K=V", "set a label" },
	{ 0, "label-rm", "K", "take one away" },
};

static const struct opt ps_opts[] = {
	{ 'a', "all", NULL, "also those that do not run" },
	{ 'f', "filter", "NAME=VALUE",
	  "only those: state=STATE (or status), name=NAME, label=NAME[=VALUE]" },
	{ 'q', "quiet", NULL, "only their names, or ids if they have none" },
};

static const struct opt logs_opts[] = {
	{ 'f', "follow", NULL, "wait for more, until it ends" },
	{ 'n', "tail", "N", "only the last N lines, or all" },
	{ 't', "timestamps", NULL, "the time before each line" },
	{ 0, "since", "TIME", "only what was written since: 10m ago, or 2026-01-31T12:00:00Z" },
};

static const struct opt cp_opts[] = {
	{ 'a', "archive", NULL,
	  "keep user and group numbers (else: root in the cell, you outside)" },
	{ 'L', "follow-link", NULL, "copy what a link leads to, and not the link" },
	{ 'q', "quiet", NULL, "print nothing, as without it" },
};

static const struct opt events_opts[] = {
	{ 0, "since", "SEQ", "from the event after this number on; 0: the oldest that is kept" },
	{ 0, "no-follow", NULL, "end with the newest" },
};

static const struct opt stats_opts[] = {
	{ 0, "no-stream", NULL, "once, as without it" },
};

static const struct opt top_opts[] = {
	{ 'd', "delay", "TIME", "between two looks (2s)" },
	{ 'n', "iterations", "N", "end after N looks" },
	{ 's', "sort", "COLUMN", "by cpu, memory, disk, tasks, calls or name" },
};

static const struct opt prune_opts[] = {
	{ 'f', "force", NULL, "do not ask" },
};

static const struct opt quiet_opts[] = {
	{ 'q', "quiet", NULL, "only the names" },
};

static const struct opt snapshot_opts[] = {
	{ 0, "ls", NULL, "list the snapshots of CELL" },
	{ 0, "rm", NULL, "forget the snapshot NAME of CELL" },
};

static const struct opt diff_opts[] = {
	{ 0, "patch", NULL, "a patch, as git prints them" },
};

static const struct opt commit_opts[] = {
	{ 't', "tag", "NAME", "the image's name; needed" },
	{ 'q', "quiet", NULL, "print the hash alone" },
};

static const struct opt import_opts[] = {
	{ 't', "tag", "NAME", "give the image a name" },
	{ 'q', "quiet", NULL, "print the hash alone, no warnings" },
	{ 0, "format", "WHAT", "dir, tar, oci, docker or nix; by its looks if not given" },
	{ 0, "ref", "NAME", "which of several container images" },
	{ 0, "owner", "UID[:GID]", "let all files belong to one user" },
	{ 0, "max-size", "SIZE", "refuse more content than that (64G)" },
	{ 0, "max-entries", "N", "refuse more files than that (4000000)" },
	{ 0, "base", "IMAGE", NULL },
};

static const struct opt bootstrap_opts[] = {
	{ 0, "include", "P,Q", "more packages" },
	{ 0, "variant", "NAME", "minbase, or another of mmdebstrap's (essential, apt, standard)" },
	{ 0, "mirror", "URL", "another mirror" },
	{ 't', "tag", "NAME", "give the image a name" },
	{ 'q', "quiet", NULL, "print the hash alone" },
};

static const struct opt image_ls_opts[] = {
	{ 'q', "quiet", NULL, "only the hashes" },
};

static const struct opt export_opts[] = {
	{ 'o', "output", "FILE",
	  "to a file instead of standard output; .gz, .xz and .zst compress" },
	{ 0, "format", "oci", "an OCI layout; FILE is the directory to make" },
};

static const struct opt image_rm_opts[] = {
	{ 'f', "force", NULL, "by hash: remove all its tags as well" },
};

static const struct opt gc_opts[] = {
	{ 0, "untagged", NULL, "first remove images that have no tag and that nothing uses" },
	{ 'q', "quiet", NULL, "print nothing" },
};

static const struct opt verify_opts[] = {
	{ 'q', "quiet", NULL, "print only damage" },
	{ 0, "repair", NULL, "make objects readable for cells where they are not" },
};

#define PROJECT_OPTS                                                                      \
	{ 'f', "file", "FILE", "another file than vivarium.yaml ('-': standard input)" }, \
		{ 'p', "project", "NAME",                                                 \
		  "another name of the project than the file's, or its directory's" },    \
	{                                                                                 \
		0, "dry-run", NULL, "print the plan and change nothing"                   \
	}
#define CHANGE_OPTS                                                                              \
	{ 0, "remove-orphans", NULL,                                                             \
	  "remove the project's cells that are not in the file any more" },                      \
	{                                                                                        \
		0, "recreate", NULL, "make cells anew whose image changed; the files in them go" \
	}

static const struct opt up_opts[] = { PROJECT_OPTS, CHANGE_OPTS };

static const struct opt apply_opts[] = {
	{ 0, "restart", NULL, "restart cells that need it" },
	PROJECT_OPTS,
	CHANGE_OPTS,
};

static const struct opt down_opts[] = {
	{ 'v', "volumes", NULL, "remove the volumes that the project made, too" },
	PROJECT_OPTS,
};

static const struct opt token_opts[] = {
	{ 0, "scope", "SCOPE", "admin, cell or read" },
	{ 0, "cell", "CELL", "for this cell alone" },
	{ 0, "name", "NAME", "to know it by" },
	{ 0, "expires", "TIME", "how long it is good (10m, 24h)" },
};

static const struct opt daemon_opts[] = {
	{ 0, "listen", "ADDR", "serve TCP there, too, with tokens: ADDRESS:PORT" },
	{ 0, "tls-cert", "FILE", "certificate, for addresses other than loopback" },
	{ 0, "tls-key", "FILE", "and its key" },
};

static const struct opt help_opts[] = {
	{ 0, "man", NULL, NULL },
	{ 0, "options", NULL, NULL },
};

const struct verb verbs[] = {
	{ "run", "run a command in a new cell", run_main, .args = "[--] COMMAND [ARGUMENT...]",
	  .opts = run_opts, .nopts = RUN_NOPTS, .min = 0, .max = ANY,
	  .flags = VERB_GUEST | VERB_COMMAND | VERB_OWN,
	  .about = "Runs COMMAND in a new cell and ends with its exit status. Its streams are "
		   "those of viv; its environment is\n"
		   "clean, its files are its own and go with it." },
	{ "create", "make a cell without starting it", create_main,
	  .args = "[--] [COMMAND [ARGUMENT...]]", .opts = run_opts, .nopts = RUN_NOPTS, .max = ANY,
	  .flags = VERB_COMMAND | VERB_OWN,
	  .about = "Makes a cell of vivd and prints its name or id; 'viv start' starts it. Without "
		   "a COMMAND (and an image that\n"
		   "has one) it runs until it is stopped, for what 'viv exec' brings." },
	{ "start", "start cells that were made or stopped", start_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(start_opts) },
	{ "stop", "end cells, giving them time for it", stop_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(stop_opts),
	  .about = "Sends SIGTERM to the first process of each cell, and ends the cell when it has "
		   "not gone in time. vivd does\n"
		   "not start it again, whatever its policy." },
	{ "restart", "stop cells and start them again", restart_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(stop_opts) },
	{ "pause", "let nothing in a cell run", pause_main, .args = "CELL...", .min = 1, .max = ANY,
	  .about = "Nothing in the cell runs until 'viv resume'; time goes on." },
	{ "resume", "let a paused cell go on", resume_main, .args = "CELL...", .min = 1,
	  .max = ANY },
	{ "kill", "signal a cell, or end it at once", kill_main, .args = "CELL[:PROCESS]...",
	  .min = 1, .max = ANY, OPTS(kill_opts),
	  .about = "Sends a signal to the first process of each cell, or to the process. KILL "
		   "without a process ends the whole\n"
		   "cell at once." },
	{ "wait", "wait for the end of cells", wait_main, .args = "CELL[:PROCESS]...", .min = 1,
	  .max = ANY, .about = "Waits for the end of each and prints its exit status." },
	{ "rm", "remove cells", rm_main, .args = "CELL...", .min = 1, .max = ANY, OPTS(rm_opts),
	  .about = "Removes cells with their files and snapshots. What forks of them use stays "
		   "with the forks." },
	{ "rename", "give a cell another name", rename_main, .args = "CELL NAME", .min = 2,
	  .max = 2, .about = "Gives a cell that has a name another one, while it does not run." },
	{ "update", "change limits and settings of cells", update_main, .args = "CELL...", .min = 1,
	  .max = ANY, OPTS(update_opts),
	  .about = "Changes cells while they run, or for their next start. 0 takes a limit or a "
		   "time away. Less memory than is in\n"
		   "use is refused; with fewer processes, or less room on the disk, nothing goes, "
		   "and nothing more is given." },
	{ "ps", "list the running cells", ps_main, .max = 0, OPTS(ps_opts) },
	{ "ls", "list all cells", ls_main, .max = 0, OPTS(ps_opts),
	  .about = "The same as 'viv ps --all'." },
	{ "inspect", "tell all about cells", inspect_main, .args = "CELL...", .min = 1, .max = ANY,
	  .about = "Prints what vivd knows of each as JSON; with --json on one line." },
	{ "exec", "run a command in a running cell", exec_main,
	  .args = "CELL [--] COMMAND [ARGUMENT...]", .min = 2, .max = ANY, OPTS(exec_opts),
	  .flags = VERB_GUEST | VERB_COMMAND,
	  .about = "Runs COMMAND in a running cell and ends with its exit status. Its streams are "
		   "those of viv, its input is\n"
		   "empty without -i. When viv goes away, COMMAND gets SIGHUP, unless it was "
		   "detached." },
	{ "shell", "a shell in a running cell", shell_main, .args = "CELL", .min = 1, .max = 1,
	  OPTS(shell_opts), .flags = VERB_GUEST,
	  .about = "The login shell of the cell's user, by its /etc/passwd, else /bin/sh, with a "
		   "terminal if viv has one." },
	{ "logs", "show the output of a detached cell or process", logs_main,
	  .args = "CELL[:PROCESS]", .min = 1, .max = 1, OPTS(logs_opts),
	  .about = "Shows what a detached cell, or one of its detached processes, has written; "
		   "what went to standard error\n"
		   "goes there. Kept are the last megabytes." },
	{ "cp", "copy files between a cell and the host", cp_main,
	  .args = "CELL:PATH LOCAL|- | LOCAL|- CELL:PATH", .min = 2, .max = 2, OPTS(cp_opts),
	  .about =
		  "Copies files and directories between a cell and the host. The cell may run or "
		  "not; one that does not run has a\n"
		  "name. A directory that is copied onto one that is there goes into it; with '/.' "
		  "behind it, only what is in it\n"
		  "does. '-' is a tar archive on standard input or output. A local name with a ':' "
		  "is written as ./NAME." },
	{ "stats", "show what cells use", stats_main, .args = "[CELL...]", .max = ANY,
	  OPTS(stats_opts), .about = "Shows what running cells used and use, once." },
	{ "top", "watch what cells use", top_main, .max = 0, OPTS(top_opts),
	  .about = "Shows running cells, busiest first, until 'q'. c, m, d, t, s and n choose what "
		   "they are sorted by, r turns it\n"
		   "round. Where there is no terminal, it prints one table after the other." },
	{ "events", "print what happens to cells", events_main, .max = 0, OPTS(events_opts) },
	{ "prune", "remove what nobody needs any more", prune_main, .max = 0, OPTS(prune_opts),
	  .about = "Ended cells without a name, images without a tag that nothing uses, and what "
		   "killed programs left. Says what that\n"
		   "is, and asks." },
	{ "image", "import, list, export and remove images", .args = "", .flags = VERB_GROUP,
	  .about = "Images are immutable trees of files, named by their content and by tags. IMAGE "
		   "is a tag, a hash, or the first\n"
		   "6 digits of a hash or more." },
	{ "image import", "make an image from files", image_main, .args = "SRC|-", .min = 1,
	  .max = 1, OPTS(import_opts),
	  .about = "SRC is a directory; a tar archive, plain or compressed by gzip, bzip2, xz or "
		   "zstd; a container image (an\n"
		   "OCI layout or an archive of one, or what 'docker save' writes); or, with "
		   "--format nix, a list of paths of a\n"
		   "Nix store. '-' is standard input. The image's hash is printed last." },
	{ "image bootstrap", "make an image of a Debian release", image_main, .args = "SUITE",
	  .min = 1, .max = 1, OPTS(bootstrap_opts),
	  .about = "SUITE is bookworm for example. mmdebstrap does the work, with the mirror of "
		   "this host's apt; the same packages\n"
		   "give the same image." },
	{ "image ls", "list the images", image_main, .max = 0, OPTS(image_ls_opts) },
	{ "image inspect", "tell about one image", image_main, .args = "IMAGE", .min = 1,
	  .max = 1 },
	{ "image export", "write an image as a tar archive or OCI layout", image_main,
	  .args = "IMAGE", .min = 1, .max = 1, OPTS(export_opts) },
	{ "image tag", "give an image one more name", image_main, .args = "IMAGE NAME", .min = 2,
	  .max = 2 },
	{ "image rm", "remove a tag, and the image with its last tag", image_main,
	  .args = "IMAGE...", .min = 1, .max = ANY, OPTS(image_rm_opts),
	  .about = "A tag is removed; an image goes with its last one, or when it is given by its "
		   "hash. What cells or disks use\n"
		   "stays." },
	{ "image gc", "remove contents that no image uses", image_main, .max = 0, OPTS(gc_opts) },
	{ "image verify", "hash everything again and report damage", image_main,
	  .args = "[IMAGE...]", .max = ANY, OPTS(verify_opts) },
	{ "snapshot", "keep a cell's files as they are now", snapshot_main, .args = "CELL [NAME]",
	  .min = 1, .max = 2, OPTS(snapshot_opts),
	  .about = "Keeps the cell's files as they are now, whether it runs or not, and prints the "
		   "snapshot's name.\n"
		   "Nothing is copied: later changes are written elsewhere." },
	{ "fork", "make a cell with the files of another", fork_main, .args = "CELL[@SNAPSHOT] NEW",
	  .min = 2, .max = 2,
	  .about = "Makes cell NEW with the files of CELL as they are now, or as they were in "
		   "SNAPSHOT. Both go on by themselves\n"
		   "from there; nothing is copied." },
	{ "diff", "list what a cell changed", diff_main,
	  .args = "CELL[@SNAPSHOT] [CELL[@SNAPSHOT]]", .min = 1, .max = 2, OPTS(diff_opts),
	  .about =
		  "Lists what was added (A), changed (C) and deleted (D): in CELL since its image, "
		  "in CELL@SNAPSHOT since\n"
		  "that snapshot, or from the first to the second of two. --patch prints the "
		  "contents of text files as a patch\n"
		  "for 'patch -p1' or 'git apply'." },
	{ "verify", "check a cell's disk", verify_main, .args = "CELL[@SNAPSHOT]", .min = 1,
	  .max = 1,
	  .about =
		  "Checks that the logs of a cell's disk can be read and all contents are there." },
	{ "commit", "make an image of a cell's files", commit_main, .args = "CELL[@SNAPSHOT]",
	  .min = 1, .max = 1, OPTS(commit_opts),
	  .about = "Makes an image of the files of a cell, as they are now or were at a snapshot, "
		   "and prints its hash.\n"
		   "Of a cell on the host image that is everything it shows of the host." },
	{ "rollback", "set a cell's files back to a snapshot", rollback_main,
	  .args = "CELL SNAPSHOT", .min = 2, .max = 2, OPTS(stop_opts),
	  .about =
		  "Sets the cell's files back to the snapshot. Changes since its last snapshot are "
		  "lost; all snapshots\n"
		  "stay, so one can also go forward again. A cell that runs is stopped for it, and "
		  "started again if vivd\n"
		  "started it; one that a 'viv run' waits for is only ended." },
	{ "volume", "make, list and remove volumes", .args = "", .flags = VERB_GROUP,
	  .about = "A volume is a disk of its own that cells mount: viv run --volume NAME:/data -- "
		   "... One cell at a\n"
		   "time can write it, or many read it (NAME:/data:ro)." },
	{ "volume create", "make a volume", volume_create_main, .args = "NAME", .min = 1,
	  .max = 1 },
	{ "volume ls", "list the volumes", volume_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "volume rm", "remove volumes with their files", volume_rm_main, .args = "NAME...",
	  .min = 1, .max = ANY },
	{ "up", "make and start the cells of vivarium.yaml", up_main, .args = "[CELL...]",
	  .max = ANY, OPTS(up_opts),
	  .about = "Makes and starts the cells of a file, changes those that differ from it (and "
		   "starts them again if it takes\n"
		   "that), and leaves the others alone. With CELL, only those and what they depend "
		   "on." },
	{ "apply", "change running cells to what vivarium.yaml says", apply_main,
	  .args = "[CELL...]", .max = ANY, OPTS(apply_opts),
	  .about = "The same as 'viv up', but running cells go on: what can be changed while they "
		   "run is changed, and what needs\n"
		   "a restart is told." },
	{ "down", "stop and remove the cells of vivarium.yaml", down_main, .max = 0,
	  OPTS(down_opts),
	  .about = "Stops and removes all cells of the project, those that depend on others first. "
		   "With --project, no file is\n"
		   "needed." },
	{ "token", "make, list and revoke tokens of the API", .args = "", .flags = VERB_GROUP,
	  .about = "A token is shown once, when it is made; only its hash is kept. admin may do "
		   "everything, cell uses one cell\n"
		   "and sees no other, read looks and changes nothing (with --cell: at that one "
		   "only)." },
	{ "token create", "make a token", token_create_main, .max = 0, OPTS(token_opts) },
	{ "token ls", "list the tokens", token_ls_main, .max = 0, OPTS(quiet_opts) },
	{ "token rm", "revoke tokens", token_rm_main, .args = "ID...", .min = 1, .max = ANY },
	{ "daemon", "start and stop vivd, or ask after it", .args = "", .flags = VERB_GROUP,
	  .about = "vivd keeps the cells; commands that need it start it. It ends by 'stop', and "
		   "cells go on without it." },
	{ "daemon start", "start vivd", daemon_start_main, .max = 0, OPTS(daemon_opts) },
	{ "daemon stop", "end vivd; its cells go on", daemon_stop_main, .max = 0 },
	{ "daemon restart", "start it anew, with its options", daemon_restart_main, .max = 0 },
	{ "daemon status", "tell whether it runs; exit status 3: not", daemon_status_main,
	  .max = 0 },
	{ "doctor", "check what cells need of this machine", doctor_main, .max = 0,
	  .about =
		  "Checks the kernel, its limits, control groups, the disk and vivd, and says what "
		  "to do. Exit status 1: something\n"
		  "that is needed is missing." },
	{ "completion", "print what completes commands in a shell", completion_main,
	  .args = "bash|zsh", .min = 1, .max = 1,
	  .about =
		  "For bash: eval \"$(viv completion bash)\" in ~/.bashrc. For zsh: viv completion "
		  "zsh >~/.zfunc/_viv, with\n"
		  "~/.zfunc in fpath before compinit." },
	{ "help", "explain viv, or one of its commands", help_main, .args = "[COMMAND...]",
	  .max = 2, OPTS(help_opts) },
	{ "version", "print the version", version_main, .max = 0 },
};
const unsigned nverbs = ARRAY_LEN(verbs);
