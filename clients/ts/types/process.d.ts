/// <reference types="node" resolution-mode="require"/>
/**
 * A signal's number.
 * @param {SignalName | number} signal
 */
export function signalNumber(signal: SignalName | number): number;
/**
 * How a process ended, as the API says it.
 * @param {Record<string, any>} o
 * @returns {Exit}
 */
export function exitOf(o: Record<string, any>): Exit;
/**
 * Starts one, or attaches to one; resolves when it runs.
 * @param {import('./http.js').Transport} transport
 * @param {string} at
 * @param {Record<string, unknown> | undefined} spec undefined: at is that of a process that is there
 * @param {AbortSignal} [signal] hangs up on it
 */
export function processStart(transport: import('./http.js').Transport, at: string, spec: Record<string, unknown> | undefined, signal?: AbortSignal | undefined): Promise<Process>;
/**
 * One that runs. Both of its outputs come over one connection: one that nobody reads holds up the other one as well, and in the end the
 * process. `resume()` what is not wanted.
 */
export class Process {
    /**
     * @param {import('./websocket.js').WebSocketConnection} ws
     * @param {boolean} tty
     */
    constructor(ws: import('./websocket.js').WebSocketConnection, tty: boolean);
    /** Its number in the cell; 0: not known yet. */
    proc: number;
    /** What the cell itself calls it. */
    pid: number;
    /** Position after the output that came so far, for attach(). */
    cursor: number;
    /** Bytes of its output that this side was too slow for. */
    dropped: number;
    /** Whether it has a terminal: then all of its output is in stdout. */
    tty: boolean;
    /** @type {Promise<void>} */
    started: Promise<void>;
    /** How it ended; rejects when the connection was lost before. @type {Promise<Exit>} */
    exit: Promise<Exit>;
    stdout: Readable;
    stderr: Readable;
    stdin: Writable;
    /**
     * Sends a signal, by default to the process alone; group: to its process group, or the foreground group of its terminal.
     * @param {SignalName | number} [signal]
     * @param {{group?: boolean}} [options]
     */
    kill(signal?: number | NodeJS.Signals | undefined, options?: {
        group?: boolean;
    } | undefined): void;
    /**
     * A new size for its terminal.
     * @param {number} rows
     * @param {number} cols
     */
    resize(rows: number, cols: number): void;
    /**
     * Goes away: the process gets SIGHUP, unless it is detachable or was attached to.
     * @param {unknown} [reason]
     */
    hangUp(reason?: unknown): void;
    #private;
}
export type Exit = import('./types.js').Exit;
export type SignalName = keyof typeof os.constants.signals;
import { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import os from 'node:os';
