// Images of the store.
import { parts } from './http.js';

/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').ImportOptions} ImportOptions */
/** @typedef {import('./types.js').ImageMade} ImageMade */

/** @param {string} image a tag or a hash */
const at = (image) => `/v1/images/${encodeURIComponent(image)}`;

/** @param {ImportOptions} o */
const importFields = (o) => ({ tag: o.tag, format: o.format, ref: o.ref, command: o.command, owner: o.owner, max_size: o.maxSize, max_entries: o.maxEntries });

export class Images {
	#transport;

	/** @param {import('./http.js').Transport} transport */
	constructor(transport) {
		this.#transport = transport;
	}

	/** @param {Abortable} [o] @returns {Promise<import('./types.js').Image[]>} */
	async list(o = {}) {
		return (await this.#transport.json('GET', '/v1/images', { signal: o.signal })).images;
	}

	/**
	 * A part of list(); next is the cursor of the next one, unless this was the last.
	 * @param {Abortable & {limit?: number, cursor?: string}} [o]
	 * @returns {Promise<{images: import('./types.js').Image[], next?: string}>}
	 */
	page(o = {}) {
		const { signal, ...query } = o;
		return this.#transport.json('GET', '/v1/images', { query, signal });
	}

	/** Its details. @param {string} image @param {Abortable} [o] @returns {Promise<Record<string, unknown> & {id: string}>} */
	get(image, o = {}) {
		return this.#transport.json('GET', at(image), { signal: o.signal });
	}

	/**
	 * Makes an image of an archive.
	 * @param {Uint8Array | AsyncIterable<Uint8Array>} archive
	 * @param {Abortable & ImportOptions} [o]
	 * @returns {Promise<ImageMade>}
	 */
	import(archive, o = {}) {
		return this.#transport.json('PUT', '/v1/images', { content: archive, query: importFields(o), signal: o.signal });
	}

	/**
	 * Makes an image of a file or directory of the host; only on the Unix socket.
	 * @param {string} path absolute
	 * @param {Abortable & ImportOptions} [o]
	 * @returns {Promise<ImageMade>}
	 */
	importPath(path, o = {}) {
		return this.#transport.json('POST', '/v1/images', { body: { path, ...importFields(o) }, signal: o.signal });
	}

	/**
	 * A tar archive of its files, or of an OCI layout.
	 * @param {string} image
	 * @param {Abortable & {format?: 'tar' | 'oci-archive'}} [o]
	 * @returns {AsyncGenerator<Buffer, void, void>}
	 */
	async *export(image, o = {}) {
		yield* parts(await this.#transport.request('GET', `${at(image)}/tar`, { query: { format: o.format }, signal: o.signal }), o.signal);
	}

	/** @param {string} image @param {string} tag @param {Abortable} [o] @returns {Promise<ImageMade>} */
	tag(image, tag, o = {}) {
		return this.#transport.json('POST', `${at(image)}/tag`, { body: { tag }, signal: o.signal });
	}

	/** A tag, and with its last tag the image. @param {string} image @param {Abortable & {force?: boolean}} [o] @returns {Promise<void>} */
	remove(image, o = {}) {
		return this.#transport.json('DELETE', at(image), { query: { force: o.force }, signal: o.signal });
	}

	/** Removes content that no image uses. @param {Abortable & {untagged?: boolean}} [o] @returns {Promise<import('./types.js').Collected>} */
	gc(o = {}) {
		return this.#transport.json('POST', '/v1/images/gc', { body: { untagged: o.untagged }, signal: o.signal });
	}

	/** Checks an image, or without one the whole store. @param {string} [image] @param {Abortable} [o] @returns {Promise<import('./types.js').ImageCheck>} */
	verify(image, o = {}) {
		return this.#transport.json('POST', image === undefined ? '/v1/images/verify' : `${at(image)}/verify`, { body: {}, signal: o.signal });
	}
}
