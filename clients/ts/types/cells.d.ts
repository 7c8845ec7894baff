export class Cells {
    /** @param {Transport} transport */
    constructor(transport: Transport);
    /**
     * Makes a cell; with `start`, one that runs.
     * @param {import('./types.js').CellCreate} [spec]
     * @param {Abortable & {idempotencyKey?: string}} [o] with the same key, the same request gets the first answer again
     */
    create(spec?: import("./types.js").CellCreate | undefined, o?: (import("./types.js").Abortable & {
        idempotencyKey?: string;
    }) | undefined): Promise<Cell>;
    /**
     * By id, name, or the beginning of an id.
     * @param {string} id
     * @param {Abortable} [o]
     */
    get(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /**
     * @param {Abortable & {state?: import('./types.js').CellState, label?: string, name?: string}} [o] label: KEY or KEY=VALUE
     */
    list(o?: (import("./types.js").Abortable & {
        state?: import('./types.js').CellState;
        label?: string;
        name?: string;
    }) | undefined): Promise<Cell[]>;
    /**
     * A part of list(), in the order of ids; next is the cursor of the next one, unless this was the last.
     * @param {Abortable & {state?: import('./types.js').CellState, label?: string, name?: string, limit?: number, cursor?: string}} [o]
     */
    page(o?: (import("./types.js").Abortable & {
        state?: import('./types.js').CellState;
        label?: string;
        name?: string;
        limit?: number;
        cursor?: string;
    }) | undefined): Promise<{
        cells: Cell[];
        next: string | undefined;
    }>;
    /** @param {string} id @param {Abortable} [o] */
    start(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** @param {string} id @param {Abortable & {grace?: number}} [o] grace: seconds between SIGTERM and SIGKILL */
    stop(id: string, o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<Cell>;
    /**
     * Lets a named cell sleep until somebody uses it. freeze: its processes go on when it wakes.
     * @param {string} id @param {Abortable & {grace?: number, freeze?: boolean}} [o]
     */
    sleep(id: string, o?: (import("./types.js").Abortable & {
        grace?: number;
        freeze?: boolean;
    }) | undefined): Promise<Cell>;
    /** Starts a cell that sleeps. @param {string} id @param {Abortable} [o] */
    wake(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** @param {string} id @param {Abortable} [o] */
    pause(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** @param {string} id @param {Abortable} [o] */
    resume(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** @param {string} id @param {Abortable & {grace?: number}} [o] */
    restart(id: string, o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<Cell>;
    /**
     * Sets its files back. One that runs is stopped for it, and started again if vivd started it.
     * @param {string} id
     * @param {string} snapshot
     * @param {Abortable & {grace?: number}} [o]
     */
    rollback(id: string, snapshot: string, o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<Cell>;
    /**
     * Makes a cell with the files of another one.
     * @param {string} id
     * @param {string} name of the new one
     * @param {Abortable & {snapshot?: string}} [o] snapshot: its files at that time
     */
    fork(id: string, name: string, o?: (import("./types.js").Abortable & {
        snapshot?: string;
    }) | undefined): Promise<Cell>;
    /** @param {string} id @param {string} name @param {Abortable} [o] */
    rename(id: string, name: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** Limits and settings, while it runs or not: what is named is set, null takes it away. @param {string} id @param {CellPatch} change @param {Abortable} [o] */
    update(id: string, change: CellPatch, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    /** @param {string} id @param {Abortable & {force?: boolean}} [o] force: one that runs, too */
    remove(id: string, o?: (import("./types.js").Abortable & {
        force?: boolean;
    }) | undefined): Promise<void>;
    /**
     * When it has ended.
     * @param {string} id
     * @param {Abortable} [o]
     */
    wait(id: string, o?: import("./types.js").Abortable | undefined): Promise<Cell>;
    #private;
}
export class Cell {
    /**
     * @param {Transport} transport
     * @param {Cells} cells
     * @param {CellInfo} info
     */
    constructor(transport: Transport, cells: Cells, info: CellInfo);
    /** As it was when it was asked for last. */
    info: import("./types.js").CellInfo;
    snapshots: Snapshots;
    files: Files;
    get id(): string;
    get name(): string | undefined;
    get state(): import("./types.js").CellState;
    /** @param {Abortable} [o] */
    refresh(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable} [o] */
    start(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable & {grace?: number}} [o] */
    stop(o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<this>;
    /** Lets it sleep until somebody uses it. @param {Abortable & {grace?: number, freeze?: boolean}} [o] */
    sleep(o?: (import("./types.js").Abortable & {
        grace?: number;
        freeze?: boolean;
    }) | undefined): Promise<this>;
    /** Starts it if it sleeps. @param {Abortable} [o] */
    wake(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable} [o] */
    pause(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable} [o] */
    resume(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable & {grace?: number}} [o] */
    restart(o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<this>;
    /** @param {string} snapshot @param {Abortable & {grace?: number}} [o] */
    rollback(snapshot: string, o?: (import("./types.js").Abortable & {
        grace?: number;
    }) | undefined): Promise<this>;
    /** A new cell with its files. @param {string} name @param {Abortable & {snapshot?: string}} [o] */
    fork(name: string, o?: (import("./types.js").Abortable & {
        snapshot?: string;
    }) | undefined): Promise<Cell>;
    /**
     * What it changed, path by path: since its image, since `snapshot`, or compared with another cell or snapshot.
     * @param {Abortable & import('./types.js').DiffOptions} [o]
     * @returns {AsyncGenerator<import('./types.js').Change, void, void>}
     */
    diff(o?: (import("./types.js").Abortable & import("./types.js").DiffOptions) | undefined): AsyncGenerator<import('./types.js').Change, void, void>;
    /** The same as a patch in git's form. @param {Abortable & import('./types.js').DiffOptions} [o] @returns {Promise<string>} */
    patch(o?: (import("./types.js").Abortable & import("./types.js").DiffOptions) | undefined): Promise<string>;
    /** Makes an image of its files. @param {string} tag @param {Abortable & {snapshot?: string}} [o] @returns {Promise<import('./types.js').ImageMade>} */
    commit(tag: string, o?: (import("./types.js").Abortable & {
        snapshot?: string;
    }) | undefined): Promise<import('./types.js').ImageMade>;
    /** Checks its disk. @param {Abortable & {snapshot?: string}} [o] @returns {Promise<{sound: boolean, problems: string[]}>} */
    verify(o?: (import("./types.js").Abortable & {
        snapshot?: string;
    }) | undefined): Promise<{
        sound: boolean;
        problems: string[];
    }>;
    /** @param {CellPatch} change @param {Abortable} [o] */
    update(change: CellPatch, o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** Its rules. @param {Abortable} [o] @returns {Promise<string[]>} */
    policy(o?: import("./types.js").Abortable | undefined): Promise<string[]>;
    /** Replaces its rules, while it runs or not. @param {string[]} rules @param {Abortable} [o] @returns {Promise<string[]>} those in force */
    setPolicy(rules: string[], o?: import("./types.js").Abortable | undefined): Promise<string[]>;
    /** Adds rules behind its own. @param {string[]} rules @param {Abortable} [o] @returns {Promise<string[]>} those in force */
    addPolicy(rules: string[], o?: import("./types.js").Abortable | undefined): Promise<string[]>;
    /**
     * What its rules would decide.
     * @param {import('./types.js').PolicyQuestion} question one of connect, file, exec and env
     * @param {Abortable} [o]
     * @returns {Promise<import('./types.js').PolicyAnswer>}
     */
    checkPolicy(question: import('./types.js').PolicyQuestion, o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').PolicyAnswer>;
    /** The smallest policy that covers what it has used. @param {Abortable} [o] @returns {Promise<import('./types.js').PolicyLearnt>} */
    learnPolicy(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').PolicyLearnt>;
    /** Begins a new record of what it uses. @param {Abortable} [o] */
    forgetPolicy(o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** @param {string} name @param {Abortable} [o] */
    rename(name: string, o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable} [o] */
    wait(o?: import("./types.js").Abortable | undefined): Promise<this>;
    /** @param {Abortable & {force?: boolean}} [o] */
    remove(o?: (import("./types.js").Abortable & {
        force?: boolean;
    }) | undefined): Promise<void>;
    /**
     * An address under which browsers of vivd's host reach a port of the cell.
     * @param {number} port
     * @param {Abortable & {expiresIn?: number}} [o] expiresIn: seconds; an hour without it
     * @returns {Promise<import('./types.js').Preview>}
     */
    preview(port: number, o?: (import("./types.js").Abortable & {
        expiresIn?: number;
    }) | undefined): Promise<import('./types.js').Preview>;
    /**
     * A request of HTTP to a program in the cell, whether it has a network or not. The response is that of fetch().
     * @param {number} port
     * @param {string} [path] with its query
     * @param {Abortable & import('./types.js').FetchOptions} [o]
     */
    fetch(port: number, path?: string | undefined, o?: (import("./types.js").Abortable & import("./types.js").FetchOptions) | undefined): Promise<import("../../../../../../tmp/wft/ts/node_modules/undici-types/fetch.js").Response>;
    /** @param {Abortable} [o] @returns {Promise<import('./types.js').Stats>} */
    stats(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Stats>;
    /** @param {Abortable} [o] @returns {Promise<import('./types.js').ProcessInfo[]>} */
    processes(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').ProcessInfo[]>;
    /**
     * Runs a command to its end. A command that fails is a result; only one that cannot be run is an error.
     * @param {Command} command
     * @param {ExecOptions & import('./types.js').ExecInput & Abortable} [o]
     * @returns {Promise<import('./types.js').ExecResult>}
     */
    exec(command: Command, o?: (import("./types.js").ExecOptions & import("./types.js").ExecInput & import("./types.js").Abortable) | undefined): Promise<import('./types.js').ExecResult>;
    /**
     * Starts a process, with streams both ways.
     * @param {Command} command
     * @param {ExecOptions & import('./types.js').TerminalOptions & import('./types.js').SpawnOptions & Abortable} [o] signal hangs up on it, also later
     */
    spawn(command: Command, o?: (import("./types.js").ExecOptions & import("./types.js").TerminalOptions & import("./types.js").SpawnOptions & import("./types.js").Abortable) | undefined): Promise<import("./process.js").Process>;
    /**
     * Attaches to a process that outlives its clients: one of detach(), of spawn() with detachable, or the cell's command (1).
     * @param {number} proc
     * @param {Abortable & {cursor?: number | 'end'}} [o] cursor: where its output begins; by default with the oldest that is kept
     */
    attach(proc: number, o?: (import("./types.js").Abortable & {
        cursor?: number | 'end';
    }) | undefined): Promise<import("./process.js").Process>;
    /**
     * Gives input to a process whose input is open; resolves when it was taken.
     * @param {number} proc
     * @param {string | Uint8Array} data
     * @param {Abortable & {close?: boolean}} [o] close: its input ends after it
     */
    input(proc: number, data: string | Uint8Array, o?: (import("./types.js").Abortable & {
        close?: boolean;
    }) | undefined): Promise<void>;
    /**
     * Starts a process that goes on by itself; its output is in the logs.
     * @param {Command} command
     * @param {ExecOptions & import('./types.js').TerminalOptions & import('./types.js').DetachOptions & Abortable} [o]
     * @returns {Promise<{proc: number, pid: number}>}
     */
    detach(command: Command, o?: (import("./types.js").ExecOptions & import("./types.js").TerminalOptions & import("./types.js").DetachOptions & import("./types.js").Abortable) | undefined): Promise<{
        proc: number;
        pid: number;
    }>;
    /**
     * How a detached process ended, when it has.
     * @param {number} proc
     * @param {Abortable} [o]
     * @returns {Promise<import('./types.js').Exit>}
     */
    waitFor(proc: number, o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Exit>;
    /**
     * Sends a signal to a process.
     * @param {number} proc
     * @param {import('./process.js').SignalName | number} [signal]
     * @param {Abortable & {group?: boolean}} [o]
     */
    signal(proc: number, signal?: number | NodeJS.Signals | undefined, o?: (import("./types.js").Abortable & {
        group?: boolean;
    }) | undefined): Promise<void>;
    /**
     * What a detached process (by default the cell's first) wrote.
     * @param {Abortable & {proc?: number, follow?: boolean, tail?: number, since?: Date, cursor?: number}} [o] tail: lines; cursor: only what follows it
     * @returns {AsyncGenerator<import('./types.js').LogEntry, void, void>}
     */
    logs(o?: (import("./types.js").Abortable & {
        proc?: number;
        follow?: boolean;
        tail?: number;
        since?: Date;
        cursor?: number;
    }) | undefined): AsyncGenerator<import('./types.js').LogEntry, void, void>;
    #private;
}
export class Snapshots {
    /** @param {Transport} transport @param {string} id */
    constructor(transport: Transport, id: string);
    /** @param {Abortable} [o] @returns {Promise<import('./types.js').Snapshot[]>} */
    list(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Snapshot[]>;
    /** @param {string} [name] by default s1, s2, ... @param {Abortable} [o] @returns {Promise<import('./types.js').Snapshot>} */
    create(name?: string | undefined, o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Snapshot>;
    /** @param {string} name @param {Abortable} [o] */
    remove(name: string, o?: import("./types.js").Abortable | undefined): Promise<void>;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type CellInfo = import('./types.js').CellInfo;
export type CellPatch = import('./types.js').CellPatch;
export type ExecOptions = import('./types.js').ExecOptions;
export type Transport = import('./http.js').Transport;
/**
 * a program and its arguments; text is for `sh -c`
 */
export type Command = string | string[];
import { Files } from './files.js';
