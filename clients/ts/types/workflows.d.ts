/** What a workflow's function is given. */
export class WorkflowContext {
    /** @param {Transport} transport @param {WorkflowRun} run @param {AbortSignal} [signal] */
    constructor(transport: Transport, run: WorkflowRun, signal?: AbortSignal | undefined);
    /** The id to start the same run again with. */
    id: string;
    inputs: Record<string, any>;
    /**
     * Runs fn, unless a step of this name is done already: then its result is what it gave. What fn gives must be JSON.
     * While another program has the step, this waits.
     * @template T
     * @param {string} name
     * @param {(info: StepInfo) => T | Promise<T>} fn
     * @param {StepOptions} [o]
     * @returns {Promise<T>}
     */
    step<T>(name: string, fn: (info: StepInfo) => T | Promise<T>, o?: StepOptions | undefined): Promise<T>;
    #private;
}
export class Workflows {
    /** @param {Transport} transport */
    constructor(transport: Transport);
    /** Newest first. @param {Abortable & {state?: string, name?: string, limit?: number}} [o] @returns {Promise<WorkflowRun[]>} */
    list(o?: (import("./types.js").Abortable & {
        state?: string;
        name?: string;
        limit?: number;
    }) | undefined): Promise<WorkflowRun[]>;
    /** Starts a run of a file's text. @param {string} yaml @param {Abortable & {inputs?: object, file?: string, dir?: string}} [o] @returns {Promise<WorkflowRun>} */
    start(yaml: string, o?: (import("./types.js").Abortable & {
        inputs?: object;
        file?: string;
        dir?: string;
    }) | undefined): Promise<WorkflowRun>;
    /** With its steps. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
    get(id: string, o?: import("./types.js").Abortable | undefined): Promise<WorkflowRun>;
    /** Waits for the end of a run. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
    wait(id: string, o?: import("./types.js").Abortable | undefined): Promise<WorkflowRun>;
    /** @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
    cancel(id: string, o?: import("./types.js").Abortable | undefined): Promise<WorkflowRun>;
    /** Lets a run that failed or was cancelled go on. @param {string} id @param {Abortable} [o] @returns {Promise<WorkflowRun>} */
    retry(id: string, o?: import("./types.js").Abortable | undefined): Promise<WorkflowRun>;
    /** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
    remove(id: string, o?: import("./types.js").Abortable | undefined): Promise<void>;
    /**
     * Runs a program's workflow: fn, whose steps are kept. With the id of a run that was begun before, steps that are done are not run
     * again; one that is done as a whole gives its result. If fn throws, the run stays as it is, to be begun again, unless
     * `final` is set.
     * @template T
     * @param {string} name
     * @param {(ctx: WorkflowContext) => Promise<T>} fn
     * @param {Abortable & {id?: string, inputs?: object, final?: boolean}} [o]
     * @returns {Promise<T>}
     */
    run<T>(name: string, fn: (ctx: WorkflowContext) => Promise<T>, o?: (import("./types.js").Abortable & {
        id?: string;
        inputs?: object;
        final?: boolean;
    }) | undefined): Promise<T>;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type WorkflowRun = import('./types.js').WorkflowRun;
export type Transport = import('./http.js').Transport;
export type StepInfo = {
    key: string;
    attempt: number;
    signal: AbortSignal;
};
export type StepOptions = {
    lease?: number;
    retries?: number;
    backoff?: number;
};
