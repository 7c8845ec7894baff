export class Images {
    /** @param {import('./http.js').Transport} transport */
    constructor(transport: import('./http.js').Transport);
    /** @param {Abortable} [o] @returns {Promise<import('./types.js').Image[]>} */
    list(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Image[]>;
    /**
     * A part of list(); next is the cursor of the next one, unless this was the last.
     * @param {Abortable & {limit?: number, cursor?: string}} [o]
     * @returns {Promise<{images: import('./types.js').Image[], next?: string}>}
     */
    page(o?: (import("./types.js").Abortable & {
        limit?: number;
        cursor?: string;
    }) | undefined): Promise<{
        images: import('./types.js').Image[];
        next?: string;
    }>;
    /** Its details. @param {string} image @param {Abortable} [o] @returns {Promise<Record<string, unknown> & {id: string}>} */
    get(image: string, o?: import("./types.js").Abortable | undefined): Promise<Record<string, unknown> & {
        id: string;
    }>;
    /**
     * Makes an image of an archive.
     * @param {Uint8Array | AsyncIterable<Uint8Array>} archive
     * @param {Abortable & ImportOptions} [o]
     * @returns {Promise<ImageMade>}
     */
    import(archive: Uint8Array | AsyncIterable<Uint8Array>, o?: (import("./types.js").Abortable & import("./types.js").ImportOptions) | undefined): Promise<ImageMade>;
    /**
     * Makes an image of a file or directory of the host; only on the Unix socket.
     * @param {string} path absolute
     * @param {Abortable & ImportOptions} [o]
     * @returns {Promise<ImageMade>}
     */
    importPath(path: string, o?: (import("./types.js").Abortable & import("./types.js").ImportOptions) | undefined): Promise<ImageMade>;
    /**
     * A tar archive of its files, or of an OCI layout.
     * @param {string} image
     * @param {Abortable & {format?: 'tar' | 'oci-archive'}} [o]
     * @returns {AsyncGenerator<Buffer, void, void>}
     */
    export(image: string, o?: (import("./types.js").Abortable & {
        format?: 'tar' | 'oci-archive';
    }) | undefined): AsyncGenerator<Buffer, void, void>;
    /** @param {string} image @param {string} tag @param {Abortable} [o] @returns {Promise<ImageMade>} */
    tag(image: string, tag: string, o?: import("./types.js").Abortable | undefined): Promise<ImageMade>;
    /** A tag, and with its last tag the image. @param {string} image @param {Abortable & {force?: boolean}} [o] @returns {Promise<void>} */
    remove(image: string, o?: (import("./types.js").Abortable & {
        force?: boolean;
    }) | undefined): Promise<void>;
    /** Removes content that no image uses. @param {Abortable & {untagged?: boolean}} [o] @returns {Promise<import('./types.js').Collected>} */
    gc(o?: (import("./types.js").Abortable & {
        untagged?: boolean;
    }) | undefined): Promise<import('./types.js').Collected>;
    /** Checks an image, or without one the whole store. @param {string} [image] @param {Abortable} [o] @returns {Promise<import('./types.js').ImageCheck>} */
    verify(image?: string | undefined, o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').ImageCheck>;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type ImportOptions = import('./types.js').ImportOptions;
export type ImageMade = import('./types.js').ImageMade;
