/**
 * The error that the body of an answer describes, whatever it is.
 * @param {number} status
 * @param {string} body
 * @returns {VivariumError}
 */
export function errorFrom(status: number, body: string): VivariumError;
/** What went wrong, as the API has it: a code for programs and words for people. */
export class VivariumError extends Error {
    /**
     * @param {{code: string, message: string, status?: number | undefined, cause?: string | undefined, remedy?: string | undefined}} e
     */
    constructor(e: {
        code: string;
        message: string;
        status?: number | undefined;
        cause?: string | undefined;
        remedy?: string | undefined;
    });
    /** For programs to compare: "not_found", "wrong_state"... */
    code: string;
    /** The status of HTTP; 0: the connection was lost, or what came is not what the API says. */
    status: number;
    /** @type {string | undefined} What can be done about it, if it is known. */
    remedy: string | undefined;
}
