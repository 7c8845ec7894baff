/* The bounds of workflows, in one place. */
#ifndef VIV_DAEMON_WORKFLOWS_LIMITS_H
#define VIV_DAEMON_WORKFLOWS_LIMITS_H

#define WF_NAME_MAX 64 /* characters of a name */
#define WF_FILE_STEPS 1000 /* steps written in a file and the files that it names */
#define WF_DOC_BYTES (4u << 20) /* of the document of a run */
#define WF_FILES 32 /* workflows of one run */
#define WF_DEPTH 8 /* of workflows that name workflows */
#define WF_STEPS_MAX 20000 /* nodes of a run */
#define WF_ITEMS_MAX 10000 /* of a foreach */
#define WF_PARALLEL_MAX 256 /* steps at once of one parallel or foreach */
#define WF_RETRY_MAX 100
#define WF_OUTPUT_MAX (256u << 10) /* bytes of what a step prints that are kept */
#define WF_RESULT_MAX (1u << 20) /* bytes of a result as JSON */
#define WF_STDERR_MAX 4096
#define WF_RUN_BYTES (16u << 20) /* of all results of a run */
#define WF_INPUT_BYTES (256u << 10)
#define WF_RUNS_KEPT 1000 /* runs that are over */
#define WF_RUNS_ACTIVE 1000 /* runs that are not over, of files and programs together */
#define WF_EXPR_MAX 4096 /* bytes of an expression */
#define WF_EXPR_CPU 1 /* seconds */
#define WF_EXPR_MS 5000 /* by the clock */
#define WF_EXPR_MEMORY (256u << 20)
#define WF_EXPR_STARTS 8 /* more attempts to start that process, in some 9 s */
#define WF_EXPRS_AT_ONCE 4 /* evaluations in processes of their own */
#define WF_INTERRUPTED_MAX 5 /* ends of its cell, in a row, that a step survives */
#define WF_ROUND 256 /* nodes that are worked on in one transaction */

#endif
