/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 *
 * @typedef {'created' | 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'completed' | 'sleeping' | 'failed'} CellState
 * @typedef {'exited' | 'asked' | 'timeout' | 'idle' | 'memory' | 'failed' | 'lost' | 'unhealthy'} EndReason
 *
 * @typedef {object} Limits
 * @property {number} [cpus] processors that the cell may use and sees
 * @property {number} [memory] memory that the cell may use and sees, in bytes
 * @property {number} [pids] processes and threads that may exist at the same time
 * @property {number} [disk] bytes that the cell may keep in its own files, in bytes
 * @property {number} [inodes] files that the cell may create
 *
 * @typedef {object} Mount
 * @property {string} [source] directory or regular file of the host, by its absolute path, or s3://BUCKET/PREFIX
 * @property {string} [subpath] of a directory of the host: a path below it that is mounted instead; links are not followed
 * @property {string} [volume] name of a volume
 * @property {boolean} [tmpfs] an empty file system in memory
 * @property {string} target absolute path in the cell
 * @property {boolean} [readonly] the cell cannot write to it
 * @property {boolean} [nofollow] fail if a part of target is a symbolic link in the cell
 * @property {number} [size] of a tmpfs: the bytes that it can hold, in bytes
 *
 * @typedef {object} Restart
 * @property {'no' | 'on-failure' | 'always'} policy
 * @property {number} [max] in a row; 0: no limit
 *
 * @typedef {object} HealthSpec times are in seconds
 * @property {string[]} command command that sh runs in the cell again and again; the cell is healthy while it exits with 0
 * @property {number} [interval] time from the end of one health check to the next (default: 30), in seconds
 * @property {number} [timeout] a health check that takes longer is killed and has failed (default: 30), in seconds
 * @property {number} [start_period] time after the start in which failures do not count until a check has passed (default: 0), in seconds
 * @property {number} [retries] failures in a row that make the cell unhealthy (default: 3)
 *
 * @typedef {object} Health
 * @property {'starting' | 'healthy' | 'unhealthy'} status
 * @property {number} failures in a row
 * @property {string} [checked] the end of the last check, of which the rest tells
 * @property {number} [exit_code]
 * @property {boolean} [timed_out]
 * @property {string} [output]
 *
 * @typedef {object} CellSpec
 * @property {string} [image] root file system: an image of the store, or 'host' (the default), which shows the host's /usr, /bin and /lib
 * @property {boolean} [auto_remove] remove the cell and its files when it ends (always so without a name)
 * @property {string} [entrypoint] run this program instead of the image's entry point; empty: none
 * @property {Limits} [limits]
 * @property {number} [max_connections] connections to and from the outside that the cell may have at the same time
 * @property {number} [max_net_in] bytes that the cell may receive from the outside while it runs, in bytes
 * @property {number} [max_net_out] bytes that the cell may send to the outside while it runs, in bytes
 * @property {number} [max_net_rate] bytes that the cell may receive and may send each second, in bytes
 * @property {number} [timeout] end the cell after this time, 10s or 5m; the exit status is 124, in seconds
 * @property {Record<string, string>} [env] set an environment variable; a name alone passes the host's value on
 * @property {string} [workdir] directory that the command starts in (default: the image's, or /)
 * @property {string} [user] user of the image (of 'host': root, agent or nobody), UID or UID:GID
 * @property {string[]} [group_add] a further group of the cell's processes: a name of its /etc/group, or a number
 * @property {Record<string, string>} [ulimits] limit of each process, such as nofile=1024:4096 or core=0; -1 is unlimited
 * @property {boolean} [read_only] the cell cannot write to its root file system, only to mounts, volumes, --tmpfs, /dev and /dev/shm
 * @property {Mount[]} [mounts] show a host directory or file, or s3://BUCKET/PREFIX, at DST; also in docker's form: type=bind,source=SRC,target=DST
 * @property {string} [s3_endpoint] server of s3:// mounts (default: AWS_ENDPOINT_URL, or Amazon's)
 * @property {string} [hostname] host name of the cell (default: cell)
 * @property {string[]} [ports] let programs on the host reach a port of the cell; ADDR is 127.0.0.1 unless given, HOSTPORT 0 any free port; /udp may follow
 * @property {string[]} [add_host] give a name an address, in /etc/hosts and in the cell's resolver; rules still decide what the cell may reach
 * @property {string[]} [dns] ask this DNS server for the cell instead of the host's
 * @property {string[]} [dns_search] domain that the cell adds to short names; the host's own are not passed on
 * @property {string[]} [secrets] give the cell the use of a secret ('viv secret set'); programs see a placeholder in its variable, and its hosts get the value
 * @property {string[]} [tools] give the cell a tool of the host ('viv tool add'), which is a command there
 * @property {string} [binfmt_wasm] program in the cell that runs WebAssembly modules (default: node's WASI)
 * @property {boolean} [stdin_open] keep the command's input open (in the foreground it always reads viv's)
 * @property {boolean} [tty] give the command a terminal, or fail without one
 * @property {'on' | 'off' | 'check' | 'eager' | 'detach'} [fast] how calls avoid a switch to the kernel: on (the default), off, check, eager or detach
 * @property {'off' | 'changes' | 'all'} [journal] what the cell's journal records: off, changes, or all, which includes the files that are read (default: all, or VIV_JOURNAL of the environment)
 * @property {'wait' | 'continue'} [journal_full] what the cell does when its journal cannot be written, as the disk is full or --journal-max is reached: wait (the default with --journal), or continue, and the journal has a hole (the default without)
 * @property {number} [journal_max] how large the cell's journal may become on disk; then --journal-full decides (default: no limit), in bytes
 * @property {Record<string, string>} [labels] a label, for 'viv ps --filter'
 * @property {Restart} [restart] no, on-failure, on-failure:N, always or unless-stopped (the same as always)
 * @property {number} [stop_grace] time between SIGTERM and SIGKILL when the cell is stopped (default: 10), in seconds
 * @property {string} [stop_signal] signal that asks the command to end when the cell is stopped (default: the image's, or TERM)
 * @property {number} [idle_timeout] stop the cell after this time without a process in it, in seconds
 * @property {number} [sleep_after] let the cell, which needs a name, sleep when nobody has used it for this time; 0: never (default: 15m without a command, else 0), in seconds
 * @property {HealthSpec} [health]
 * @property {string[]} [command] first process of the cell, with which the cell ends. Absent: none, and the cell runs until it is stopped. Empty: the image's own command
 * @property {string[]} [policy] rules of what the cell may reach and do, one in each string; the last that matches decides
 * @property {string[]} [hidden_env] variables of env whose values are never shown
 *
 * @typedef {object} CellCreateOnly
 * @property {string} [name]
 * @property {boolean} [start] start it at once
 * @property {boolean} [get] a cell of that name is no error but the answer
 * @typedef {CellSpec & CellCreateOnly} CellCreate
 *
 * @typedef {object} CellPatch null takes away
 * @property {Record<string, string | null> | null} [labels]
 * @property {{[K in keyof Limits]?: number | null} | null} [limits]
 * @property {Partial<Restart> | null} [restart]
 * @property {Partial<HealthSpec> | null} [health]
 * @property {number | null} [timeout] from its start on
 * @property {number | null} [stop_grace]
 * @property {number | null} [idle_timeout]
 * @property {number | null} [sleep_after]
 *
 * @typedef {object} ErrorObject
 * @property {string} code
 * @property {string} message
 * @property {string} [cause]
 * @property {string} [remedy]
 *
 * @typedef {object} CellInfo
 * @property {string} id
 * @property {string} [name]
 * @property {CellState} state
 * @property {string} image
 * @property {number} restarts
 * @property {Record<string, string>} labels
 * @property {string} created RFC 3339, like all times
 * @property {string} [started]
 * @property {string} [ended]
 * @property {string} [restart_at]
 * @property {string} [parent] the id of the cell that made it from inside
 * @property {string[]} [children] ids of the cells that it has made; not in lists
 * @property {Record<string, number>} [reserved] what its children have of its limits
 * @property {boolean} [foreground]
 * @property {number} [pid]
 * @property {number} [exit_code]
 * @property {unknown} [result] what the last run left in /dev/result; not in lists
 * @property {EndReason} [reason]
 * @property {string} [detail] why it failed, in one line
 * @property {ErrorObject} [error] the same, in its parts
 * @property {ErrorObject} [unmerged] why the space that only a removed snapshot needed was not freed
 * @property {string} [command] of its first process, while it runs
 * @property {{address: string, host_port: number, cell_port: number, protocol: 'tcp' | 'udp'}[]} [ports] of the host, that lead into the cell
 * @property {Health} [health]
 * @property {CellSpec} spec
 *
 * @typedef {object} Stats
 * @property {string} time
 * @property {number} cpu_seconds
 * @property {number} cpus in use, since the figures were asked for before
 * @property {number} memory bytes
 * @property {number} memory_limit
 * @property {number} disk bytes
 * @property {number} disk_limit
 * @property {number} inodes
 * @property {number} inodes_limit
 * @property {number} tasks
 * @property {number} tasks_limit
 * @property {number} processes
 * @property {number} system_calls
 * @property {number} system_calls_per_second likewise
 * @property {number} files
 * @property {number} refused
 *
 * @typedef {object} ProcessInfo
 * @property {number} proc
 * @property {number} pid
 * @property {string} command
 * @property {string} started
 * @property {boolean} ended
 * @property {boolean} logged
 * @property {number} [exit_code]
 * @property {number} [signal]
 *
 * @typedef {object} Snapshot
 * @property {string} name
 * @property {number} [layer]
 *
 * @typedef {object} Image
 * @property {string} id
 * @property {string[]} tags
 *
 * @typedef {object} Volume
 * @property {string} name
 * @property {string} created
 *
 * @typedef {object} VolumeDetails
 * @property {string} name
 * @property {string} created
 * @property {string} disk
 * @property {boolean} in_use
 * @property {number} size
 * @property {string[]} cells
 *
 * @typedef {{count: number, size: number, reclaimable: number}} DiskUsageKind
 *
 * @typedef {object} DiskUsage
 * @property {DiskUsageKind} cells
 * @property {DiskUsageKind} snapshots
 * @property {DiskUsageKind} images
 * @property {DiskUsageKind} volumes
 *
 * @typedef {object} VolumesPruned
 * @property {{name: string, size: number}[]} volumes
 * @property {number} size
 * @property {boolean} removed
 *
 * @typedef {object} SecretSpec a new one needs hosts, unless its name is well known, and one of value, file and command
 * @property {string} [value] never returned
 * @property {string} [value_from] the variable that the value was read from
 * @property {string} [file] on vivd's host
 * @property {string} [command] for /bin/sh on vivd's host
 * @property {string[]} [hosts] 'HOST[:PORT]' or '*.HOST[:PORT]'
 * @property {string[]} [places] 'header NAME', 'bearer', 'basic [USER]', 'query NAME', 'anywhere', 'body'
 * @property {string} [env] the variable that holds the placeholder
 * @property {string} [prefix] of the placeholder
 *
 * @typedef {object} Secret
 * @property {string} name
 * @property {string} [env]
 * @property {string} [placeholder]
 * @property {string[]} [hosts]
 * @property {string[]} [places]
 * @property {'value' | 'env' | 'file' | 'command'} [source]
 * @property {string} [from]
 * @property {string} [changed]
 * @property {ErrorObject} [error] why it cannot be read
 *
 * @typedef {'admin' | 'cell' | 'read'} Scope
 *
 * @typedef {object} PreviewSpec
 * @property {number} port of the cell
 * @property {number} [expires_in] seconds; 3600 without it
 *
 * @typedef {object} Preview
 * @property {string} id
 * @property {string} cell
 * @property {number} port
 * @property {string} created
 * @property {string} expires
 * @property {string} [url] for browsers, with its token
 * @property {string} [path_url] the same for programs that do not resolve *.localhost
 *
 * @typedef {object} FetchOptions
 * @property {string} [method]
 * @property {Record<string, string>} [headers]
 * @property {string | Uint8Array} [body]
 * @property {number} [timeout] seconds until the whole response must be there; 30 without it
 *
 * @typedef {object} TokenSpec
 * @property {Scope} scope
 * @property {string} [cell]
 * @property {string} [name]
 * @property {number} [expires_in] seconds
 *
 * @typedef {object} Token
 * @property {string} id
 * @property {string} name
 * @property {Scope} scope
 * @property {string} [cell]
 * @property {string} created
 * @property {string} [expires]
 * @property {string} [used]
 *
 * @typedef {Token & {token: string}} TokenMade the only time that the token itself is seen
 *
 * @typedef {object} Approval a call of a cell that waits, or waited, for an answer
 * @property {number} id
 * @property {string} cell
 * @property {'pending' | 'allowed' | 'denied' | 'withdrawn'} state
 * @property {string} created
 * @property {string} [answered]
 * @property {string} [by]
 * @property {'net' | 'files' | 'exec' | 'agent' | 'tools' | 'workflow'} scope
 * @property {string} [action]
 * @property {('read' | 'write' | 'create' | 'delete')[]} [access]
 * @property {string} [path]
 * @property {string} [to]
 * @property {string} [program]
 * @property {number} [pid]
 * @property {string} [rule]
 * @property {string} [name]
 * @property {string} [address]
 * @property {number} [port]
 * @property {string} [protocol]
 * @property {string} [method]
 * @property {string} [session] of an agent's question, as what follows
 * @property {string} [title]
 * @property {Record<string, any>} [tool_call]
 * @property {{id: string, name: string, kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'}[]} [options]
 * @property {string} [workflow] of a workflow's question, as what follows
 * @property {string} [workflow_run]
 * @property {string} [text]
 *
 * @typedef {object} WorkflowStep
 * @property {string} step its path: deploy/3/push
 * @property {'run' | 'prompt' | 'cell' | 'approve' | 'sleep' | 'workflow' | 'parallel' | 'foreach' | 'if' | 'steps' | 'rollback' | 'code'} kind
 * @property {'ready' | 'running' | 'retry' | 'done' | 'skipped' | 'failed' | 'cancelled'} state
 * @property {number} attempt
 * @property {string | null} started
 * @property {string | null} ended
 * @property {string} [due]
 * @property {string} [cell]
 * @property {number} [approval]
 * @property {string} [session]
 * @property {any} [output]
 * @property {number} [exit_code]
 * @property {string} [stderr]
 * @property {boolean} [truncated]
 * @property {ErrorObject} [error]
 *
 * @typedef {object} WorkflowRun
 * @property {string} id
 * @property {string} name
 * @property {'file' | 'code'} kind
 * @property {string} by
 * @property {'running' | 'rollback' | 'done' | 'failed' | 'cancelled'} state
 * @property {boolean} rolled_back
 * @property {string | null} created
 * @property {string | null} ended
 * @property {Record<string, any>} [inputs]
 * @property {any} [output]
 * @property {ErrorObject} [error]
 * @property {WorkflowStep[]} [steps]
 *
 * @typedef {'starting' | 'idle' | 'running' | 'waiting' | 'closed' | 'failed'} SessionState waiting: a question of the agent is open
 * @typedef {object} Choice
 * @property {string} id
 * @property {string} name
 *
 * @typedef {object} ScheduleAction what a schedule has besides its time: command with cell, prompt with session, run, or workflow
 * @property {string} name
 * @property {string} [schedule] five fields, or a name such as `@daily`
 * @property {string} [at] once, at this time
 * @property {string} [tz] Europe/Oslo; absent: the host's
 * @property {string} [cell]
 * @property {string[]} [command]
 * @property {Record<string, string>} [env]
 * @property {string} [workdir]
 * @property {string} [user]
 * @property {string} [session]
 * @property {string} [prompt]
 * @property {CellSpec} [run] a cell that each run makes
 * @property {{yaml: string, file?: string, dir?: string, inputs?: object, arguments?: Record<string, string>}} [workflow] a workflow file that each run runs
 * @property {'skip' | 'allow' | 'queue'} [overlap]
 * @property {number} [queue] with overlap queue: how many may wait
 * @property {'none' | 'one' | 'all'} [catch_up] runs for times that were missed
 * @property {number} [jitter] seconds
 * @property {number} [timeout] seconds
 * @property {number} [history] runs that are kept
 *
 * @typedef {ScheduleAction & {in?: number}} ScheduleSpec in: once, after so many seconds
 *
 * @typedef {ScheduleAction & ScheduleState} Schedule
 *
 * @typedef {object} ScheduleState
 * @property {string} [cell_name]
 * @property {'active' | 'paused' | 'finished'} state
 * @property {string} created
 * @property {string} [next] its next time, before jitter
 * @property {number} fired times that became a run
 * @property {number} skipped times that did not
 * @property {number} queued
 * @property {number} running
 * @property {ScheduleRun} [last_run]
 *
 * @typedef {object} ScheduleRun
 * @property {number} run its number
 * @property {'queued' | 'starting' | 'running' | 'done' | 'failed'} state
 * @property {'manual' | 'time' | 'late' | 'boot'} reason
 * @property {string} due
 * @property {string} fired
 * @property {string} [started]
 * @property {string} [ended]
 * @property {number} [exit_code]
 * @property {boolean} [timed_out]
 * @property {ErrorObject} [error]
 * @property {string} [output] the end of it
 * @property {string} [output_base64] the same, if it is not UTF-8
 *
 * @typedef {object} SessionInfo an agent in a cell
 * @property {string} id
 * @property {string} cell id
 * @property {string | null} agent
 * @property {string[]} command
 * @property {string | null} title
 * @property {SessionState} state
 * @property {string} created
 * @property {string} updated
 * @property {string | null} [mode]
 * @property {Choice[]} [modes]
 * @property {string | null} [model]
 * @property {Choice[]} [models]
 * @property {object[]} [config_options] as the agent described them
 * @property {number} queue prompts that wait
 * @property {number} last_seq number of its last event
 * @property {Record<string, any>} [usage]
 * @property {ErrorObject} [error]
 *
 * @typedef {object} SessionSpec either agent or command
 * @property {string} [agent] a known agent
 * @property {string[]} [command] a program that speaks ACP
 * @property {string} [workdir]
 * @property {Record<string, string>} [env]
 * @property {string} [user]
 * @property {string} [mode]
 * @property {string} [model]
 * @property {boolean} [system_prompt] false: the agent is told nothing about its computer
 * @property {string} [append_prompt] added to that
 * @property {string} [prompt] a first prompt
 * @property {object[]} [mcp_servers]
 *
 * @typedef {object} SessionEvent
 * @property {number} seq from 1, without gaps
 * @property {string} time
 * @property {string} type state, agent, prompt, update, permission, answered, turn, error, stderr, noise or gap
 * @property {Record<string, any>} data
 *
 * @typedef {object} Found an event of a transcript
 * @property {string} session
 * @property {string} cell
 * @property {number} seq
 * @property {string} time
 * @property {string} type
 * @property {string} snippet
 *
 * @typedef {object} ApprovalAnswer
 * @property {'allow' | 'deny'} answer
 * @property {boolean} [always] adds a rule for the same
 *
 * @typedef {object} Version
 * @property {string} version
 * @property {string} api
 * @property {number} pid
 * @property {string} socket
 * @property {string} started
 * @property {number} uptime
 * @property {boolean} activated
 *
 * @typedef {object} HappenedEvent
 * @property {number} seq
 * @property {string} time
 * @property {string} type
 * @property {string} [cell]
 * @property {Record<string, unknown>} data
 * @typedef {{type: 'gap', from: number, to: number}} GapEvent events that are not kept any more
 * @typedef {HappenedEvent | GapEvent} VivariumEvent
 *
 * @typedef {object} LogEntry
 * @property {string} time
 * @property {'stdout' | 'stderr'} stream
 * @property {number} cursor position in the output after it
 * @property {Buffer} data
 * @property {string} text the same, as UTF-8
 *
 * @typedef {object} Abortable
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} ExecOptions
 * @property {Record<string, string>} [env] on top of the cell's own
 * @property {string} [workdir]
 * @property {string} [user]
 * @property {number} [timeout] seconds, then SIGTERM, then SIGKILL
 *
 * @typedef {object} ExecInput
 * @property {string | Uint8Array} [stdin]
 * @property {number} [maxBuffer] of what is kept of its output; 64 MiB by default
 *
 * @typedef {object} TerminalOptions
 * @property {boolean} [tty]
 * @property {number} [rows]
 * @property {number} [cols]
 *
 * @typedef {object} SpawnOptions
 * @property {boolean} [detachable] the process goes on when this side goes, and can be attached to again
 *
 * @typedef {object} DetachOptions
 * @property {boolean} [stdinOpen] its input stays open, for input() and attach()
 *
 * @typedef {object} Exit
 * @property {number} exitCode 128 + the signal, when one ended it; 124 when its time was up
 * @property {number} [signal]
 * @property {true} [timedOut] its timeout passed
 *
 * @typedef {object} ExecOutput
 * @property {string} stdout
 * @property {string} stderr
 * @property {Buffer} stdoutBytes
 * @property {Buffer} stderrBytes
 * @typedef {Exit & ExecOutput} ExecResult
 *
 * @typedef {object} FileInfo
 * @property {string} [path] in a list
 * @property {string} [path_base64] instead, when that is not UTF-8
 * @property {'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'char_device' | 'block_device' | 'other'} type
 * @property {number} size
 * @property {string} mode permissions in octal digits
 * @property {number} uid
 * @property {number} gid
 * @property {number} nlink
 * @property {number} inode
 * @property {string} mtime
 * @property {string} ctime
 * @property {string} [target] of a symlink
 * @property {string} [target_base64]
 *
 * @typedef {object} FileError
 * @property {string} [path]
 * @property {string} [path_base64]
 * @property {{code: string, message: string}} error of one that could not be looked at
 * @typedef {FileInfo | FileError} FileEntry
 *
 * @typedef {object} DiffOptions
 * @property {string} [snapshot] of the cell
 * @property {string} [to] another cell of the same image
 * @property {string} [toSnapshot] of that one, or of the same cell
 *
 * @typedef {object} Change
 * @property {'A' | 'C' | 'D'} kind added, changed, deleted
 * @property {string} [path]
 * @property {string} [path_base64] instead, when that is not UTF-8
 *
 * @typedef {object} ImportOptions
 * @property {string} [tag]
 * @property {'auto' | 'dir' | 'tar' | 'oci' | 'docker' | 'nix'} [format]
 * @property {string} [ref] one of several container images
 * @property {string} [command] of an image that has none
 * @property {string} [owner] UID or UID:GID of all files
 * @property {number} [maxSize] bytes of content
 * @property {number} [maxEntries] files
 *
 * @typedef {object} ImageMade
 * @property {string} id
 * @property {string} [tag]
 * @property {string[]} [warnings]
 *
 * @typedef {object} ImageCheck
 * @property {number} images
 * @property {number} objects
 * @property {number} damaged
 * @property {number} repaired
 * @property {string[]} problems
 * @property {string[]} [repairs]
 *
 * @typedef {object} Collected
 * @property {number} images
 * @property {number} objects
 * @property {number} bytes
 * @property {number} abandoned
 *
 * @typedef {object} Pruned
 * @property {string[]} cells
 * @property {string[]} images
 * @property {string[]} files
 * @property {boolean} removed
 *
 * @typedef {object} PolicyQuestion one of connect, file, exec and env
 * @property {string} [connect] https://HOST[:PORT]/PATH, HOST:PORT or udp://HOST:PORT
 * @property {string} [method] of the request to a URL; GET if absent
 * @property {string} [program] path of the program that connects
 * @property {string} [file] absolute path
 * @property {string} [access] of read, write, create and delete, separated by commas; read if absent
 * @property {string} [exec] absolute path of a program
 * @property {string} [env] name of a variable
 *
 * @typedef {object} PolicyAnswer
 * @property {'allow' | 'deny' | 'ask'} verdict
 * @property {string} [rule] that decides; absent if none matches
 * @property {string} [origin] where it is from: a line of the policy, or a preset
 * @property {true} [audit] only an audit rule allows it
 * @property {string} [note] what else counts
 *
 * @typedef {object} PolicyLearnt
 * @property {string[]} rules
 * @property {string[]} looked_up names that were looked up, but never connected to
 * @property {boolean} complete false: the cell used more than is recorded
 */
export {};
