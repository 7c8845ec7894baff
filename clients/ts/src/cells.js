// Cells, and what can be done with one.
import { VivariumError } from './errors.js';
import { Files } from './files.js';
import { parts } from './http.js';
import { exitOf, processStart, signalNumber } from './process.js';

/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').CellInfo} CellInfo */
/** @typedef {import('./types.js').CellPatch} CellPatch */
/** @typedef {import('./types.js').ExecOptions} ExecOptions */
/** @typedef {import('./http.js').Transport} Transport */
/** @typedef {string | string[]} Command a program and its arguments; text is for `sh -c` */

const MAX_BUFFER = 64 << 20;
const FRAMES = 'application/vnd.vivarium.frames';
const FRAME_HEAD = 8;

/** @param {string} id */
const at = (id) => `/v1/cells/${encodeURIComponent(id)}`;

/** @param {Command} command */
const words = (command) => (typeof command === 'string' ? ['sh', '-c', command] : command);

/**
 * What of the options vivd gets.
 * @param {Command} command
 * @param {ExecOptions & import('./types.js').TerminalOptions & import('./types.js').SpawnOptions} o
 */
function execSpec(command, o) {
	/** @type {Record<string, unknown>} */
	const spec = { command: words(command) };
	for (const key of /** @type {const} */ (['env', 'workdir', 'user', 'timeout', 'tty', 'rows', 'cols', 'detachable']))
		if (o[key] !== undefined)
			spec[key] = o[key];
	return spec;
}

/** @param {import('./types.js').DiffOptions} o */
const diffQuery = (o) => ({ snapshot: o.snapshot, to: o.to, to_snapshot: o.toSnapshot });

export class Cells {
	#transport;

	/** @param {Transport} transport */
	constructor(transport) {
		this.#transport = transport;
	}

	/**
	 * Makes a cell; with `start`, one that runs.
	 * @param {import('./types.js').CellCreate} [spec]
	 * @param {Abortable & {idempotencyKey?: string}} [o] with the same key, the same request gets the first answer again
	 */
	async create(spec = {}, o = {}) {
		const headers = o.idempotencyKey === undefined ? {} : { 'idempotency-key': o.idempotencyKey };
		return this.#cell(await this.#transport.json('POST', '/v1/cells', { body: spec, headers, signal: o.signal }));
	}

	/**
	 * By id, name, or the beginning of an id.
	 * @param {string} id
	 * @param {Abortable} [o]
	 */
	async get(id, o = {}) {
		return this.#cell(await this.#transport.json('GET', at(id), { signal: o.signal }));
	}

	/**
	 * @param {Abortable & {state?: import('./types.js').CellState, label?: string, name?: string}} [o] label: KEY or KEY=VALUE
	 */
	async list(o = {}) {
		const { signal, ...query } = o;
		const answer = await this.#transport.json('GET', '/v1/cells', { query, signal });
		return /** @type {CellInfo[]} */ (answer.cells).map((info) => this.#cell(info));
	}

	/**
	 * A part of list(), in the order of ids; next is the cursor of the next one, unless this was the last.
	 * @param {Abortable & {state?: import('./types.js').CellState, label?: string, name?: string, limit?: number, cursor?: string}} [o]
	 */
	async page(o = {}) {
		const { signal, ...query } = o;
		const answer = await this.#transport.json('GET', '/v1/cells', { query, signal });
		const cells = /** @type {CellInfo[]} */ (answer.cells).map((info) => this.#cell(info));
		return { cells, next: /** @type {string | undefined} */ (answer.next) };
	}

	/** @param {string} id @param {Abortable} [o] */
	start(id, o) {
		return this.#change(id, 'start', undefined, o);
	}

	/** @param {string} id @param {Abortable & {grace?: number}} [o] grace: seconds between SIGTERM and SIGKILL */
	stop(id, o) {
		return this.#change(id, 'stop', o?.grace === undefined ? {} : { grace: o.grace }, o);
	}

	/**
	 * Lets a named cell sleep until somebody uses it. freeze: its processes go on when it wakes.
	 * @param {string} id @param {Abortable & {grace?: number, freeze?: boolean}} [o]
	 */
	sleep(id, o) {
		const body = o?.grace === undefined ? {} : { grace: o.grace };
		return this.#change(id, 'sleep', o?.freeze ? { ...body, freeze: true } : body, o);
	}

	/** Starts a cell that sleeps. @param {string} id @param {Abortable} [o] */
	wake(id, o) {
		return this.#change(id, 'wake', undefined, o);
	}

	/** @param {string} id @param {Abortable} [o] */
	pause(id, o) {
		return this.#change(id, 'pause', undefined, o);
	}

	/** @param {string} id @param {Abortable} [o] */
	resume(id, o) {
		return this.#change(id, 'resume', undefined, o);
	}

	/** @param {string} id @param {Abortable & {grace?: number}} [o] */
	restart(id, o) {
		return this.#change(id, 'restart', o?.grace === undefined ? {} : { grace: o.grace }, o);
	}

	/**
	 * Sets its files back. One that runs is stopped for it, and started again if vivd started it.
	 * @param {string} id
	 * @param {string} snapshot
	 * @param {Abortable & {grace?: number}} [o]
	 */
	rollback(id, snapshot, o) {
		return this.#change(id, 'rollback', o?.grace === undefined ? { snapshot } : { snapshot, grace: o.grace }, o);
	}

	/**
	 * Makes a cell with the files of another one.
	 * @param {string} id
	 * @param {string} name of the new one
	 * @param {Abortable & {snapshot?: string}} [o] snapshot: its files at that time
	 */
	fork(id, name, o) {
		return this.#change(id, 'fork', o?.snapshot === undefined ? { name } : { name, snapshot: o.snapshot }, o);
	}

	/** @param {string} id @param {string} name @param {Abortable} [o] */
	rename(id, name, o) {
		return this.#change(id, 'rename', { name }, o);
	}

	/** Limits and settings, while it runs or not: what is named is set, null takes it away. @param {string} id @param {CellPatch} change @param {Abortable} [o] */
	async update(id, change, o) {
		return this.#cell(await this.#transport.json('PATCH', at(id), { body: change, signal: o?.signal }));
	}

	/** @param {string} id @param {Abortable & {force?: boolean}} [o] force: one that runs, too */
	async remove(id, o = {}) {
		await this.#transport.json('DELETE', at(id), { query: { force: o.force }, signal: o.signal });
	}

	/**
	 * When it has ended.
	 * @param {string} id
	 * @param {Abortable} [o]
	 */
	async wait(id, o = {}) {
		return this.#cell(await this.#transport.json('GET', `${at(id)}/wait`, { signal: o.signal }));
	}

	/**
	 * @param {string} id
	 * @param {string} verb
	 * @param {Record<string, unknown> | undefined} body
	 * @param {Abortable} [o]
	 */
	async #change(id, verb, body, o) {
		return this.#cell(await this.#transport.json('POST', `${at(id)}/${verb}`, { body, signal: o?.signal }));
	}

	/** @param {CellInfo} info */
	#cell(info) {
		return new Cell(this.#transport, this, info);
	}
}

export class Cell {
	#transport;
	#cells;

	/**
	 * @param {Transport} transport
	 * @param {Cells} cells
	 * @param {CellInfo} info
	 */
	constructor(transport, cells, info) {
		this.#transport = transport;
		this.#cells = cells;
		/** As it was when it was asked for last. */
		this.info = info;
		this.snapshots = new Snapshots(transport, info.id);
		this.files = new Files(transport, info.id);
	}

	get id() {
		return this.info.id;
	}

	get name() {
		return this.info.name;
	}

	get state() {
		return this.info.state;
	}

	/** @param {Abortable} [o] */
	refresh(o) {
		return this.#take(this.#cells.get(this.id, o));
	}

	/** @param {Abortable} [o] */
	start(o) {
		return this.#take(this.#cells.start(this.id, o));
	}

	/** @param {Abortable & {grace?: number}} [o] */
	stop(o) {
		return this.#take(this.#cells.stop(this.id, o));
	}

	/** Lets it sleep until somebody uses it. @param {Abortable & {grace?: number, freeze?: boolean}} [o] */
	sleep(o) {
		return this.#take(this.#cells.sleep(this.id, o));
	}

	/** Starts it if it sleeps. @param {Abortable} [o] */
	wake(o) {
		return this.#take(this.#cells.wake(this.id, o));
	}

	/** @param {Abortable} [o] */
	pause(o) {
		return this.#take(this.#cells.pause(this.id, o));
	}

	/** @param {Abortable} [o] */
	resume(o) {
		return this.#take(this.#cells.resume(this.id, o));
	}

	/** @param {Abortable & {grace?: number}} [o] */
	restart(o) {
		return this.#take(this.#cells.restart(this.id, o));
	}

	/** @param {string} snapshot @param {Abortable & {grace?: number}} [o] */
	rollback(snapshot, o) {
		return this.#take(this.#cells.rollback(this.id, snapshot, o));
	}

	/** A new cell with its files. @param {string} name @param {Abortable & {snapshot?: string}} [o] */
	fork(name, o) {
		return this.#cells.fork(this.id, name, o);
	}

	/**
	 * What it changed, path by path: since its image, since `snapshot`, or compared with another cell or snapshot.
	 * @param {Abortable & import('./types.js').DiffOptions} [o]
	 * @returns {AsyncGenerator<import('./types.js').Change, void, void>}
	 */
	async *diff(o = {}) {
		for await (const line of this.#transport.lines(`${at(this.id)}/diff`, { query: diffQuery(o), signal: o.signal })) {
			if (line.type === 'error')
				throw new VivariumError(line);
			yield line;
		}
	}

	/** The same as a patch in git's form. @param {Abortable & import('./types.js').DiffOptions} [o] @returns {Promise<string>} */
	async patch(o = {}) {
		const answer = await this.#transport.request('GET', `${at(this.id)}/diff`, { query: { ...diffQuery(o), format: 'patch' }, signal: o.signal });
		/** @type {Buffer[]} */
		const all = [];
		for await (const part of parts(answer, o.signal))
			all.push(part);
		return Buffer.concat(all).toString();
	}

	/** Makes an image of its files. @param {string} tag @param {Abortable & {snapshot?: string}} [o] @returns {Promise<import('./types.js').ImageMade>} */
	commit(tag, o = {}) {
		return this.#transport.json('POST', `${at(this.id)}/commit`, { body: { tag, snapshot: o.snapshot }, signal: o.signal });
	}

	/** Checks its disk. @param {Abortable & {snapshot?: string}} [o] @returns {Promise<{sound: boolean, problems: string[]}>} */
	verify(o = {}) {
		return this.#transport.json('POST', `${at(this.id)}/verify`, { body: { snapshot: o.snapshot }, signal: o.signal });
	}

	/** @param {CellPatch} change @param {Abortable} [o] */
	update(change, o) {
		return this.#take(this.#cells.update(this.id, change, o));
	}

	/** Its rules. @param {Abortable} [o] @returns {Promise<string[]>} */
	async policy(o = {}) {
		return (await this.#transport.json('GET', `${at(this.id)}/policy`, { signal: o.signal })).rules;
	}

	/** Replaces its rules, while it runs or not. @param {string[]} rules @param {Abortable} [o] @returns {Promise<string[]>} those in force */
	async setPolicy(rules, o = {}) {
		return (await this.#transport.json('PUT', `${at(this.id)}/policy`, { body: { rules }, signal: o.signal })).rules;
	}

	/** Adds rules behind its own. @param {string[]} rules @param {Abortable} [o] @returns {Promise<string[]>} those in force */
	async addPolicy(rules, o = {}) {
		return (await this.#transport.json('POST', `${at(this.id)}/policy`, { body: { rules }, signal: o.signal })).rules;
	}

	/**
	 * What its rules would decide.
	 * @param {import('./types.js').PolicyQuestion} question one of connect, file, exec and env
	 * @param {Abortable} [o]
	 * @returns {Promise<import('./types.js').PolicyAnswer>}
	 */
	checkPolicy(question, o = {}) {
		return this.#transport.json('POST', `${at(this.id)}/policy/check`, { body: question, signal: o.signal });
	}

	/** The smallest policy that covers what it has used. @param {Abortable} [o] @returns {Promise<import('./types.js').PolicyLearnt>} */
	learnPolicy(o = {}) {
		return this.#transport.json('GET', `${at(this.id)}/policy/learn`, { signal: o.signal });
	}

	/** Begins a new record of what it uses. @param {Abortable} [o] */
	async forgetPolicy(o = {}) {
		await this.#transport.json('DELETE', `${at(this.id)}/policy/learn`, { signal: o.signal });
	}

	/** @param {string} name @param {Abortable} [o] */
	rename(name, o) {
		return this.#take(this.#cells.rename(this.id, name, o));
	}

	/** @param {Abortable} [o] */
	wait(o) {
		return this.#take(this.#cells.wait(this.id, o));
	}

	/** @param {Abortable & {force?: boolean}} [o] */
	remove(o) {
		return this.#cells.remove(this.id, o);
	}

	/**
	 * An address under which browsers of vivd's host reach a port of the cell.
	 * @param {number} port
	 * @param {Abortable & {expiresIn?: number}} [o] expiresIn: seconds; an hour without it
	 * @returns {Promise<import('./types.js').Preview>}
	 */
	preview(port, o = {}) {
		return this.#transport.json('POST', `${at(this.id)}/previews`, { body: { port, expires_in: o.expiresIn }, signal: o.signal });
	}

	/**
	 * A request of HTTP to a program in the cell, whether it has a network or not. The response is that of fetch().
	 * @param {number} port
	 * @param {string} [path] with its query
	 * @param {Abortable & import('./types.js').FetchOptions} [o]
	 */
	async fetch(port, path = '/', o = {}) {
		const { signal, body, ...rest } = o;
		const sent = body === undefined ? {} : typeof body === 'string' ? { body } : { base64: Buffer.from(body).toString('base64') };
		const answer = await this.#transport.json('POST', `${at(this.id)}/fetch`, { body: { port, path, ...rest, ...sent }, signal });
		const bare = answer.status === 204 || answer.status === 205 || answer.status === 304;
		return new Response(bare ? null : Buffer.from(answer.base64 ?? answer.body, answer.base64 ? 'base64' : 'utf8'), {
			status: answer.status,
			headers: answer.headers,
		});
	}

	/** @param {Abortable} [o] @returns {Promise<import('./types.js').Stats>} */
	stats(o = {}) {
		return this.#transport.json('GET', `${at(this.id)}/stats`, { signal: o.signal });
	}

	/** @param {Abortable} [o] @returns {Promise<import('./types.js').ProcessInfo[]>} */
	async processes(o = {}) {
		return (await this.#transport.json('GET', `${at(this.id)}/processes`, { signal: o.signal })).processes;
	}

	/**
	 * Runs a command to its end. A command that fails is a result; only one that cannot be run is an error.
	 * @param {Command} command
	 * @param {ExecOptions & import('./types.js').ExecInput & Abortable} [o]
	 * @returns {Promise<import('./types.js').ExecResult>}
	 */
	async exec(command, o = {}) {
		const spec = execSpec(command, o);
		if (o.stdin !== undefined)
			spec.stdin_base64 = Buffer.from(/** @type {string} */ (o.stdin)).toString('base64');
		const answer = await this.#transport.request('POST', `${at(this.id)}/exec`, { body: spec, headers: { accept: FRAMES }, signal: o.signal });
		/** @type {Record<string, Buffer[]>} */
		const out = { o: [], e: [] };
		let exit, kept = 0;
		for await (const [type, data] of frames(parts(answer, o.signal))) {
			kept += data.length;
			if (kept > (o.maxBuffer ?? MAX_BUFFER))
				throw new VivariumError({ code: 'too_large', message: 'the command wrote more than maxBuffer', remedy: 'use spawn' });
			out[type]?.push(data);
			if (type === 'x')
				exit = JSON.parse(data.toString());
		}
		if (!exit)
			throw new VivariumError({ code: 'connection_lost', message: 'the connection to vivd was lost before the command ended' });
		const stdoutBytes = Buffer.concat(out.o ?? []), stderrBytes = Buffer.concat(out.e ?? []);
		return {
			...exitOf(exit),
			stdout: stdoutBytes.toString('utf8'), stderr: stderrBytes.toString('utf8'), stdoutBytes, stderrBytes,
		};
	}

	/**
	 * Starts a process, with streams both ways.
	 * @param {Command} command
	 * @param {ExecOptions & import('./types.js').TerminalOptions & import('./types.js').SpawnOptions & Abortable} [o] signal hangs up on it, also later
	 */
	spawn(command, o = {}) {
		return processStart(this.#transport, `${at(this.id)}/exec`, execSpec(command, o), o.signal);
	}

	/**
	 * Attaches to a process that outlives its clients: one of detach(), of spawn() with detachable, or the cell's command (1).
	 * @param {number} proc
	 * @param {Abortable & {cursor?: number | 'end'}} [o] cursor: where its output begins; by default with the oldest that is kept
	 */
	attach(proc, o = {}) {
		const query = o.cursor === undefined ? '' : `?cursor=${o.cursor}`;
		return processStart(this.#transport, `${at(this.id)}/processes/${proc}/attach${query}`, undefined, o.signal);
	}

	/**
	 * Gives input to a process whose input is open; resolves when it was taken.
	 * @param {number} proc
	 * @param {string | Uint8Array} data
	 * @param {Abortable & {close?: boolean}} [o] close: its input ends after it
	 */
	async input(proc, data, o = {}) {
		await this.#transport.json('POST', `${at(this.id)}/processes/${proc}/input`, {
			body: { base64: Buffer.from(/** @type {string} */ (data)).toString('base64'), close: o.close === true }, signal: o.signal,
		});
	}

	/**
	 * Starts a process that goes on by itself; its output is in the logs.
	 * @param {Command} command
	 * @param {ExecOptions & import('./types.js').TerminalOptions & import('./types.js').DetachOptions & Abortable} [o]
	 * @returns {Promise<{proc: number, pid: number}>}
	 */
	detach(command, o = {}) {
		return this.#transport.json('POST', `${at(this.id)}/exec`, { body: { ...execSpec(command, o), detach: true, stdin_open: o.stdinOpen === true }, signal: o.signal });
	}

	/**
	 * How a detached process ended, when it has.
	 * @param {number} proc
	 * @param {Abortable} [o]
	 * @returns {Promise<import('./types.js').Exit>}
	 */
	async waitFor(proc, o = {}) {
		const e = await this.#transport.json('GET', `${at(this.id)}/processes/${proc}/wait`, { signal: o.signal });
		return exitOf(e);
	}

	/**
	 * Sends a signal to a process.
	 * @param {number} proc
	 * @param {import('./process.js').SignalName | number} [signal]
	 * @param {Abortable & {group?: boolean}} [o]
	 */
	async signal(proc, signal = 'SIGTERM', o = {}) {
		await this.#transport.json('POST', `${at(this.id)}/processes/${proc}/signal`, {
			body: { signal: signalNumber(signal), group: o.group === true }, signal: o.signal,
		});
	}

	/**
	 * What a detached process (by default the cell's first) wrote.
	 * @param {Abortable & {proc?: number, follow?: boolean, tail?: number, since?: Date, cursor?: number}} [o] tail: lines; cursor: only what follows it
	 * @returns {AsyncGenerator<import('./types.js').LogEntry, void, void>}
	 */
	async *logs(o = {}) {
		const { signal, since, ...query } = o;
		for await (const line of this.#transport.lines(`${at(this.id)}/logs`, { query: { ...query, since: since?.toISOString() }, signal })) {
			const data = line.base64 === undefined ? Buffer.from(line.text) : Buffer.from(line.base64, 'base64');
			yield { time: line.time, stream: line.stream, cursor: line.cursor, data, text: data.toString('utf8') };
		}
	}

	/** @param {Promise<Cell>} asked */
	async #take(asked) {
		this.info = (await asked).info;
		return this;
	}
}

export class Snapshots {
	#transport;
	#at;

	/** @param {Transport} transport @param {string} id */
	constructor(transport, id) {
		this.#transport = transport;
		this.#at = `${at(id)}/snapshots`;
	}

	/** @param {Abortable} [o] @returns {Promise<import('./types.js').Snapshot[]>} */
	async list(o = {}) {
		return (await this.#transport.json('GET', this.#at, { signal: o.signal })).snapshots;
	}

	/** @param {string} [name] by default s1, s2, ... @param {Abortable} [o] @returns {Promise<import('./types.js').Snapshot>} */
	create(name, o = {}) {
		return this.#transport.json('POST', this.#at, { body: { name }, signal: o.signal });
	}

	/** @param {string} name @param {Abortable} [o] */
	async remove(name, o = {}) {
		await this.#transport.json('DELETE', `${this.#at}/${encodeURIComponent(name)}`, { signal: o.signal });
	}
}

/**
 * The frames of an exec's answer: a byte of type, three zeros, the length in four bytes, so many bytes.
 * @param {AsyncIterable<Buffer>} stream
 * @returns {AsyncGenerator<[string, Buffer], void, void>}
 */
async function* frames(stream) {
	/** @type {Buffer[]} */
	let kept = [];
	let size = 0, need = FRAME_HEAD;
	for await (const part of stream) {
		kept.push(part);
		size += part.length;
		if (size < need)
			continue;
		let all = kept.length === 1 ? part : Buffer.concat(kept);
		for (need = FRAME_HEAD; all.length >= need; need = FRAME_HEAD) {
			need = FRAME_HEAD + all.readUInt32BE(4);
			if (all.length < need)
				break;
			yield [String.fromCharCode(all.readUInt8(0)), all.subarray(FRAME_HEAD, need)];
			all = all.subarray(need);
		}
		kept = all.length ? [all] : [];
		size = all.length;
	}
}
