/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellState = 'created' | 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'failed';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type EndReason = 'exited' | 'asked' | 'timeout' | 'idle' | 'memory' | 'failed' | 'lost' | 'unhealthy';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Limits = {
    cpus?: number;
    /**
     * bytes
     */
    memory?: number;
    pids?: number;
    /**
     * bytes
     */
    disk?: number;
    inodes?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Mount = {
    target: string;
    /**
     * a directory of the host, or s3://BUCKET/PREFIX
     */
    source?: string;
    volume?: string;
    tmpfs?: boolean;
    readonly?: boolean;
    /**
     * of a tmpfs, bytes
     */
    size?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Restart = {
    policy: 'no' | 'on-failure' | 'always';
    /**
     * in a row; 0: no limit
     */
    max?: number;
};
/**
 * times are in seconds
 */
export type HealthSpec = {
    /**
     * run again and again; it is healthy when that exits with 0
     */
    command: string[];
    /**
     * 30 by default
     */
    interval?: number;
    /**
     * 30 by default
     */
    timeout?: number;
    /**
     * failures in a row that make it unhealthy; 3 by default
     */
    retries?: number;
    /**
     * in which failures do not count until one check has passed
     */
    start_period?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Health = {
    status: 'starting' | 'healthy' | 'unhealthy';
    /**
     * in a row
     */
    failures: number;
    /**
     * the end of the last check, of which the rest tells
     */
    checked?: string;
    exit_code?: number;
    timed_out?: boolean;
    output?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellSpec = {
    image?: string;
    /**
     * absent: the cell waits for execs; empty: the image's own
     */
    command?: string[];
    entrypoint?: string;
    env?: Record<string, string>;
    workdir?: string;
    user?: string;
    hostname?: string;
    labels?: Record<string, string>;
    limits?: Limits;
    mounts?: Mount[];
    restart?: Restart;
    /**
     * seconds, then it is killed
     */
    timeout?: number;
    /**
     * seconds between SIGTERM and SIGKILL
     */
    stop_grace?: number;
    /**
     * seconds without a process, then it is stopped
     */
    idle_timeout?: number;
    health?: HealthSpec;
    /**
     * variables of env whose values nobody is told
     */
    secrets?: string[];
    /**
     * the command has a terminal of the cell
     */
    tty?: boolean;
    /**
     * the command's input stays open
     */
    stdin_open?: boolean;
    /**
     * the server of s3:// mounts
     */
    s3_endpoint?: string;
    /**
     * program of the cell that runs WebAssembly modules
     */
    binfmt_wasm?: string;
    fast?: 'on' | 'off' | 'check' | 'eager' | 'detach';
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellCreateOnly = {
    name?: string;
    /**
     * start it at once
     */
    start?: boolean;
    /**
     * a cell of that name is no error but the answer
     */
    get?: boolean;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellCreate = CellSpec & CellCreateOnly;
/**
 * null takes away
 */
export type CellPatch = {
    labels?: Record<string, string | null> | null;
    limits?: {
        cpus?: number | null;
        /**
         * bytes
         */
        memory?: number | null;
        pids?: number | null;
        /**
         * bytes
         */
        disk?: number | null;
        inodes?: number | null;
    } | null;
    restart?: Partial<Restart> | null;
    health?: Partial<HealthSpec> | null;
    /**
     * from its start on
     */
    timeout?: number | null;
    stop_grace?: number | null;
    idle_timeout?: number | null;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellInfo = {
    id: string;
    name?: string;
    state: CellState;
    image: string;
    restarts: number;
    labels: Record<string, string>;
    /**
     * RFC 3339, like all times
     */
    created: string;
    started?: string;
    ended?: string;
    restart_at?: string;
    pid?: number;
    exit_code?: number;
    reason?: EndReason;
    detail?: string;
    /**
     * of its first process, while it runs
     */
    command?: string;
    health?: Health;
    spec: CellSpec;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Stats = {
    time: string;
    cpu_seconds: number;
    /**
     * in use, since the figures were asked for before
     */
    cpus: number;
    /**
     * bytes
     */
    memory: number;
    memory_limit: number;
    /**
     * bytes
     */
    disk: number;
    disk_limit: number;
    inodes: number;
    inodes_limit: number;
    tasks: number;
    tasks_limit: number;
    processes: number;
    system_calls: number;
    /**
     * likewise
     */
    system_calls_per_second: number;
    files: number;
    refused: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ProcessInfo = {
    proc: number;
    pid: number;
    command: string;
    started: string;
    ended: boolean;
    logged: boolean;
    exit_code?: number;
    signal?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Snapshot = {
    name: string;
    layer?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Image = {
    id: string;
    tags: string[];
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Volume = {
    name: string;
    created: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Scope = 'admin' | 'cell' | 'read';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type TokenSpec = {
    scope: Scope;
    cell?: string;
    name?: string;
    /**
     * seconds
     */
    expires_in?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Token = {
    id: string;
    name: string;
    scope: Scope;
    cell?: string;
    created: string;
    expires?: string;
    used?: string;
};
/**
 * the only time that the token itself is seen
 */
export type TokenMade = Token & {
    token: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Version = {
    version: string;
    api: string;
    pid: number;
    socket: string;
    started: string;
    uptime: number;
    activated: boolean;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type HappenedEvent = {
    seq: number;
    time: string;
    type: string;
    cell?: string;
    data: Record<string, unknown>;
};
/**
 * events that are not kept any more
 */
export type GapEvent = {
    type: 'gap';
    from: number;
    to: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type VivariumEvent = HappenedEvent | GapEvent;
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type LogEntry = {
    time: string;
    stream: 'stdout' | 'stderr';
    data: Buffer;
    /**
     * the same, as UTF-8
     */
    text: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Abortable = {
    signal?: AbortSignal;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ExecOptions = {
    /**
     * on top of the cell's own
     */
    env?: Record<string, string>;
    workdir?: string;
    user?: string;
    /**
     * seconds, then SIGTERM, then SIGKILL
     */
    timeout?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ExecInput = {
    stdin?: string | Uint8Array;
    /**
     * of what is kept of its output; 64 MiB by default
     */
    maxBuffer?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type TerminalOptions = {
    tty?: boolean;
    rows?: number;
    cols?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Exit = {
    /**
     * 128 + the signal, when one ended it; 124 when its time was up
     */
    exitCode: number;
    signal?: number;
    /**
     * its timeout passed
     */
    timedOut?: true;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ExecOutput = {
    stdout: string;
    stderr: string;
    stdoutBytes: Buffer;
    stderrBytes: Buffer;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ExecResult = Exit & ExecOutput;
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type FileInfo = {
    /**
     * in a list
     */
    path?: string;
    /**
     * instead, when that is no UTF-8
     */
    path_base64?: string;
    type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'char_device' | 'block_device' | 'other';
    size: number;
    /**
     * permissions in octal digits
     */
    mode: string;
    uid: number;
    gid: number;
    nlink: number;
    inode: number;
    mtime: string;
    ctime: string;
    /**
     * of a symlink
     */
    target?: string;
    target_base64?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type FileError = {
    path?: string;
    path_base64?: string;
    /**
     * of one that could not be looked at
     */
    error: {
        code: string;
        message: string;
    };
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type FileEntry = FileInfo | FileError;
