/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type CellState = 'created' | 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'sleeping' | 'failed';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type EndReason = 'exited' | 'asked' | 'timeout' | 'idle' | 'memory' | 'failed' | 'lost' | 'unhealthy';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Limits = {
    /**
     * processors that the cell may use and sees
     */
    cpus?: number;
    /**
     * memory that the cell may use and sees, in bytes
     */
    memory?: number;
    /**
     * processes and threads that may exist at the same time
     */
    pids?: number;
    /**
     * bytes that the cell may keep in its own files, in bytes
     */
    disk?: number;
    /**
     * files that the cell may create
     */
    inodes?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Mount = {
    /**
     * directory or regular file of the host, by its absolute path, or s3://BUCKET/PREFIX
     */
    source?: string;
    /**
     * of a directory of the host: a path below it that is mounted instead; links are not followed
     */
    subpath?: string;
    /**
     * name of a volume
     */
    volume?: string;
    /**
     * an empty file system in memory
     */
    tmpfs?: boolean;
    /**
     * absolute path in the cell
     */
    target: string;
    /**
     * the cell cannot write to it
     */
    readonly?: boolean;
    /**
     * fail if a part of target is a symbolic link in the cell
     */
    nofollow?: boolean;
    /**
     * of a tmpfs: the bytes that it can hold, in bytes
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
     * command that sh runs in the cell again and again; the cell is healthy while it exits with 0
     */
    command: string[];
    /**
     * time from the end of one health check to the next (default: 30), in seconds
     */
    interval?: number;
    /**
     * a health check that takes longer is killed and has failed (default: 30), in seconds
     */
    timeout?: number;
    /**
     * time after the start in which failures do not count until a check has passed (default: 0), in seconds
     */
    start_period?: number;
    /**
     * failures in a row that make the cell unhealthy (default: 3)
     */
    retries?: number;
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
    /**
     * root file system: an image of the store, or 'host' (the default), which shows the host's /usr, /bin and /lib
     */
    image?: string;
    /**
     * remove the cell and its files when it ends (always so without a name)
     */
    auto_remove?: boolean;
    /**
     * run this program instead of the image's entry point; empty: none
     */
    entrypoint?: string;
    limits?: Limits;
    /**
     * connections to and from the outside that the cell may have at the same time
     */
    max_connections?: number;
    /**
     * bytes that the cell may receive from the outside while it runs, in bytes
     */
    max_net_in?: number;
    /**
     * bytes that the cell may send to the outside while it runs, in bytes
     */
    max_net_out?: number;
    /**
     * bytes that the cell may receive and may send each second, in bytes
     */
    max_net_rate?: number;
    /**
     * end the cell after this time, 10s or 5m; the exit status is 124, in seconds
     */
    timeout?: number;
    /**
     * set an environment variable; a name alone passes the host's value on
     */
    env?: Record<string, string>;
    /**
     * directory that the command starts in (default: the image's, or /)
     */
    workdir?: string;
    /**
     * user of the image (of 'host': root, agent or nobody), UID or UID:GID
     */
    user?: string;
    /**
     * a further group of the cell's processes: a name of its /etc/group, or a number
     */
    group_add?: string[];
    /**
     * limit of each process, such as nofile=1024:4096 or core=0; -1 is unlimited
     */
    ulimits?: Record<string, string>;
    /**
     * the cell cannot write to its root file system, only to mounts, volumes, --tmpfs, /dev and /dev/shm
     */
    read_only?: boolean;
    /**
     * show a host directory or file, or s3://BUCKET/PREFIX, at DST; also in docker's form: type=bind,source=SRC,target=DST
     */
    mounts?: Mount[];
    /**
     * server of s3:// mounts (default: AWS_ENDPOINT_URL, or Amazon's)
     */
    s3_endpoint?: string;
    /**
     * host name of the cell (default: cell)
     */
    hostname?: string;
    /**
     * let programs on the host reach a port of the cell; ADDR is 127.0.0.1 unless given, HOSTPORT 0 any free port; /udp may follow
     */
    ports?: string[];
    /**
     * give a name an address, in /etc/hosts and in the cell's resolver; rules still decide what the cell may reach
     */
    add_host?: string[];
    /**
     * ask this DNS server for the cell instead of the host's
     */
    dns?: string[];
    /**
     * domain that the cell adds to short names; the host's own are not passed on
     */
    dns_search?: string[];
    /**
     * give the cell the use of a secret ('viv secret set'); programs see a placeholder in its variable, and its hosts get the value
     */
    secrets?: string[];
    /**
     * give the cell a tool of the host ('viv tool add'), which is a command there
     */
    tools?: string[];
    /**
     * program in the cell that runs WebAssembly modules (default: node's WASI)
     */
    binfmt_wasm?: string;
    /**
     * keep the command's input open (in the foreground it always reads viv's)
     */
    stdin_open?: boolean;
    /**
     * give the command a terminal, or fail without one
     */
    tty?: boolean;
    /**
     * how calls avoid a switch to the kernel: on (the default), off, check, eager or detach
     */
    fast?: 'on' | 'off' | 'check' | 'eager' | 'detach';
    /**
     * what the cell's journal records: off, changes, or all, which includes the files that are read (default: off)
     */
    journal?: 'off' | 'changes' | 'all';
    /**
     * what the cell does when its journal cannot be written, as the disk is full or --journal-max is reached: wait (the default), or continue, and the journal has a hole
     */
    journal_full?: 'wait' | 'continue';
    /**
     * how large the cell's journal may become on disk; then --journal-full decides (default: no limit), in bytes
     */
    journal_max?: number;
    /**
     * a label, for 'viv ps --filter'
     */
    labels?: Record<string, string>;
    /**
     * no, on-failure, on-failure:N, always or unless-stopped (the same as always)
     */
    restart?: Restart;
    /**
     * time between SIGTERM and SIGKILL when the cell is stopped (default: 10), in seconds
     */
    stop_grace?: number;
    /**
     * signal that asks the command to end when the cell is stopped (default: the image's, or TERM)
     */
    stop_signal?: string;
    /**
     * stop the cell after this time without a process in it, in seconds
     */
    idle_timeout?: number;
    /**
     * let the cell, which needs a name, sleep when nobody has used it for this time; 0: never (default: 15m without a command, else 0), in seconds
     */
    sleep_after?: number;
    health?: HealthSpec;
    /**
     * first process of the cell, with which the cell ends. Absent: none, and the cell runs until it is stopped. Empty: the image's own command
     */
    command?: string[];
    /**
     * rules of what the cell may reach and do, one in each string; the last that matches decides
     */
    policy?: string[];
    /**
     * variables of env whose values are never shown
     */
    hidden_env?: string[];
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
        /**
         * processors that the cell may use and sees
         */
        cpus?: number | null;
        /**
         * memory that the cell may use and sees, in bytes
         */
        memory?: number | null;
        /**
         * processes and threads that may exist at the same time
         */
        pids?: number | null;
        /**
         * bytes that the cell may keep in its own files, in bytes
         */
        disk?: number | null;
        /**
         * files that the cell may create
         */
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
    sleep_after?: number | null;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ErrorObject = {
    code: string;
    message: string;
    cause?: string;
    remedy?: string;
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
    /**
     * the id of the cell that made it from inside
     */
    parent?: string;
    /**
     * ids of the cells that it has made; not in lists
     */
    children?: string[];
    /**
     * what its children have of its limits
     */
    reserved?: Record<string, number>;
    foreground?: boolean;
    pid?: number;
    exit_code?: number;
    reason?: EndReason;
    /**
     * why it failed, in one line
     */
    detail?: string;
    /**
     * the same, in its parts
     */
    error?: ErrorObject;
    /**
     * why the space that only a removed snapshot needed was not freed
     */
    unmerged?: ErrorObject;
    /**
     * of its first process, while it runs
     */
    command?: string;
    /**
     * of the host, that lead into the cell
     */
    ports?: {
        address: string;
        host_port: number;
        cell_port: number;
        protocol: 'tcp' | 'udp';
    }[];
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
export type VolumeDetails = {
    name: string;
    created: string;
    disk: string;
    in_use: boolean;
    size: number;
    cells: string[];
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type DiskUsageKind = {
    count: number;
    size: number;
    reclaimable: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type DiskUsage = {
    cells: DiskUsageKind;
    snapshots: DiskUsageKind;
    images: DiskUsageKind;
    volumes: DiskUsageKind;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type VolumesPruned = {
    volumes: {
        name: string;
        size: number;
    }[];
    size: number;
    removed: boolean;
};
/**
 * a new one needs hosts, unless its name is well known, and one of value, file and command
 */
export type SecretSpec = {
    /**
     * never returned
     */
    value?: string;
    /**
     * the variable that the value was read from
     */
    value_from?: string;
    /**
     * on vivd's host
     */
    file?: string;
    /**
     * for /bin/sh on vivd's host
     */
    command?: string;
    /**
     * 'HOST[:PORT]' or '*.HOST[:PORT]'
     */
    hosts?: string[];
    /**
     * 'header NAME', 'bearer', 'basic [USER]', 'query NAME', 'anywhere', 'body'
     */
    places?: string[];
    /**
     * the variable that holds the placeholder
     */
    env?: string;
    /**
     * of the placeholder
     */
    prefix?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Secret = {
    name: string;
    env?: string;
    placeholder?: string;
    hosts?: string[];
    places?: string[];
    source?: 'value' | 'env' | 'file' | 'command';
    from?: string;
    changed?: string;
    /**
     * why it cannot be read
     */
    error?: ErrorObject;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Scope = 'admin' | 'cell' | 'read';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type PreviewSpec = {
    /**
     * of the cell
     */
    port: number;
    /**
     * seconds; 3600 without it
     */
    expires_in?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Preview = {
    id: string;
    cell: string;
    port: number;
    created: string;
    expires: string;
    /**
     * for browsers, with its token
     */
    url?: string;
    /**
     * the same for programs that do not resolve *.localhost
     */
    path_url?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type FetchOptions = {
    method?: string;
    headers?: Record<string, string>;
    body?: string | Uint8Array;
    /**
     * seconds until the whole response must be there; 30 without it
     */
    timeout?: number;
};
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
 * a call of a cell that waits, or waited, for an answer
 */
export type Approval = {
    id: number;
    cell: string;
    state: 'pending' | 'allowed' | 'denied' | 'withdrawn';
    created: string;
    answered?: string;
    by?: string;
    scope: 'net' | 'files' | 'exec' | 'agent' | 'tools' | 'workflow';
    action?: string;
    access?: ('read' | 'write' | 'create' | 'delete')[];
    path?: string;
    to?: string;
    program?: string;
    pid?: number;
    rule?: string;
    name?: string;
    address?: string;
    port?: number;
    protocol?: string;
    method?: string;
    /**
     * of an agent's question, as what follows
     */
    session?: string;
    title?: string;
    tool_call?: Record<string, any>;
    options?: {
        id: string;
        name: string;
        kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
    }[];
    /**
     * of a workflow's question, as what follows
     */
    workflow?: string;
    workflow_run?: string;
    text?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type WorkflowStep = {
    /**
     * its path: deploy/3/push
     */
    step: string;
    kind: 'run' | 'prompt' | 'cell' | 'approve' | 'sleep' | 'workflow' | 'parallel' | 'foreach' | 'if' | 'steps' | 'rollback' | 'code';
    state: 'ready' | 'running' | 'retry' | 'done' | 'skipped' | 'failed' | 'cancelled';
    attempt: number;
    started: string | null;
    ended: string | null;
    due?: string;
    cell?: string;
    approval?: number;
    session?: string;
    output?: any;
    exit_code?: number;
    stderr?: string;
    truncated?: boolean;
    error?: ErrorObject;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type WorkflowRun = {
    id: string;
    name: string;
    kind: 'file' | 'code';
    by: string;
    state: 'running' | 'rollback' | 'done' | 'failed' | 'cancelled';
    rolled_back: boolean;
    created: string | null;
    ended: string | null;
    inputs?: Record<string, any>;
    output?: any;
    error?: ErrorObject;
    steps?: WorkflowStep[];
};
/**
 * waiting: a question of the agent is open
 */
export type SessionState = 'starting' | 'idle' | 'running' | 'waiting' | 'closed' | 'failed';
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Choice = {
    id: string;
    name: string;
};
/**
 * what a schedule has besides its time: command with cell, prompt with session, run, or workflow
 */
export type ScheduleAction = {
    name: string;
    /**
     * five fields, or a name such as `@daily`
     */
    schedule?: string;
    /**
     * once, at this time
     */
    at?: string;
    /**
     * Europe/Oslo; absent: the host's
     */
    tz?: string;
    cell?: string;
    command?: string[];
    env?: Record<string, string>;
    workdir?: string;
    user?: string;
    session?: string;
    prompt?: string;
    /**
     * a cell that each run makes
     */
    run?: CellSpec;
    /**
     * a workflow file that each run runs
     */
    workflow?: {
        yaml: string;
        file?: string;
        dir?: string;
        inputs?: object;
        arguments?: Record<string, string>;
    };
    overlap?: 'skip' | 'allow' | 'queue';
    /**
     * with overlap queue: how many may wait
     */
    queue?: number;
    /**
     * runs for times that were missed
     */
    catch_up?: 'none' | 'one' | 'all';
    /**
     * seconds
     */
    jitter?: number;
    /**
     * seconds
     */
    timeout?: number;
    /**
     * runs that are kept
     */
    history?: number;
};
/**
 * in: once, after so many seconds
 */
export type ScheduleSpec = ScheduleAction & {
    in?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Schedule = ScheduleAction & ScheduleState;
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ScheduleState = {
    cell_name?: string;
    state: 'active' | 'paused' | 'finished';
    created: string;
    /**
     * its next time, before jitter
     */
    next?: string;
    /**
     * times that became a run
     */
    fired: number;
    /**
     * times that did not
     */
    skipped: number;
    queued: number;
    running: number;
    last_run?: ScheduleRun;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ScheduleRun = {
    /**
     * its number
     */
    run: number;
    state: 'queued' | 'starting' | 'running' | 'done' | 'failed';
    reason: 'manual' | 'time' | 'late' | 'boot';
    due: string;
    fired: string;
    started?: string;
    ended?: string;
    exit_code?: number;
    timed_out?: boolean;
    error?: ErrorObject;
    /**
     * the end of it
     */
    output?: string;
    /**
     * the same, if it is not UTF-8
     */
    output_base64?: string;
};
/**
 * an agent in a cell
 */
export type SessionInfo = {
    id: string;
    /**
     * id
     */
    cell: string;
    agent: string | null;
    command: string[];
    title: string | null;
    state: SessionState;
    created: string;
    updated: string;
    mode?: string | null;
    modes?: Choice[];
    model?: string | null;
    models?: Choice[];
    /**
     * as the agent described them
     */
    config_options?: object[];
    /**
     * prompts that wait
     */
    queue: number;
    /**
     * number of its last event
     */
    last_seq: number;
    usage?: Record<string, any>;
    error?: ErrorObject;
};
/**
 * either agent or command
 */
export type SessionSpec = {
    /**
     * a known agent
     */
    agent?: string;
    /**
     * a program that speaks ACP
     */
    command?: string[];
    workdir?: string;
    env?: Record<string, string>;
    user?: string;
    mode?: string;
    model?: string;
    /**
     * false: the agent is told nothing about its computer
     */
    system_prompt?: boolean;
    /**
     * added to that
     */
    append_prompt?: string;
    /**
     * a first prompt
     */
    prompt?: string;
    mcp_servers?: object[];
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type SessionEvent = {
    /**
     * from 1, without gaps
     */
    seq: number;
    time: string;
    /**
     * state, agent, prompt, update, permission, answered, turn, error, stderr, noise or gap
     */
    type: string;
    data: Record<string, any>;
};
/**
 * an event of a transcript
 */
export type Found = {
    session: string;
    cell: string;
    seq: number;
    time: string;
    type: string;
    snippet: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ApprovalAnswer = {
    answer: 'allow' | 'deny';
    /**
     * adds a rule for the same
     */
    always?: boolean;
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
    /**
     * position in the output after it
     */
    cursor: number;
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
export type SpawnOptions = {
    /**
     * the process goes on when this side goes, and can be attached to again
     */
    detachable?: boolean;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type DetachOptions = {
    /**
     * its input stays open, for input() and attach()
     */
    stdinOpen?: boolean;
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
     * instead, when that is not UTF-8
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
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type DiffOptions = {
    /**
     * of the cell
     */
    snapshot?: string;
    /**
     * another cell of the same image
     */
    to?: string;
    /**
     * of that one, or of the same cell
     */
    toSnapshot?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Change = {
    /**
     * added, changed, deleted
     */
    kind: 'A' | 'C' | 'D';
    path?: string;
    /**
     * instead, when that is not UTF-8
     */
    path_base64?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ImportOptions = {
    tag?: string;
    format?: 'auto' | 'dir' | 'tar' | 'oci' | 'docker' | 'nix';
    /**
     * one of several container images
     */
    ref?: string;
    /**
     * of an image that has none
     */
    command?: string;
    /**
     * UID or UID:GID of all files
     */
    owner?: string;
    /**
     * bytes of content
     */
    maxSize?: number;
    /**
     * files
     */
    maxEntries?: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ImageMade = {
    id: string;
    tag?: string;
    warnings?: string[];
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type ImageCheck = {
    images: number;
    objects: number;
    damaged: number;
    repaired: number;
    problems: string[];
    repairs?: string[];
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Collected = {
    images: number;
    objects: number;
    bytes: number;
    abandoned: number;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type Pruned = {
    cells: string[];
    images: string[];
    files: string[];
    removed: boolean;
};
/**
 * one of connect, file, exec and env
 */
export type PolicyQuestion = {
    /**
     * https://HOST[:PORT]/PATH, HOST:PORT or udp://HOST:PORT
     */
    connect?: string;
    /**
     * of the request to a URL; GET if absent
     */
    method?: string;
    /**
     * path of the program that connects
     */
    program?: string;
    /**
     * absolute path
     */
    file?: string;
    /**
     * of read, write, create and delete, separated by commas; read if absent
     */
    access?: string;
    /**
     * absolute path of a program
     */
    exec?: string;
    /**
     * name of a variable
     */
    env?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type PolicyAnswer = {
    verdict: 'allow' | 'deny' | 'ask';
    /**
     * that decides; absent if none matches
     */
    rule?: string;
    /**
     * where it is from: a line of the policy, or a preset
     */
    origin?: string;
    /**
     * only an audit rule allows it
     */
    audit?: true;
    /**
     * what else counts
     */
    note?: string;
};
/**
 * What the API sends and takes, by the names of its document (GET /v1/openapi.json).
 */
export type PolicyLearnt = {
    rules: string[];
    /**
     * names that were looked up, but never connected to
     */
    looked_up: string[];
    /**
     * false: the cell used more than is recorded
     */
    complete: boolean;
};
