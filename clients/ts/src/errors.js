/** What went wrong, as the API has it: a code for programs and words for people. */
export class VivariumError extends Error {
	/**
	 * @param {{code: string, message: string, status?: number | undefined, cause?: string | undefined, remedy?: string | undefined}} e
	 */
	constructor(e) {
		super(e.message);
		this.name = 'VivariumError';
		/** For programs to compare: "not_found", "wrong_state"... */
		this.code = e.code;
		/** The status of HTTP; 0: the connection was lost, or what came is not what the API says. */
		this.status = e.status ?? 0;
		/** @type {string | undefined} Why, if it is known. */
		this.cause = e.cause;
		/** @type {string | undefined} What can be done about it, if it is known. */
		this.remedy = e.remedy;
	}
}

/**
 * The error that the body of an answer describes, whatever it is.
 * @param {number} status
 * @param {string} body
 * @returns {VivariumError}
 */
export function errorFrom(status, body) {
	/** @type {Record<string, unknown>} */
	let o = {};
	try {
		const parsed = JSON.parse(body);
		if (parsed && typeof parsed === 'object')
			o = parsed;
	} catch {
		// What stands between us and vivd may answer in its own words.
	}
	const text = (/** @type {string} */ key) => (typeof o[key] === 'string' ? /** @type {string} */ (o[key]) : undefined);
	return new VivariumError({
		code: text('code') ?? 'failed',
		message: text('message') ?? `vivd answered with status ${status}`,
		status,
		cause: text('cause'),
		remedy: text('remedy'),
	});
}
