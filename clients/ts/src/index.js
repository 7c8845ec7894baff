/**
 * A client of vivd, the daemon of Vivarium.
 *
 *     const viv = new Vivarium();
 *     const cell = await viv.cells.create({ name: 'work', get: true, start: true });
 *     const { stdout } = await cell.exec(['uname', '-s']);
 */
import { Cell, Cells, Snapshots } from './cells.js';
import { events } from './events.js';
import { Transport } from './http.js';
import { Images } from './images.js';
import { Session, Sessions } from './sessions.js';
import { WorkflowContext, Workflows } from './workflows.js';

/** @typedef {import('./types.js').Abortable} Abortable */

export { Cell, Cells, Images, Session, Sessions, Snapshots, WorkflowContext, Workflows };
export { VivariumError } from './errors.js';
export { Files } from './files.js';
export { defaultSocket } from './http.js';
export { Process } from './process.js';
/** @typedef {import('./http.js').ClientOptions} ClientOptions */
/** @typedef {import('./events.js').EventOptions} EventOptions */
/** @typedef {import('./process.js').SignalName} SignalName */
/** @typedef {import('./cells.js').Command} Command */
/** @typedef {import('./types.js').CellInfo} CellInfo */
/** @typedef {import('./types.js').CellCreate} CellCreate */
/** @typedef {import('./types.js').CellSpec} CellSpec */
/** @typedef {import('./types.js').CellState} CellState */
/** @typedef {import('./types.js').ExecOptions} ExecOptions */
/** @typedef {import('./types.js').ExecResult} ExecResult */
/** @typedef {import('./types.js').Exit} Exit */
/** @typedef {import('./types.js').FileEntry} FileEntry */
/** @typedef {import('./types.js').FileInfo} FileInfo */
/** @typedef {import('./types.js').Image} Image */
/** @typedef {import('./types.js').Change} Change */
/** @typedef {import('./types.js').Collected} Collected */
/** @typedef {import('./types.js').DiffOptions} DiffOptions */
/** @typedef {import('./types.js').ImageCheck} ImageCheck */
/** @typedef {import('./types.js').ImageMade} ImageMade */
/** @typedef {import('./types.js').ImportOptions} ImportOptions */
/** @typedef {import('./types.js').Pruned} Pruned */
/** @typedef {import('./types.js').LogEntry} LogEntry */
/** @typedef {import('./types.js').PolicyAnswer} PolicyAnswer */
/** @typedef {import('./types.js').PolicyLearnt} PolicyLearnt */
/** @typedef {import('./types.js').PolicyQuestion} PolicyQuestion */
/** @typedef {import('./types.js').ProcessInfo} ProcessInfo */
/** @typedef {import('./types.js').Schedule} Schedule */
/** @typedef {import('./types.js').ScheduleRun} ScheduleRun */
/** @typedef {import('./types.js').ScheduleSpec} ScheduleSpec */
/** @typedef {import('./types.js').SessionEvent} SessionEvent */
/** @typedef {import('./types.js').SessionInfo} SessionInfo */
/** @typedef {import('./types.js').SessionSpec} SessionSpec */
/** @typedef {import('./types.js').Snapshot} Snapshot */
/** @typedef {import('./types.js').Stats} Stats */
/** @typedef {import('./types.js').Secret} Secret */
/** @typedef {import('./types.js').SecretSpec} SecretSpec */
/** @typedef {import('./types.js').Token} Token */
/** @typedef {import('./types.js').TokenMade} TokenMade */
/** @typedef {import('./types.js').TokenSpec} TokenSpec */
/** @typedef {import('./types.js').Version} Version */
/** @typedef {import('./types.js').VivariumEvent} VivariumEvent */
/** @typedef {import('./types.js').Volume} Volume */
/** @typedef {import('./types.js').WorkflowRun} WorkflowRun */
/** @typedef {import('./types.js').WorkflowStep} WorkflowStep */
/** @typedef {import('./workflows.js').StepInfo} StepInfo */
/** @typedef {import('./workflows.js').StepOptions} StepOptions */

export class Vivarium {
	#transport;

	/** @param {import('./http.js').ClientOptions} [options] */
	constructor(options = {}) {
		const transport = new Transport(options);
		this.#transport = transport;
		this.cells = new Cells(transport);
		this.images = new Images(transport);
		/** Agents in cells. */
		this.sessions = new Sessions(transport);
		/** Runs of workflow files and of programs. */
		this.workflows = new Workflows(transport);
		this.volumes = {
			/** @param {Abortable} [o] @returns {Promise<import('./types.js').Volume[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/volumes', { signal: o.signal })).volumes,
			/** @param {string} name @param {Abortable} [o] @returns {Promise<{name: string}>} */
			create: (name, o = {}) => transport.json('POST', '/v1/volumes', { body: { name }, signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').VolumeDetails>} */
			get: (name, o = {}) => transport.json('GET', `/v1/volumes/${encodeURIComponent(name)}`, { signal: o.signal }),
			/** Removes the volumes that no cell mounts and no project made. @param {Abortable & {dryRun?: boolean}} [o] @returns {Promise<import('./types.js').VolumesPruned>} */
			prune: (o = {}) => transport.json('POST', '/v1/volumes/prune', { body: { dry_run: o.dryRun }, signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<void>} */
			remove: (name, o = {}) => transport.json('DELETE', `/v1/volumes/${encodeURIComponent(name)}`, { signal: o.signal }),
		};
		this.secrets = {
			/** @param {Abortable} [o] @returns {Promise<import('./types.js').Secret[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/secrets', { signal: o.signal })).secrets,
			/** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Secret>} */
			get: (name, o = {}) => transport.json('GET', `/v1/secrets/${encodeURIComponent(name)}`, { signal: o.signal }),
			/** Makes or changes one; running cells have the new value at once. @param {string} name @param {import('./types.js').SecretSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').Secret>} */
			set: (name, spec, o = {}) => transport.json('PUT', `/v1/secrets/${encodeURIComponent(name)}`, { body: spec, signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<void>} */
			remove: (name, o = {}) => transport.json('DELETE', `/v1/secrets/${encodeURIComponent(name)}`, { signal: o.signal }),
		};
		this.approvals = {
			/** @param {Abortable & {state?: 'pending' | 'all', cell?: string}} [o] @returns {Promise<import('./types.js').Approval[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/approvals', { query: { state: o.state, cell: o.cell }, signal: o.signal })).approvals,
			/** @param {number} id @param {Abortable} [o] @returns {Promise<import('./types.js').Approval>} */
			get: (id, o = {}) => transport.json('GET', `/v1/approvals/${id}`, { signal: o.signal }),
			/** @param {number} id @param {import('./types.js').ApprovalAnswer} answer @param {Abortable} [o] @returns {Promise<import('./types.js').Approval>} */
			answer: (id, answer, o = {}) => transport.json('POST', `/v1/approvals/${id}`, { body: answer, signal: o.signal }),
		};
		/** Addresses under which browsers reach ports of cells; Cell.preview() makes one. */
		this.previews = {
			/** @param {Abortable & {cell?: string}} [o] @returns {Promise<import('./types.js').Preview[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/previews', { query: { cell: o.cell }, signal: o.signal })).previews,
			/** @param {string} id @param {Abortable} [o] @returns {Promise<import('./types.js').Preview>} */
			get: (id, o = {}) => transport.json('GET', `/v1/previews/${encodeURIComponent(id)}`, { signal: o.signal }),
			/** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
			remove: (id, o = {}) => transport.json('DELETE', `/v1/previews/${encodeURIComponent(id)}`, { signal: o.signal }),
		};
		/** What vivd starts by the clock. */
		this.schedules = {
			/** @param {Abortable & {cell?: string}} [o] @returns {Promise<import('./types.js').Schedule[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/schedules', { query: { cell: o.cell }, signal: o.signal })).schedules,
			/** @param {import('./types.js').ScheduleSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
			add: (spec, o = {}) => transport.json('POST', '/v1/schedules', { body: spec, signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
			get: (name, o = {}) => transport.json('GET', `/v1/schedules/${encodeURIComponent(name)}`, { signal: o.signal }),
			/** @param {string} name @param {Abortable & {force?: boolean}} [o] force: also if it runs, which is ended @returns {Promise<void>} */
			remove: (name, o = {}) => transport.json('DELETE', `/v1/schedules/${encodeURIComponent(name)}`, { query: { force: o.force ? 1 : undefined }, signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
			pause: (name, o = {}) => transport.json('POST', `/v1/schedules/${encodeURIComponent(name)}/pause`, { signal: o.signal }),
			/** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
			resume: (name, o = {}) => transport.json('POST', `/v1/schedules/${encodeURIComponent(name)}/resume`, { signal: o.signal }),
			/** Runs it now. @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun>} */
			run: (name, o = {}) => transport.json('POST', `/v1/schedules/${encodeURIComponent(name)}/run`, { signal: o.signal }),
			/** The newest first, without their output. @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun[]>} */
			runs: async (name, o = {}) => (await transport.json('GET', `/v1/schedules/${encodeURIComponent(name)}/runs`, { signal: o.signal })).runs,
			/** One with its output; without a number the newest. @param {string} name @param {number} [run] @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun>} */
			log: (name, run, o = {}) => transport.json('GET', `/v1/schedules/${encodeURIComponent(name)}/runs/${run ?? 'last'}`, { signal: o.signal }),
		};
		this.tokens = {
			/** @param {Abortable} [o] @returns {Promise<import('./types.js').Token[]>} */
			list: async (o = {}) => (await transport.json('GET', '/v1/tokens', { signal: o.signal })).tokens,
			/** @param {string} id @param {Abortable} [o] @returns {Promise<import('./types.js').Token>} */
			get: (id, o = {}) => transport.json('GET', `/v1/tokens/${encodeURIComponent(id)}`, { signal: o.signal }),
			/** @param {import('./types.js').TokenSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').TokenMade>} */
			create: (spec, o = {}) => transport.json('POST', '/v1/tokens', { body: spec, signal: o.signal }),
			/** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
			remove: (id, o = {}) => transport.json('DELETE', `/v1/tokens/${encodeURIComponent(id)}`, { signal: o.signal }),
		};
	}

	/**
	 * Runs a program's workflow: what each step gives is kept, and a step that is done is not run again when the program is started once
	 * more with the same id.
	 * @template T
	 * @param {string} name
	 * @param {(ctx: WorkflowContext) => Promise<T>} fn
	 * @param {Abortable & {id?: string, inputs?: object, final?: boolean}} [o]
	 * @returns {Promise<T>}
	 */
	workflow(name, fn, o = {}) {
		return this.workflows.run(name, fn, o);
	}

	/** @param {Abortable} [o] @returns {Promise<import('./types.js').Version>} */
	version(o = {}) {
		return this.#transport.json('GET', '/v1/version', { signal: o.signal });
	}

	/**
	 * What happens, in order; see EventOptions.
	 * @param {import('./events.js').EventOptions} [o]
	 * @returns {AsyncGenerator<import('./types.js').VivariumEvent, void, void>}
	 */
	events(o = {}) {
		return events(this.#transport, o);
	}

	/** The disk space that cells, snapshots, images and volumes take. @param {Abortable} [o] @returns {Promise<import('./types.js').DiskUsage>} */
	diskUsage(o = {}) {
		return this.#transport.json('GET', '/v1/system/df', { signal: o.signal });
	}

	/** Removes what nobody needs any more. @param {Abortable & {dryRun?: boolean}} [o] @returns {Promise<import('./types.js').Pruned>} */
	prune(o = {}) {
		return this.#transport.json('POST', '/v1/prune', { body: { dry_run: o.dryRun }, signal: o.signal });
	}

	/** Closes connections that wait for further requests. */
	close() {
		this.#transport.close();
	}
}
