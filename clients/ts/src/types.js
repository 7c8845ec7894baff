/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 *
 * @typedef {'created' | 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'failed'} CellState
 * @typedef {'exited' | 'asked' | 'timeout' | 'idle' | 'memory' | 'failed' | 'lost' | 'unhealthy'} EndReason
 *
 * @typedef {object} Limits
 * @property {number} [cpus]
 * @property {number} [memory] bytes
 * @property {number} [pids]
 * @property {number} [disk] bytes
 * @property {number} [inodes]
 *
 * @typedef {object} Mount
 * @property {string} target
 * @property {string} [source] a directory of the host, or s3://BUCKET/PREFIX
 * @property {string} [volume]
 * @property {boolean} [tmpfs]
 * @property {boolean} [readonly]
 * @property {number} [size] of a tmpfs, bytes
 *
 * @typedef {object} Restart
 * @property {'no' | 'on-failure' | 'always'} policy
 * @property {number} [max] in a row; 0: no limit
 *
 * @typedef {object} HealthSpec times are in seconds
 * @property {string[]} command run again and again; it is healthy when that exits with 0
 * @property {number} [interval] 30 by default
 * @property {number} [timeout] 30 by default
 * @property {number} [retries] failures in a row that make it unhealthy; 3 by default
 * @property {number} [start_period] in which failures do not count until one check has passed
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
 * @property {string} [image]
 * @property {string[]} [command] absent: the cell waits for execs; empty: the image's own
 * @property {string} [entrypoint]
 * @property {Record<string, string>} [env]
 * @property {string} [workdir]
 * @property {string} [user]
 * @property {string} [hostname]
 * @property {Record<string, string>} [labels]
 * @property {Limits} [limits]
 * @property {Mount[]} [mounts]
 * @property {Restart} [restart]
 * @property {number} [timeout] seconds, then it is killed
 * @property {number} [stop_grace] seconds between SIGTERM and SIGKILL
 * @property {number} [idle_timeout] seconds without a process, then it is stopped
 * @property {HealthSpec} [health]
 * @property {string[]} [secrets] variables of env whose values nobody is told
 * @property {boolean} [tty] the command has a terminal of the cell
 * @property {boolean} [stdin_open] the command's input stays open
 * @property {string} [s3_endpoint] the server of s3:// mounts
 * @property {string} [binfmt_wasm] program of the cell that runs WebAssembly modules
 * @property {'on' | 'off' | 'check' | 'eager' | 'detach'} [fast]
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
 * @property {number} [pid]
 * @property {number} [exit_code]
 * @property {EndReason} [reason]
 * @property {string} [detail]
 * @property {string} [command] of its first process, while it runs
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
 * @typedef {'admin' | 'cell' | 'read'} Scope
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
 * @property {string} [path_base64] instead, when that is no UTF-8
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
 */
export {};
