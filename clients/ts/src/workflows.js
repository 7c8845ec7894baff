// Workflows: runs of files, which vivd runs, and of programs, which run their steps themselves while vivd keeps the results.
import { VivariumError } from './errors.js';

/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').WorkflowRun} WorkflowRun */
/** @typedef {import('./http.js').Transport} Transport */

/** What a step's function is given: a key that is the same for each attempt of this step, the attempt's number, and a signal that tells when its lease was lost. */
/** @typedef {{key: string, attempt: number, signal: AbortSignal}} StepInfo */
/** Seconds of a lease, which is extended while the function runs; how often the function is called again when it throws; seconds before the first of these, doubled each time. */
/** @typedef {{lease?: number, retries?: number, backoff?: number}} StepOptions */

const LEASE = 60;

/** @param {number} seconds @param {AbortSignal} [signal] @returns {Promise<void>} */
const pause = (seconds, signal) => new Promise((resolve, reject) => {
	const timer = setTimeout(resolve, seconds * 1000);
	signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

/** What a workflow's function is given. */
export class WorkflowContext {
	#transport;
	#at;
	#signal;

	/** @param {Transport} transport @param {WorkflowRun} run @param {AbortSignal} [signal] */
	constructor(transport, run, signal) {
		this.#transport = transport;
		this.#at = `/v1/workflows/${encodeURIComponent(run.id)}`;
		this.#signal = signal;
		/** The id to start the same run again with. */
		this.id = run.id;
		this.inputs = run.inputs ?? {};
	}

	/** @param {string} what @param {object} body @returns {Promise<any>} */
	#post(what, body) {
		return this.#transport.json('POST', `${this.#at}/${what}`, { body, signal: this.#signal });
	}

	/**
	 * Runs fn, unless a step of this name is done already: then its result is what it gave. What fn gives must be JSON.
	 * While another program has the step, this waits.
	 * @template T
	 * @param {string} name
	 * @param {(info: StepInfo) => T | Promise<T>} fn
	 * @param {StepOptions} [o]
	 * @returns {Promise<T>}
	 */
	async step(name, fn, o = {}) {
		for (;;) {
			const claim = await this.#claim(name, o.lease ?? LEASE);
			if (claim.state === 'done')
				return claim.output;
			if (claim.state === 'failed')
				throw new VivariumError(claim.error);
			const given = await this.#run(name, claim, fn, o);
			if (given.done)
				return given.output;
			await pause((o.backoff ?? 0) * 2 ** Math.min(claim.attempt - 1, 16), this.#signal);
		}
	}

	/** @param {string} name @param {number} lease @returns {Promise<any>} */
	async #claim(name, lease) {
		for (let wait = 0.05;; wait = Math.min(wait * 2, 5)) {
			try {
				return await this.#post('claim', { step: name, lease_seconds: lease });
			} catch (e) {
				if (!(e instanceof VivariumError) || e.code !== 'in_use')
					throw e;
			}
			await pause(wait, this.#signal);
		}
	}

	/**
	 * @template T
	 * @param {string} name @param {{lease: string, key: string, attempt: number}} claim
	 * @param {(info: StepInfo) => T | Promise<T>} fn @param {StepOptions} o
	 * @returns {Promise<{done: true, output: T} | {done: false}>}
	 */
	async #run(name, claim, fn, o) {
		const lost = new AbortController();
		const seconds = o.lease ?? LEASE;
		const renew = setInterval(() => {
			this.#post('renew', { step: name, lease: claim.lease, lease_seconds: seconds }).catch((e) => {
				// Another one has it now; what does not reach vivd is tried again.
				if (e instanceof VivariumError && e.code === 'conflict')
					lost.abort(e);
			});
		}, seconds * 1000 / 3);
		try {
			const output = await fn({ key: claim.key, attempt: claim.attempt, signal: lost.signal });
			await this.#post('finish', { step: name, lease: claim.lease, output: output ?? null });
			return { done: true, output };
		} catch (e) {
			if (lost.signal.aborted || (e instanceof VivariumError && e.code === 'conflict'))
				throw e;
			const again = claim.attempt <= (o.retries ?? 0);
			await this.#post('finish', { step: name, lease: claim.lease, error: String(e instanceof Error ? e.message : e).slice(0, 500), again });
			if (!again)
				throw e;
			return { done: false };
		} finally {
			clearInterval(renew);
		}
	}
}

export class Workflows {
	#transport;

	/** @param {Transport} transport */
	constructor(transport) {
		this.#transport = transport;
	}

	/** Newest first. @param {Abortable & {state?: string, name?: string, limit?: number}} [o] @returns {Promise<WorkflowRun[]>} */
	async list(o = {}) {
		const query = { state: o.state, name: o.name, limit: o.limit };
		return (await this.#transport.json('GET', '/v1/workflows', { query, signal: o.signal })).runs;
	}

	/** Those that projects declare. @param {Abortable} [o] @returns {Promise<{name: string, project: string, description?: string, inputs?: object, steps: number}[]>} */
	async defined(o = {}) {
		return (await this.#transport.json('GET', '/v1/workflows/defined', { signal: o.signal })).workflows;
	}

	/** Starts a run of one that a project declares. @param {string} name PROJECT.NAME, or NAME @param {Abortable & {inputs?: object}} [o] @returns {Promise<WorkflowRun>} */
	startNamed(name, o = {}) {
		return this.#transport.json('POST', '/v1/workflows', { body: { name, inputs: o.inputs }, signal: o.signal });
	}

	/** Starts a run of a file's text. @param {string} yaml @param {Abortable & {inputs?: object, file?: string, dir?: string}} [o] @returns {Promise<WorkflowRun>} */
	start(yaml, o = {}) {
		return this.#transport.json('POST', '/v1/workflows', { body: { yaml, inputs: o.inputs, file: o.file, dir: o.dir }, signal: o.signal });
	}

	/** With its steps. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
	get(id, o = {}) {
		return this.#transport.json('GET', `/v1/workflows/${encodeURIComponent(id)}`, { signal: o.signal });
	}

	/** Waits for the end of a run. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
	wait(id, o = {}) {
		return this.#transport.json('GET', `/v1/workflows/${encodeURIComponent(id)}/wait`, { signal: o.signal });
	}

	/** @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
	cancel(id, o = {}) {
		return this.#transport.json('POST', `/v1/workflows/${encodeURIComponent(id)}/cancel`, { signal: o.signal });
	}

	/** Lets a run that failed or was cancelled go on. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
	retry(id, o = {}) {
		return this.#transport.json('POST', `/v1/workflows/${encodeURIComponent(id)}/retry`, { signal: o.signal });
	}

	/** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
	remove(id, o = {}) {
		return this.#transport.json('DELETE', `/v1/workflows/${encodeURIComponent(id)}`, { signal: o.signal });
	}

	/**
	 * Runs a program's workflow: fn, whose steps are kept. With the id of a run that was begun before, steps that are done are not run
	 * again; one that is done as a whole gives its result. If fn throws, the run stays as it is, to be begun again, unless
	 * `final` is set.
	 * @template T
	 * @param {string} name
	 * @param {(ctx: WorkflowContext) => Promise<T>} fn
	 * @param {Abortable & {id?: string, inputs?: object, final?: boolean}} [o]
	 * @returns {Promise<T>}
	 */
	async run(name, fn, o = {}) {
		const run = await this.#transport.json('POST', '/v1/workflows/code', { body: { name, id: o.id, inputs: o.inputs }, signal: o.signal });
		if (run.state === 'done')
			return run.output;
		if (run.state !== 'running')
			throw new VivariumError(run.error ?? { code: 'wrong_state', message: `run ${run.id} is ${run.state}` });
		const finish = (/** @type {object} */ body) => this.#transport.json('POST', `/v1/workflows/${run.id}/finish`, { body, signal: o.signal });
		let output;
		try {
			output = await fn(new WorkflowContext(this.#transport, run, o.signal));
		} catch (e) {
			if (o.final)
				await finish({ error: String(e instanceof Error ? e.message : e).slice(0, 500) });
			throw e;
		}
		await finish({ output: output ?? null });
		return output;
	}
}
