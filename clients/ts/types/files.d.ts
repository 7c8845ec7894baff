/** @typedef {import('./types.js').Abortable} Abortable */
/** @typedef {import('./types.js').FileInfo} FileInfo */
/** @typedef {Abortable & {user?: string}} AsUser user: who does it in the cell; root by default */
/** @typedef {string | Uint8Array | AsyncIterable<Uint8Array>} Content */
export class Files {
    /** @param {import('./http.js').Transport} transport @param {string} cell */
    constructor(transport: import('./http.js').Transport, cell: string);
    /**
     * All of a file, or the bytes from `start` up to and without `end`.
     * @param {string} path
     * @param {AsUser & {start?: number, end?: number}} [o]
     */
    read(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        start?: number;
        end?: number;
    }) | undefined): Promise<Buffer>;
    /**
     * The same as it comes: for what is large.
     * @param {string} path
     * @param {AsUser & {start?: number, end?: number}} [o]
     * @returns {AsyncGenerator<Buffer, void, void>}
     */
    stream(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        start?: number;
        end?: number;
    }) | undefined): AsyncGenerator<Buffer, void, void>;
    /**
     * Makes or replaces a file: who reads it sees the old or the new one.
     * @param {string} path
     * @param {Content} content
     * @param {AsUser & {mode?: number, uid?: number, gid?: number, parents?: boolean}} [o] what is not given stays as it is, in a new file it is 0644 and the user's; parents: directories above it that are missing are made
     */
    write(path: string, content: Content, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        mode?: number;
        uid?: number;
        gid?: number;
        parents?: boolean;
    }) | undefined): Promise<void>;
    /** @param {string} path @param {AsUser & {follow?: boolean}} [o] follow: of a link, what it leads to @returns {Promise<FileInfo>} */
    stat(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        follow?: boolean;
    }) | undefined): Promise<FileInfo>;
    /**
     * What is in a directory.
     * @param {string} path
     * @param {AsUser & {recursive?: boolean}} [o]
     * @returns {AsyncGenerator<import('./types.js').FileEntry, void, void>}
     */
    list(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        recursive?: boolean;
    }) | undefined): AsyncGenerator<import('./types.js').FileEntry, void, void>;
    /**
     * Changes below a directory, from when the first object comes.
     * @param {string} path
     * @param {AsUser & {recursive?: boolean}} [o]
     * @returns {AsyncGenerator<Record<string, unknown>, void, void>}
     */
    watch(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        recursive?: boolean;
    }) | undefined): AsyncGenerator<Record<string, unknown>, void, void>;
    /** @param {string} path @param {AsUser & {parents?: boolean}} [o] */
    mkdir(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        parents?: boolean;
    }) | undefined): Promise<void>;
    /** @param {string} from @param {string} to @param {AsUser & {replace?: boolean}} [o] replace: false if nothing may be there */
    move(from: string, to: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        replace?: boolean;
    }) | undefined): Promise<void>;
    /** @param {string} path @param {AsUser & {recursive?: boolean}} [o] */
    remove(path: string, o?: (import("./types.js").Abortable & {
        user?: string;
    } & {
        recursive?: boolean;
    }) | undefined): Promise<void>;
    /**
     * A tree as a tar archive.
     * @param {string} path
     * @param {AsUser} [o]
     */
    pack(path: string, o?: AsUser | undefined): Promise<Readable>;
    /**
     * Unpacks a tar archive into a directory, from which nothing of it leads out.
     * @param {string} path
     * @param {Content} archive
     * @param {AsUser} [o]
     */
    unpack(path: string, archive: Content, o?: AsUser | undefined): Promise<void>;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type FileInfo = import('./types.js').FileInfo;
/**
 * user: who does it in the cell; root by default
 */
export type AsUser = Abortable & {
    user?: string;
};
export type Content = string | Uint8Array | AsyncIterable<Uint8Array>;
import { Readable } from 'node:stream';
