// Agents in cells, over many prompts.
import { VivariumError } from './errors.js';
import { events } from './events.js';

/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').SessionInfo} SessionInfo */
/** @typedef {import('./types.js').SessionEvent} SessionEvent */
/** @typedef {import('./http.js').Transport} Transport */

export class Session {
	#transport;
	#at;

	/** @param {Transport} transport @param {SessionInfo} info */
	constructor(transport, info) {
		this.#transport = transport;
		this.#at = `/v1/cells/${encodeURIComponent(info.cell)}/sessions/${encodeURIComponent(info.id)}`;
		this.id = info.id;
		this.cell = info.cell;
		/** As it was when it was last asked for. */
		this.info = info;
	}

	/** @param {Abortable} [o] @returns {Promise<SessionInfo>} */
	async refresh(o = {}) {
		this.info = await this.#transport.json('GET', this.#at, { signal: o.signal });
		return this.info;
	}

	/**
	 * Sends a prompt, behind those that wait. The event `turn` with this number says how it ended.
	 * @param {string | object[]} prompt text, or content blocks of ACP
	 * @param {Abortable} [o]
	 * @returns {Promise<{prompt: number, seq: number}>}
	 */
	send(prompt, o = {}) {
		const body = typeof prompt === 'string' ? { text: prompt } : { content: prompt };
		return this.#transport.json('POST', `${this.#at}/prompt`, { body, signal: o.signal });
	}

	/**
	 * Sends a prompt and gives the events that follow, up to the end of its turn.
	 * @param {string | object[]} prompt
	 * @param {Abortable} [o]
	 * @returns {AsyncGenerator<SessionEvent, void, void>}
	 */
	async *prompt(prompt, o = {}) {
		const since = (await this.refresh(o)).last_seq;
		const sent = await this.send(prompt, o);
		for await (const e of this.events({ since, ...(o.signal ? { signal: o.signal } : {}) })) {
			yield e;
			if (e.type === 'turn' && e.data.prompt === sent.prompt)
				return;
			if (e.type === 'state' && (e.data.state === 'closed' || e.data.state === 'failed'))
				throw new VivariumError({ code: e.data.state, message: `the session is ${e.data.state}`, cause: e.data.reason });
		}
	}

	/**
	 * Sends a prompt and waits for the end of its turn: what the agent said, and why it stopped. Its questions have to be answered elsewhere.
	 * @param {string | object[]} prompt
	 * @param {Abortable} [o]
	 * @returns {Promise<{text: string, stopReason: string}>}
	 */
	async ask(prompt, o = {}) {
		let text = '', stopReason = '';
		for await (const e of this.prompt(prompt, o)) {
			const update = e.data.update;
			if (e.type === 'update' && update?.sessionUpdate === 'agent_message_chunk' && update.content?.type === 'text')
				text += update.content.text;
			if (e.type === 'turn')
				stopReason = e.data.stop_reason;
		}
		return { text, stopReason };
	}

	/**
	 * Its events, in order, from one on (from the first by default); goes on where it was when the connection was lost.
	 * @param {import('./events.js').EventOptions} [o]
	 * @returns {AsyncGenerator<SessionEvent, void, void>}
	 */
	events(o = {}) {
		return events(this.#transport, { ...o, since: o.since ?? 0 }, `${this.#at}/events`);
	}

	/** Ends the turn that runs. @param {Abortable} [o] @returns {Promise<void>} */
	async cancel(o = {}) {
		await this.#transport.json('POST', `${this.#at}/cancel`, { signal: o.signal });
	}

	/** @param {string} mode one of info.modes @param {Abortable} [o] @returns {Promise<void>} */
	async setMode(mode, o = {}) {
		await this.#transport.json('POST', `${this.#at}/mode`, { body: { mode }, signal: o.signal });
	}

	/** @param {string} model one of info.models @param {Abortable} [o] @returns {Promise<void>} */
	async setModel(model, o = {}) {
		await this.#transport.json('POST', `${this.#at}/model`, { body: { model }, signal: o.signal });
	}

	/** @param {string} option one of info.config_options @param {string | boolean} value @param {Abortable} [o] @returns {Promise<void>} */
	async setOption(option, value, o = {}) {
		await this.#transport.json('POST', `${this.#at}/config`, { body: { option, value }, signal: o.signal });
	}

	/** Ends the agent; its transcript is kept. @param {Abortable} [o] @returns {Promise<void>} */
	async close(o = {}) {
		await this.#transport.json('POST', `${this.#at}/close`, { signal: o.signal });
	}

	/** Removes it with its transcript. @param {Abortable} [o] @returns {Promise<void>} */
	async remove(o = {}) {
		await this.#transport.json('DELETE', this.#at, { signal: o.signal });
	}
}

export class Sessions {
	#transport;

	/** @param {Transport} transport */
	constructor(transport) {
		this.#transport = transport;
	}

	/**
	 * Starts an agent, or a command that speaks ACP, in a cell.
	 * @param {string} cell id or name
	 * @param {import('./types.js').SessionSpec} spec
	 * @param {Abortable} [o]
	 */
	async create(cell, spec, o = {}) {
		const info = await this.#transport.json('POST', `/v1/cells/${encodeURIComponent(cell)}/sessions`, { body: spec, signal: o.signal });
		return new Session(this.#transport, info);
	}

	/** @param {string} cell id or name @param {string} id @param {Abortable} [o] */
	async get(cell, id, o = {}) {
		return new Session(this.#transport, await this.#transport.json('GET', `/v1/cells/${encodeURIComponent(cell)}/sessions/${encodeURIComponent(id)}`, { signal: o.signal }));
	}

	/** Of a cell, or all. @param {Abortable & {cell?: string}} [o] @returns {Promise<Session[]>} */
	async list(o = {}) {
		const at = o.cell === undefined ? '/v1/sessions' : `/v1/cells/${encodeURIComponent(o.cell)}/sessions`;
		const answer = await this.#transport.json('GET', at, { signal: o.signal });
		return /** @type {SessionInfo[]} */ (answer.sessions).map((info) => new Session(this.#transport, info));
	}

	/**
	 * Events of all transcripts that have these words, newest first.
	 * @param {string} words
	 * @param {Abortable & {cell?: string, limit?: number}} [o]
	 * @returns {Promise<import('./types.js').Found[]>}
	 */
	async search(words, o = {}) {
		return (await this.#transport.json('GET', '/v1/transcripts', { query: { q: words, cell: o.cell, limit: o.limit }, signal: o.signal })).transcripts;
	}
}
