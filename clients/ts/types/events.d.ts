/**
 * Events from one on, of vivd or, at another path, of a session. When the connection is lost it goes on where it was, as soon as vivd answers again; it ends when the loop over it
 * does, or by the signal.
 * @param {import('./http.js').Transport} transport
 * @param {EventOptions} o
 * @param {string} [at]
 * @returns {AsyncGenerator<any, void, void>}
 */
export function events(transport: import('./http.js').Transport, o: EventOptions, at?: string | undefined): AsyncGenerator<any, void, void>;
export type EventOptions = {
    /**
     * the last event that is known already; 0: from the oldest that is kept. By default, what comes next
     */
    since?: number;
    /**
     * false: it ends with the newest
     */
    follow?: boolean;
    signal?: AbortSignal;
};
