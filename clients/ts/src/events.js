// The event stream: in order, without gaps, over as many connections as it takes.
import { VivariumError } from './errors.js';

/**
 * @typedef {object} EventOptions
 * @property {number} [since] the last event that is known already; 0: from the oldest that is kept. By default, what comes next
 * @property {boolean} [follow] false: it ends with the newest
 * @property {AbortSignal} [signal]
 */

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;

/**
 * @param {number} ms
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
	return new Promise((resolve, reject) => {
		const stop = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener('abort', stop);
			resolve();
		}, ms);
		signal?.addEventListener('abort', stop, { once: true });
	});
}

/**
 * Events from one on, of vivd or, at another path, of a session. When the connection is lost it goes on where it was, as soon as vivd answers again; it ends when the loop over it
 * does, or by the signal.
 * @param {import('./http.js').Transport} transport
 * @param {EventOptions} o
 * @param {string} [at]
 * @returns {AsyncGenerator<any, void, void>}
 */
export async function* events(transport, o, at = '/v1/events') {
	const follow = o.follow !== false;
	let since = o.since, wait = FIRST_WAIT_MS, worked = false;
	for (;;) {
		try {
			for await (const e of transport.lines(at, { query: { since, follow }, signal: o.signal })) {
				since = e.seq ?? e.to;
				wait = FIRST_WAIT_MS;
				worked = true;
				yield e;
			}
			if (!follow)
				return;
			worked = true;
		} catch (e) {
			const lost = e instanceof VivariumError && (e.status === 0 || e.status === 503);
			// The first time, who asks wants to know that nobody answers.
			if (!lost || !worked || !follow || o.signal?.aborted)
				throw e;
		}
		await pause(wait, o.signal);
		wait = Math.min(wait * 2, LONGEST_WAIT_MS);
	}
}
