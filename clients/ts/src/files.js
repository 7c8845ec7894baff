// The files of a cell, whether it runs or not.
import { Readable } from 'node:stream';
import { parts } from './http.js';

/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').FileInfo} FileInfo */
/** @typedef {Abortable & {user?: string}} AsUser user: who does it in the cell; root by default */
/** @typedef {string | Uint8Array | AsyncIterable<Uint8Array>} Content */

export class Files {
	#transport;
	#at;

	/** @param {import('./http.js').Transport} transport @param {string} cell */
	constructor(transport, cell) {
		this.#transport = transport;
		this.#at = `/v1/cells/${encodeURIComponent(cell)}/files`;
	}

	/**
	 * All of a file, or the bytes from `start` up to and without `end`.
	 * @param {string} path
	 * @param {AsUser & {start?: number, end?: number}} [o]
	 */
	async read(path, o) {
		const all = [];
		for await (const part of this.stream(path, o))
			all.push(part);
		return Buffer.concat(all);
	}

	/**
	 * The same as it comes: for what is large.
	 * @param {string} path
	 * @param {AsUser & {start?: number, end?: number}} [o]
	 * @returns {AsyncGenerator<Buffer, void, void>}
	 */
	async *stream(path, o = {}) {
		/** @type {Record<string, string>} */
		const headers = {};
		if (o.end !== undefined && o.end <= (o.start ?? 0))
			return;
		if (o.start !== undefined || o.end !== undefined)
			headers.range = `bytes=${o.start ?? 0}-${o.end === undefined ? '' : o.end - 1}`;
		yield* parts(await this.#transport.request('GET', this.#at, { query: { path, user: o.user }, headers, signal: o.signal }), o.signal);
	}

	/**
	 * Makes or replaces a file: who reads it sees the old or the new one.
	 * @param {string} path
	 * @param {Content} content
	 * @param {AsUser & {mode?: number, uid?: number, gid?: number, parents?: boolean}} [o] what is not given stays as it is, in a new file it is 0644 and the user's; parents: directories above it that are missing are made
	 */
	async write(path, content, o = {}) {
		const query = { path, user: o.user, uid: o.uid, gid: o.gid, mode: o.mode?.toString(8), parents: o.parents };
		await this.#transport.json('PUT', this.#at, { query, content, signal: o.signal });
	}

	/** @param {string} path @param {AsUser & {follow?: boolean}} [o] follow: of a link, what it leads to @returns {Promise<FileInfo>} */
	stat(path, o = {}) {
		return this.#transport.json('GET', `${this.#at}/stat`, { query: { path, user: o.user, follow: o.follow }, signal: o.signal });
	}

	/**
	 * What is in a directory.
	 * @param {string} path
	 * @param {AsUser & {recursive?: boolean}} [o]
	 * @returns {AsyncGenerator<import('./types.js').FileEntry, void, void>}
	 */
	list(path, o = {}) {
		return this.#transport.lines(`${this.#at}/list`, { query: { path, user: o.user, recursive: o.recursive }, signal: o.signal });
	}

	/**
	 * Changes below a directory, from when the first object comes.
	 * @param {string} path
	 * @param {AsUser & {recursive?: boolean}} [o]
	 * @returns {AsyncGenerator<Record<string, unknown>, void, void>}
	 */
	watch(path, o = {}) {
		return this.#transport.lines(`${this.#at}/watch`, { query: { path, user: o.user, recursive: o.recursive }, signal: o.signal });
	}

	/** @param {string} path @param {AsUser & {parents?: boolean}} [o] */
	async mkdir(path, o = {}) {
		await this.#transport.json('POST', `${this.#at}/mkdir`, { query: { path, user: o.user, parents: o.parents }, signal: o.signal });
	}

	/** @param {string} from @param {string} to @param {AsUser & {replace?: boolean}} [o] replace: false if nothing may be there */
	async move(from, to, o = {}) {
		await this.#transport.json('POST', `${this.#at}/move`, { query: { from, to, user: o.user, replace: o.replace }, signal: o.signal });
	}

	/** @param {string} path @param {AsUser & {recursive?: boolean}} [o] */
	async remove(path, o = {}) {
		await this.#transport.json('DELETE', this.#at, { query: { path, user: o.user, recursive: o.recursive }, signal: o.signal });
	}

	/**
	 * A tree as a tar archive.
	 * @param {string} path
	 * @param {AsUser} [o]
	 */
	async pack(path, o = {}) {
		const answer = await this.#transport.request('GET', `${this.#at}/tar`, { query: { path, user: o.user }, signal: o.signal });
		return Readable.from(parts(answer, o.signal), { objectMode: false });
	}

	/**
	 * Unpacks a tar archive into a directory, from which nothing of it leads out.
	 * @param {string} path
	 * @param {Content} archive
	 * @param {AsUser} [o]
	 */
	async unpack(path, archive, o = {}) {
		await this.#transport.json('PUT', `${this.#at}/tar`, { query: { path, user: o.user }, content: archive, signal: o.signal });
	}
}
