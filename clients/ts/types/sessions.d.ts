/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').SessionInfo} SessionInfo */
/** @typedef {import('./types.js').SessionEvent} SessionEvent */
/** @typedef {import('./http.js').Transport} Transport */
export class Session {
    /** @param {Transport} transport @param {SessionInfo} info */
    constructor(transport: Transport, info: SessionInfo);
    id: string;
    cell: string;
    /** As it was when it was last asked for. */
    info: import("./types.js").SessionInfo;
    /** @param {Abortable} [o] @returns {Promise<SessionInfo>} */
    refresh(o?: import("./types.js").Abortable | undefined): Promise<SessionInfo>;
    /**
     * Sends a prompt, behind those that wait. The event `turn` with this number says how it ended.
     * @param {string | object[]} prompt text, or content blocks of ACP
     * @param {Abortable} [o]
     * @returns {Promise<{prompt: number, seq: number}>}
     */
    send(prompt: string | object[], o?: import("./types.js").Abortable | undefined): Promise<{
        prompt: number;
        seq: number;
    }>;
    /**
     * Sends a prompt and gives the events that follow, up to the end of its turn.
     * @param {string | object[]} prompt
     * @param {Abortable} [o]
     * @returns {AsyncGenerator<SessionEvent, void, void>}
     */
    prompt(prompt: string | object[], o?: import("./types.js").Abortable | undefined): AsyncGenerator<SessionEvent, void, void>;
    /**
     * Sends a prompt and waits for the end of its turn: what the agent said, and why it stopped. Its questions have to be answered elsewhere.
     * @param {string | object[]} prompt
     * @param {Abortable} [o]
     * @returns {Promise<{text: string, stopReason: string}>}
     */
    ask(prompt: string | object[], o?: import("./types.js").Abortable | undefined): Promise<{
        text: string;
        stopReason: string;
    }>;
    /**
     * Its events, in order, from one on (from the first by default); goes on where it was when the connection was lost.
     * @param {import('./events.js').EventOptions} [o]
     * @returns {AsyncGenerator<SessionEvent, void, void>}
     */
    events(o?: import("./events.js").EventOptions | undefined): AsyncGenerator<SessionEvent, void, void>;
    /** Ends the turn that runs. @param {Abortable} [o] @returns {Promise<void>} */
    cancel(o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** @param {string} mode one of info.modes @param {Abortable} [o] @returns {Promise<void>} */
    setMode(mode: string, o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** @param {string} model one of info.models @param {Abortable} [o] @returns {Promise<void>} */
    setModel(model: string, o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** @param {string} option one of info.config_options @param {string | boolean} value @param {Abortable} [o] @returns {Promise<void>} */
    setOption(option: string, value: string | boolean, o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** Ends the agent; its transcript is kept. @param {Abortable} [o] @returns {Promise<void>} */
    close(o?: import("./types.js").Abortable | undefined): Promise<void>;
    /** Removes it with its transcript. @param {Abortable} [o] @returns {Promise<void>} */
    remove(o?: import("./types.js").Abortable | undefined): Promise<void>;
    #private;
}
export class Sessions {
    /** @param {Transport} transport */
    constructor(transport: Transport);
    /**
     * Starts an agent, or a command that speaks ACP, in a cell.
     * @param {string} cell id or name
     * @param {import('./types.js').SessionSpec} spec
     * @param {Abortable} [o]
     */
    create(cell: string, spec: import('./types.js').SessionSpec, o?: import("./types.js").Abortable | undefined): Promise<Session>;
    /** @param {string} cell id or name @param {string} id @param {Abortable} [o] */
    get(cell: string, id: string, o?: import("./types.js").Abortable | undefined): Promise<Session>;
    /** Of a cell, or all. @param {Abortable & {cell?: string}} [o] @returns {Promise<Session[]>} */
    list(o?: (import("./types.js").Abortable & {
        cell?: string;
    }) | undefined): Promise<Session[]>;
    /**
     * Events of all transcripts that have these words, newest first.
     * @param {string} words
     * @param {Abortable & {cell?: string, limit?: number}} [o]
     * @returns {Promise<import('./types.js').Found[]>}
     */
    search(words: string, o?: (import("./types.js").Abortable & {
        cell?: string;
        limit?: number;
    }) | undefined): Promise<import('./types.js').Found[]>;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type SessionInfo = import('./types.js').SessionInfo;
export type SessionEvent = import('./types.js').SessionEvent;
export type Transport = import('./http.js').Transport;
