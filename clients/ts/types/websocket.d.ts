/// <reference types="node" resolution-mode="require"/>
/**
 * @typedef {object} WebSocketUser
 * @property {(text: string) => void} text
 * @property {(data: Buffer) => void} binary
 * @property {(code: number, reason: string) => void} closed once; 1006: without a close frame
 */
/**
 * Opens one.
 * @param {import('./http.js').Transport} transport
 * @param {string} at
 * @param {string} protocol
 * @param {AbortSignal} [signal]
 * @returns {Promise<WebSocketConnection>}
 */
export function webSocketOpen(transport: import('./http.js').Transport, at: string, protocol: string, signal?: AbortSignal | undefined): Promise<WebSocketConnection>;
export class WebSocketConnection {
    /**
     * @param {import('node:net').Socket} socket
     * @param {Buffer} head
     */
    constructor(socket: import('node:net').Socket, head: Buffer);
    socket: import("net").Socket;
    /** @param {WebSocketUser} user */
    start(user: WebSocketUser): void;
    /** @param {unknown} o */
    sendObject(o: unknown): void;
    /**
     * A byte for the channel, and the data; done is called when it has left.
     * @param {number} channel
     * @param {Uint8Array} data
     * @param {(e?: Error | null) => void} done
     */
    sendBytes(channel: number, data: Uint8Array, done: (e?: Error | null) => void): void;
    /** @param {number} code */
    close(code: number): void;
    destroy(): void;
    #private;
}
export type WebSocketUser = {
    text: (text: string) => void;
    binary: (data: Buffer) => void;
    /**
     * once; 1006: without a close frame
     */
    closed: (code: number, reason: string) => void;
};
