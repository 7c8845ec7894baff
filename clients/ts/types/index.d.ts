export { VivariumError } from "./errors.js";
export { Files } from "./files.js";
export { defaultSocket } from "./http.js";
export { Process } from "./process.js";
/** @typedef {import('./http.js').ClientOptions} ClientOptions */
/** @typedef {import('./events.js').EventOptions} EventOptions */
/** @typedef {import('./process.js').SignalName} SignalName */
/** @typedef {import('./cells.js').Command} Command */
/** @typedef {import('./types.js').CellInfo} CellInfo */
/** @typedef {import('./types.js').CellCreate} CellCreate */
/** @typedef {import('./types.js').CellSpec} CellSpec */
/** @typedef {import('./types.js').CellState} CellState */
/** @typedef {import('./types.js').ExecOptions} ExecOptions */
/** @typedef {import('./types.js').ExecResult} ExecResult */
/** @typedef {import('./types.js').Exit} Exit */
/** @typedef {import('./types.js').FileEntry} FileEntry */
/** @typedef {import('./types.js').FileInfo} FileInfo */
/** @typedef {import('./types.js').Image} Image */
/** @typedef {import('./types.js').Change} Change */
/** @typedef {import('./types.js').Collected} Collected */
/** @typedef {import('./types.js').DiffOptions} DiffOptions */
/** @typedef {import('./types.js').ImageCheck} ImageCheck */
/** @typedef {import('./types.js').ImageMade} ImageMade */
/** @typedef {import('./types.js').ImportOptions} ImportOptions */
/** @typedef {import('./types.js').Pruned} Pruned */
/** @typedef {import('./types.js').LogEntry} LogEntry */
/** @typedef {import('./types.js').PolicyAnswer} PolicyAnswer */
/** @typedef {import('./types.js').PolicyLearnt} PolicyLearnt */
/** @typedef {import('./types.js').PolicyQuestion} PolicyQuestion */
/** @typedef {import('./types.js').ProcessInfo} ProcessInfo */
/** @typedef {import('./types.js').Schedule} Schedule */
/** @typedef {import('./types.js').ScheduleRun} ScheduleRun */
/** @typedef {import('./types.js').ScheduleSpec} ScheduleSpec */
/** @typedef {import('./types.js').SessionEvent} SessionEvent */
/** @typedef {import('./types.js').SessionInfo} SessionInfo */
/** @typedef {import('./types.js').SessionSpec} SessionSpec */
/** @typedef {import('./types.js').Snapshot} Snapshot */
/** @typedef {import('./types.js').Stats} Stats */
/** @typedef {import('./types.js').Secret} Secret */
/** @typedef {import('./types.js').SecretSpec} SecretSpec */
/** @typedef {import('./types.js').Token} Token */
/** @typedef {import('./types.js').TokenMade} TokenMade */
/** @typedef {import('./types.js').TokenSpec} TokenSpec */
/** @typedef {import('./types.js').Version} Version */
/** @typedef {import('./types.js').VivariumEvent} VivariumEvent */
/** @typedef {import('./types.js').Volume} Volume */
/** @typedef {import('./types.js').WorkflowRun} WorkflowRun */
/** @typedef {import('./types.js').WorkflowStep} WorkflowStep */
/** @typedef {import('./workflows.js').StepInfo} StepInfo */
/** @typedef {import('./workflows.js').StepOptions} StepOptions */
export class Vivarium {
    /** @param {import('./http.js').ClientOptions} [options] */
    constructor(options?: import("./http.js").ClientOptions | undefined);
    cells: Cells;
    images: Images;
    /** Agents in cells. */
    sessions: Sessions;
    /** Runs of workflow files and of programs. */
    workflows: Workflows;
    volumes: {
        /** @param {Abortable} [o] @returns {Promise<import('./types.js').Volume[]>} */
        list: (o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Volume[]>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<{name: string}>} */
        create: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<{
            name: string;
        }>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').VolumeDetails>} */
        get: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').VolumeDetails>;
        /** Removes the volumes that no cell mounts and no project made. @param {Abortable & {dryRun?: boolean}} [o] @returns {Promise<import('./types.js').VolumesPruned>} */
        prune: (o?: (import("./types.js").Abortable & {
            dryRun?: boolean;
        }) | undefined) => Promise<import('./types.js').VolumesPruned>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<void>} */
        remove: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<void>;
    };
    secrets: {
        /** @param {Abortable} [o] @returns {Promise<import('./types.js').Secret[]>} */
        list: (o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Secret[]>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Secret>} */
        get: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Secret>;
        /** Makes or changes one; running cells have the new value at once. @param {string} name @param {import('./types.js').SecretSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').Secret>} */
        set: (name: string, spec: import('./types.js').SecretSpec, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Secret>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<void>} */
        remove: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<void>;
    };
    approvals: {
        /** @param {Abortable & {state?: 'pending' | 'all', cell?: string}} [o] @returns {Promise<import('./types.js').Approval[]>} */
        list: (o?: (import("./types.js").Abortable & {
            state?: 'pending' | 'all';
            cell?: string;
        }) | undefined) => Promise<import('./types.js').Approval[]>;
        /** @param {number} id @param {Abortable} [o] @returns {Promise<import('./types.js').Approval>} */
        get: (id: number, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Approval>;
        /** @param {number} id @param {import('./types.js').ApprovalAnswer} answer @param {Abortable} [o] @returns {Promise<import('./types.js').Approval>} */
        answer: (id: number, answer: import('./types.js').ApprovalAnswer, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Approval>;
    };
    /** Addresses under which browsers reach ports of cells; Cell.preview() makes one. */
    previews: {
        /** @param {Abortable & {cell?: string}} [o] @returns {Promise<import('./types.js').Preview[]>} */
        list: (o?: (import("./types.js").Abortable & {
            cell?: string;
        }) | undefined) => Promise<import('./types.js').Preview[]>;
        /** @param {string} id @param {Abortable} [o] @returns {Promise<import('./types.js').Preview>} */
        get: (id: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Preview>;
        /** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
        remove: (id: string, o?: import("./types.js").Abortable | undefined) => Promise<void>;
    };
    /** What vivd starts by the clock. */
    schedules: {
        /** @param {Abortable & {cell?: string}} [o] @returns {Promise<import('./types.js').Schedule[]>} */
        list: (o?: (import("./types.js").Abortable & {
            cell?: string;
        }) | undefined) => Promise<import('./types.js').Schedule[]>;
        /** @param {import('./types.js').ScheduleSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
        add: (spec: import('./types.js').ScheduleSpec, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Schedule>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
        get: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Schedule>;
        /** @param {string} name @param {Abortable & {force?: boolean}} [o] force: also if it runs, which is ended @returns {Promise<void>} */
        remove: (name: string, o?: (import("./types.js").Abortable & {
            force?: boolean;
        }) | undefined) => Promise<void>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
        pause: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Schedule>;
        /** @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').Schedule>} */
        resume: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Schedule>;
        /** Runs it now. @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun>} */
        run: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').ScheduleRun>;
        /** The newest first, without their output. @param {string} name @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun[]>} */
        runs: (name: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').ScheduleRun[]>;
        /** One with its output; without a number the newest. @param {string} name @param {number} [run] @param {Abortable} [o] @returns {Promise<import('./types.js').ScheduleRun>} */
        log: (name: string, run?: number | undefined, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').ScheduleRun>;
    };
    tokens: {
        /** @param {Abortable} [o] @returns {Promise<import('./types.js').Token[]>} */
        list: (o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Token[]>;
        /** @param {string} id @param {Abortable} [o] @returns {Promise<import('./types.js').Token>} */
        get: (id: string, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').Token>;
        /** @param {import('./types.js').TokenSpec} spec @param {Abortable} [o] @returns {Promise<import('./types.js').TokenMade>} */
        create: (spec: import('./types.js').TokenSpec, o?: import("./types.js").Abortable | undefined) => Promise<import('./types.js').TokenMade>;
        /** @param {string} id @param {Abortable} [o] @returns {Promise<void>} */
        remove: (id: string, o?: import("./types.js").Abortable | undefined) => Promise<void>;
    };
    /**
     * Runs a program's workflow: what each step gives is kept, and a step that is done is not run again when the program is started once
     * more with the same id.
     * @template T
     * @param {string} name
     * @param {(ctx: WorkflowContext) => Promise<T>} fn
     * @param {Abortable & {id?: string, inputs?: object, final?: boolean}} [o]
     * @returns {Promise<T>}
     */
    workflow<T>(name: string, fn: (ctx: WorkflowContext) => Promise<T>, o?: (import("./types.js").Abortable & {
        id?: string;
        inputs?: object;
        final?: boolean;
    }) | undefined): Promise<T>;
    /** @param {Abortable} [o] @returns {Promise<import('./types.js').Version>} */
    version(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').Version>;
    /**
     * What happens, in order; see EventOptions.
     * @param {import('./events.js').EventOptions} [o]
     * @returns {AsyncGenerator<import('./types.js').VivariumEvent, void, void>}
     */
    events(o?: import("./events.js").EventOptions | undefined): AsyncGenerator<import('./types.js').VivariumEvent, void, void>;
    /** The disk space that cells, snapshots, images and volumes take. @param {Abortable} [o] @returns {Promise<import('./types.js').DiskUsage>} */
    diskUsage(o?: import("./types.js").Abortable | undefined): Promise<import('./types.js').DiskUsage>;
    /** Removes what nobody needs any more. @param {Abortable & {dryRun?: boolean}} [o] @returns {Promise<import('./types.js').Pruned>} */
    prune(o?: (import("./types.js").Abortable & {
        dryRun?: boolean;
    }) | undefined): Promise<import('./types.js').Pruned>;
    /** Closes connections that wait for further requests. */
    close(): void;
    #private;
}
export type Abortable = import('./types.js').Abortable;
export type ClientOptions = import('./http.js').ClientOptions;
export type EventOptions = import('./events.js').EventOptions;
export type SignalName = import('./process.js').SignalName;
export type Command = import('./cells.js').Command;
export type CellInfo = import('./types.js').CellInfo;
export type CellCreate = import('./types.js').CellCreate;
export type CellSpec = import('./types.js').CellSpec;
export type CellState = import('./types.js').CellState;
export type ExecOptions = import('./types.js').ExecOptions;
export type ExecResult = import('./types.js').ExecResult;
export type Exit = import('./types.js').Exit;
export type FileEntry = import('./types.js').FileEntry;
export type FileInfo = import('./types.js').FileInfo;
export type Image = import('./types.js').Image;
export type Change = import('./types.js').Change;
export type Collected = import('./types.js').Collected;
export type DiffOptions = import('./types.js').DiffOptions;
export type ImageCheck = import('./types.js').ImageCheck;
export type ImageMade = import('./types.js').ImageMade;
export type ImportOptions = import('./types.js').ImportOptions;
export type Pruned = import('./types.js').Pruned;
export type LogEntry = import('./types.js').LogEntry;
export type PolicyAnswer = import('./types.js').PolicyAnswer;
export type PolicyLearnt = import('./types.js').PolicyLearnt;
export type PolicyQuestion = import('./types.js').PolicyQuestion;
export type ProcessInfo = import('./types.js').ProcessInfo;
export type Schedule = import('./types.js').Schedule;
export type ScheduleRun = import('./types.js').ScheduleRun;
export type ScheduleSpec = import('./types.js').ScheduleSpec;
export type SessionEvent = import('./types.js').SessionEvent;
export type SessionInfo = import('./types.js').SessionInfo;
export type SessionSpec = import('./types.js').SessionSpec;
export type Snapshot = import('./types.js').Snapshot;
export type Stats = import('./types.js').Stats;
export type Secret = import('./types.js').Secret;
export type SecretSpec = import('./types.js').SecretSpec;
export type Token = import('./types.js').Token;
export type TokenMade = import('./types.js').TokenMade;
export type TokenSpec = import('./types.js').TokenSpec;
export type Version = import('./types.js').Version;
export type VivariumEvent = import('./types.js').VivariumEvent;
export type Volume = import('./types.js').Volume;
export type WorkflowRun = import('./types.js').WorkflowRun;
export type WorkflowStep = import('./types.js').WorkflowStep;
export type StepInfo = import('./workflows.js').StepInfo;
export type StepOptions = import('./workflows.js').StepOptions;
import { Cell } from './cells.js';
import { Cells } from './cells.js';
import { Images } from './images.js';
import { Session } from './sessions.js';
import { Sessions } from './sessions.js';
import { Snapshots } from './cells.js';
import { WorkflowContext } from './workflows.js';
import { Workflows } from './workflows.js';
export { Cell, Cells, Images, Session, Sessions, Snapshots, WorkflowContext, Workflows };
