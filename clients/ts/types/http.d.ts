/// <reference types="node" resolution-mode="require"/>
/// <reference types="node" resolution-mode="require"/>
/** Where the vivd of this user listens, as `viv` finds it. */
export function defaultSocket(): string;
/**
 * The body as it comes. Node's errors are given as ours, and one by the signal as the signal's.
 * @param {import('node:http').IncomingMessage} answer
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncGenerator<Buffer, void, void>}
 */
export function parts(answer: import('node:http').IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void>;
export class Transport {
    /** @param {ClientOptions} options */
    constructor(options: ClientOptions);
    token: string | undefined;
    module: typeof https | typeof http;
    agent: http.Agent;
    /** @type {import('node:https').RequestOptions} */
    place: import('node:https').RequestOptions;
    close(): void;
    /**
     * @param {Record<string, string>} [more]
     * @returns {Record<string, string>}
     */
    headers(more?: Record<string, string> | undefined): Record<string, string>;
    /**
     * The answer, when it is one of success; else it throws.
     * @param {string} method
     * @param {string} at
     * @param {RequestOptions} [o]
     * @returns {Promise<import('node:http').IncomingMessage>}
     */
    request(method: string, at: string, o?: RequestOptions | undefined): Promise<import('node:http').IncomingMessage>;
    /**
     * The body of the answer; undefined when there is none.
     * @param {string} method
     * @param {string} at
     * @param {RequestOptions} [o]
     * @returns {Promise<any>}
     */
    json(method: string, at: string, o?: RequestOptions | undefined): Promise<any>;
    /**
     * The objects of an answer in lines.
     * @param {string} at
     * @param {RequestOptions} o
     * @returns {AsyncGenerator<any, void, void>}
     */
    lines(at: string, o: RequestOptions): AsyncGenerator<any, void, void>;
    /**
     * A connection that is upgraded, and what came behind the answer.
     * @param {string} at
     * @param {Record<string, string>} headers
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<{answer: import('node:http').IncomingMessage, socket: import('node:net').Socket, head: Buffer}>}
     */
    upgrade(at: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<{
        answer: import('node:http').IncomingMessage;
        socket: import('node:net').Socket;
        head: Buffer;
    }>;
}
export type ClientOptions = {
    /**
     * path of vivd's socket; the one of this user by default
     */
    socket?: string;
    /**
     * http://HOST:PORT or https://HOST:PORT instead
     */
    url?: string;
    /**
     * needed with a url
     */
    token?: string;
    /**
     * certificates to trust, PEM
     */
    ca?: string | Buffer;
};
export type Query = Record<string, string | number | boolean | undefined>;
export type RequestOptions = {
    query?: Query;
    /**
     * sent as JSON
     */
    body?: unknown;
    /**
     * sent as it is
     */
    content?: string | Uint8Array | AsyncIterable<Uint8Array>;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
};
import https from 'node:https';
import http from 'node:http';
