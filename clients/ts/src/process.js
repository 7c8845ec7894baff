// A process in a cell, attached over a WebSocket: its streams, both ways, with back-pressure.
import os from 'node:os';
import { Readable, Writable } from 'node:stream';
import { errorFrom, VivariumError } from './errors.js';
import { webSocketOpen } from './websocket.js';

/** @typedef {import('./types.js').Exit} Exit */
/** @typedef {keyof typeof os.constants.signals} SignalName */

const PIECE = 1 << 16;

/**
 * A signal's number.
 * @param {SignalName | number} signal
 */
export function signalNumber(signal) {
	const n = typeof signal === 'number' ? signal : os.constants.signals[signal];
	if (!Number.isInteger(n) || n < 1 || n > 64)
		throw new TypeError(`not a signal: ${signal}`);
	return n;
}

/**
 * How a process ended, as the API says it.
 * @param {Record<string, any>} o
 * @returns {Exit}
 */
export function exitOf(o) {
	return {
		exitCode: o.exit_code,
		...(o.signal === undefined ? {} : { signal: o.signal }),
		...(o.timed_out === undefined ? {} : { timedOut: o.timed_out }),
	};
}

/**
 * Starts one, or attaches to one; resolves when it runs.
 * @param {import('./http.js').Transport} transport
 * @param {string} at
 * @param {Record<string, unknown> | undefined} spec undefined: at is that of a process that is there
 * @param {AbortSignal} [signal] hangs up on it
 */
export async function processStart(transport, at, spec, signal) {
	signal?.throwIfAborted();
	const ws = await webSocketOpen(transport, at, 'vivarium.exec.v1', signal);
	const p = new Process(ws, spec?.tty === true);
	const abort = () => p.hangUp(signal?.reason);
	signal?.addEventListener('abort', abort, { once: true });
	p.exit.catch(() => {}).finally(() => signal?.removeEventListener('abort', abort));
	if (spec)
		ws.sendObject(spec);
	await p.started;
	return p;
}

/**
 * One that runs. Both of its outputs come over one connection: one that nobody reads holds up the other one as well, and in the end the
 * process. `resume()` what is not wanted.
 */
export class Process {
	/** Its number in the cell; 0: not known yet. */
	proc = 0;
	/** What the cell itself calls it. */
	pid = 0;
	/** Position after the output that came so far, for attach(). */
	cursor = 0;
	/** Bytes of its output that this side was too slow for. */
	dropped = 0;
	#ws;
	#over = false;
	/** Streams that take no more at the moment. @type {Set<Readable>} */
	#full = new Set();
	/** @type {(e?: Error) => void} */
	#settleStart = () => {};
	/** @type {(e: Error | undefined, x?: Exit) => void} */
	#settleExit = () => {};

	/**
	 * @param {import('./websocket.js').WebSocketConnection} ws
	 * @param {boolean} tty
	 */
	constructor(ws, tty) {
		this.#ws = ws;
		/** Whether it has a terminal: then all of its output is in stdout. */
		this.tty = tty;
		/** @type {Promise<void>} */
		this.started = new Promise((resolve, reject) => {
			this.#settleStart = (e) => (e ? reject(e) : resolve());
		});
		/** How it ended; rejects when the connection was lost before. @type {Promise<Exit>} */
		this.exit = new Promise((resolve, reject) => {
			this.#settleExit = (e, x) => (e ? reject(e) : resolve(/** @type {Exit} */ (x)));
		});
		// Who does not look at them need not deal with their errors.
		this.started.catch(() => {});
		this.exit.catch(() => {});
		this.stdout = new Readable({ read: () => this.#flow(this.stdout) });
		this.stderr = new Readable({ read: () => this.#flow(this.stderr) });
		this.stdin = new Writable({
			highWaterMark: 4 * PIECE,
			write: (chunk, _encoding, done) => this.#write(chunk, done),
			final: (done) => {
				if (!this.#over)
					ws.sendObject({ type: 'stdin_close' });
				done();
			},
		});
		// A stream that is destroyed is not waited for.
		this.stdout.on('close', () => this.#flow(this.stdout));
		this.stderr.on('close', () => this.#flow(this.stderr));
		ws.start({
			text: (text) => this.#told(JSON.parse(text)),
			binary: (data) => this.#output(data),
			closed: (code) => this.#lost(new VivariumError({
				code: 'connection_lost', message: `the connection to the process was closed (${code})`,
			})),
		});
	}

	/**
	 * Sends a signal, by default to the process alone; group: to its process group, or the foreground group of its terminal.
	 * @param {SignalName | number} [signal]
	 * @param {{group?: boolean}} [options]
	 */
	kill(signal = 'SIGTERM', options = {}) {
		const o = { type: 'signal', signal: signalNumber(signal), group: options.group === true };
		if (!this.#over)
			this.#ws.sendObject(o);
	}

	/**
	 * A new size for its terminal.
	 * @param {number} rows
	 * @param {number} cols
	 */
	resize(rows, cols) {
		if (!this.#over)
			this.#ws.sendObject({ type: 'resize', rows, cols });
	}

	/**
	 * Goes away: the process gets SIGHUP, unless it is detachable or was attached to.
	 * @param {unknown} [reason]
	 */
	hangUp(reason) {
		this.#lost(reason instanceof Error ? reason : new VivariumError({ code: 'hung_up', message: 'this side hung up' }));
		this.#ws.destroy();
	}

	/**
	 * @param {Buffer} chunk
	 * @param {(e?: Error | null) => void} done
	 */
	#write(chunk, done) {
		/** @param {number} from */
		const next = (from) => {
			if (from >= chunk.length || this.#over) {
				done();
				return;
			}
			this.#ws.sendBytes(0, chunk.subarray(from, from + PIECE), (e) => (e ? done(this.#over ? null : e) : next(from + PIECE)));
		};
		next(0);
	}

	/**
	 * The stream has room; reads on when both have.
	 * @param {Readable} stream
	 */
	#flow(stream) {
		this.#full.delete(stream);
		if (this.#full.size === 0)
			this.#ws.socket.resume();
	}

	/** @param {Buffer} data */
	#output(data) {
		const stream = data[0] === 2 ? this.stderr : this.stdout;
		this.cursor += data.length - 1;
		if (!stream.destroyed && !stream.push(data.subarray(1))) {
			this.#full.add(stream);
			this.#ws.socket.pause();
		}
	}

	/** @param {{type: string} & Record<string, any>} o */
	#told(o) {
		if (o.type === 'started' || o.type === 'attached') {
			this.proc = o.proc;
			this.pid = o.pid;
			this.cursor = o.cursor ?? 0;
			this.tty = o.tty ?? this.tty;
			this.#settleStart();
		} else if (o.type === 'exit') {
			this.#end(undefined, exitOf(o));
		} else if (o.type === 'error') {
			this.#lost(errorFrom(o.status, JSON.stringify(o)));
		} else if (o.type === 'dropped') {
			this.dropped += o.bytes;
			this.cursor = o.cursor;
		} else if (o.type === 'stdin_closed') {
			this.stdin.destroy();
		}
	}

	/** @param {Error} e */
	#lost(e) {
		this.#settleStart(e);
		this.#end(e);
	}

	/**
	 * @param {Error | undefined} e
	 * @param {Exit} [x]
	 */
	#end(e, x) {
		if (this.#over)
			return;
		this.#over = true;
		for (const stream of [this.stdout, this.stderr])
			if (!stream.destroyed)
				stream.push(null);
		this.stdin.destroy();
		this.#settleExit(e, x);
	}
}
