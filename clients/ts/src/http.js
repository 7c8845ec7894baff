// Requests to vivd, over its Unix socket or TCP, and the upgrade of one to a WebSocket.
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { errorFrom, VivariumError } from './errors.js';

/**
 * @typedef {object} ClientOptions
 * @property {string} [socket] path of vivd's socket; the one of this user by default
 * @property {string} [url] http://HOST:PORT or https://HOST:PORT instead
 * @property {string} [token] needed with a url
 * @property {string | Buffer} [ca] certificates to trust, PEM
 *
 * @typedef {Record<string, string | number | boolean | undefined>} Query
 *
 * @typedef {object} RequestOptions
 * @property {Query} [query]
 * @property {unknown} [body] sent as JSON
 * @property {string | Uint8Array | AsyncIterable<Uint8Array>} [content] sent as it is
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal | undefined} [signal]
 */

const MAX_ERROR = 1 << 16;

/** Where the vivd of this user listens, as `viv` finds it. */
export function defaultSocket() {
	const absolute = (/** @type {string} */ name) => {
		const value = process.env[name];
		return value?.startsWith('/') ? value : undefined;
	};
	const run = absolute('XDG_RUNTIME_DIR');
	if (run)
		return path.join(run, 'vivarium', 'vivd.sock');
	if (process.getuid?.() === 0)
		return '/run/vivarium/vivd.sock';
	return path.join(absolute('XDG_DATA_HOME') ?? path.join(os.homedir(), '.local', 'share'), 'vivarium', 'run', 'vivd.sock');
}

/**
 * @param {string} at
 * @param {Query} [query]
 */
function withQuery(at, query) {
	const q = new URLSearchParams();
	for (const [key, value] of Object.entries(query ?? {}))
		if (value !== undefined)
			q.set(key, typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
	const text = q.toString();
	return text ? `${at}?${text}` : at;
}

/**
 * All of a body, or its begin.
 * @param {AsyncIterable<Buffer>} stream
 * @param {number} max
 */
async function bodyRead(stream, max) {
	const parts = [];
	let size = 0;
	for await (const part of stream) {
		parts.push(part);
		size += part.length;
		if (size > max)
			break;
	}
	return Buffer.concat(parts).toString('utf8');
}

/**
 * The body as it comes. Node's errors are given as ours, and one by the signal as the signal's.
 * @param {import('node:http').IncomingMessage} answer
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncGenerator<Buffer, void, void>}
 */
export async function* parts(answer, signal) {
	try {
		for await (const part of answer)
			yield part;
	} catch (e) {
		throw signal?.aborted ? signal.reason : connectionError(/** @type {Error} */ (e), undefined);
	} finally {
		answer.destroy();
	}
}

export class Transport {
	/** @param {ClientOptions} options */
	constructor(options) {
		const url = options.url === undefined ? undefined : new URL(options.url);
		if (url && url.protocol !== 'http:' && url.protocol !== 'https:')
			throw new TypeError(`not a URL of HTTP: ${options.url}`);
		if (url && options.socket)
			throw new TypeError('give a socket or a url');
		const secure = url?.protocol === 'https:';
		this.token = options.token;
		this.module = secure ? https : http;
		// vivd closes idle connections after a minute: before that, they are closed here.
		this.agent = new this.module.Agent({ keepAlive: true, timeout: 30_000 });
		/** @type {import('node:https').RequestOptions} */
		this.place = url
			? { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || (secure ? 443 : 80) }
			: { socketPath: options.socket ?? defaultSocket(), host: 'vivd' };
		if (options.ca !== undefined)
			this.place.ca = options.ca;
	}

	close() {
		this.agent.destroy();
	}

	/**
	 * @param {Record<string, string>} [more]
	 * @returns {Record<string, string>}
	 */
	headers(more) {
		return { ...(this.token ? { authorization: `Bearer ${this.token}` } : {}), ...more };
	}

	/**
	 * The answer, when it is one of success; else it throws.
	 * @param {string} method
	 * @param {string} at
	 * @param {RequestOptions} [o]
	 * @returns {Promise<import('node:http').IncomingMessage>}
	 */
	async request(method, at, o = {}) {
		const body = o.body === undefined ? undefined : Buffer.from(JSON.stringify(o.body));
		const headers = this.headers(o.headers);
		if (body) {
			headers['content-type'] = 'application/json';
			headers['content-length'] = String(body.length);
		}
		if (o.content !== undefined)
			headers['content-type'] = 'application/octet-stream';
		o.signal?.throwIfAborted();
		/** @type {import('node:http').IncomingMessage} */
		const answer = await new Promise((resolve, reject) => {
			const request = this.module.request({
				...this.place, method, path: withQuery(at, o.query), headers, agent: this.agent, ...(o.signal ? { signal: o.signal } : {}),
			}, resolve);
			request.on('error', (e) => reject(o.signal?.aborted ? o.signal.reason : connectionError(e, this.place.socketPath)));
			if (o.content === undefined || typeof o.content === 'string' || o.content instanceof Uint8Array)
				request.end(o.content ?? body);
			else
				pipeline(o.content, request, (e) => e && reject(e));
		});
		const status = answer.statusCode ?? 0;
		if (status < 400)
			return answer;
		throw errorFrom(status, await bodyRead(answer, MAX_ERROR));
	}

	/**
	 * The body of the answer; undefined when there is none.
	 * @param {string} method
	 * @param {string} at
	 * @param {RequestOptions} [o]
	 * @returns {Promise<any>}
	 */
	async json(method, at, o) {
		const answer = await this.request(method, at, o);
		const text = await bodyRead(parts(answer, o?.signal), Infinity);
		return text ? JSON.parse(text) : undefined;
	}

	/**
	 * The objects of an answer in lines.
	 * @param {string} at
	 * @param {RequestOptions} o
	 * @returns {AsyncGenerator<any, void, void>}
	 */
	async *lines(at, o) {
		const answer = await this.request('GET', at, o);
		const decoder = new StringDecoder('utf8');
		let rest = '';
		for await (const part of parts(answer, o.signal)) {
			const lines = (rest + decoder.write(part)).split('\n');
			rest = lines.pop() ?? '';
			for (const line of lines)
				if (line)
					yield JSON.parse(line);
		}
	}

	/**
	 * A connection that is upgraded, and what came behind the answer.
	 * @param {string} at
	 * @param {Record<string, string>} headers
	 * @param {AbortSignal | undefined} signal
	 * @returns {Promise<{answer: import('node:http').IncomingMessage, socket: import('node:net').Socket, head: Buffer}>}
	 */
	upgrade(at, headers, signal) {
		return new Promise((resolve, reject) => {
			const request = this.module.request({
				...this.place, method: 'GET', path: at, headers: this.headers(headers), agent: false, ...(signal ? { signal } : {}),
			});
			request.on('upgrade', (answer, socket, head) => resolve({ answer, socket: /** @type {import('node:net').Socket} */ (socket), head }));
			request.on('response', (answer) => {
				bodyRead(answer, MAX_ERROR).then((text) => reject(errorFrom(answer.statusCode ?? 0, text)), reject);
			});
			request.on('error', (e) => reject(signal?.aborted ? signal.reason : connectionError(e, this.place.socketPath)));
			request.end();
		});
	}
}

/**
 * @param {Error & {code?: string}} e
 * @param {string | null | undefined} socket
 */
function connectionError(e, socket) {
	if (e instanceof VivariumError)
		return e;
	if (socket && (e.code === 'ENOENT' || e.code === 'ECONNREFUSED'))
		return new VivariumError({ code: 'no_daemon', message: `vivd does not answer at ${socket}`, cause: e.message, remedy: "'viv daemon start' starts it" });
	return new VivariumError({ code: 'connection_lost', message: 'the connection to vivd was lost', cause: e.message });
}
