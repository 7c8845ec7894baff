/* The handlers of all routes, by resource; the table is in routes.c. */
#ifndef VIV_API_ROUTES_H
#define VIV_API_ROUTES_H

#include "api/http/request.h"

/* about.c */
void version_get(struct request *r);
void openapi_get(struct request *r);
/* metrics.c */
void metrics_get(struct request *r);
/* tokens.c */
void tokens_list(struct request *r);
void tokens_create(struct request *r);
void token_get(struct request *r);
void token_delete(struct request *r);
/* secrets.c */
void secrets_list(struct request *r);
void secret_get(struct request *r);
void secret_put(struct request *r);
void secret_delete(struct request *r);
/* agents.c */
void agents_list(struct request *r);
void agent_get(struct request *r);
void agent_put(struct request *r);
void agent_delete(struct request *r);
void prompt_get(struct request *r);
/* tools.c */
void tools_list(struct request *r);
void tool_get(struct request *r);
void tool_put(struct request *r);
void tool_delete(struct request *r);
/* approvals.c */
void approvals_get(struct request *r);
void approval_get_one(struct request *r);
void approval_post(struct request *r);
/* sessions/sessions.c */
void sessions_get(struct request *r);
void cell_sessions_get(struct request *r);
void cell_sessions_post(struct request *r);
void session_get(struct request *r);
void session_delete(struct request *r);
void session_prompt_post(struct request *r);
void session_cancel_post(struct request *r);
void session_close_post(struct request *r);
void session_mode_post(struct request *r);
void session_model_post(struct request *r);
void session_config_post(struct request *r);
void transcripts_get(struct request *r);
/* sessions/events.c */
void session_events_get(struct request *r);
/* workflows.c */
void workflows_get(struct request *r);
void workflows_post(struct request *r);
void workflows_check_post(struct request *r);
void workflows_defined_get(struct request *r);
void workflow_get(struct request *r);
void workflow_delete(struct request *r);
void workflow_cancel_post(struct request *r);
void workflow_retry_post(struct request *r);
void workflow_wait_get(struct request *r);
void workflow_code_post(struct request *r);
void workflow_claim_post(struct request *r);
void workflow_renew_post(struct request *r);
void workflow_finish_post(struct request *r);
/* schedules.c */
void schedules_list_get(struct request *r);
void schedules_create(struct request *r);
void schedule_get_one(struct request *r);
void schedule_delete(struct request *r);
void schedule_pause_post(struct request *r);
void schedule_resume_post(struct request *r);
void schedule_run_post(struct request *r);
void schedule_runs_get(struct request *r);
void schedule_run_get_one(struct request *r);
/* previews.c */
void previews_list(struct request *r);
void previews_create(struct request *r);
void preview_get(struct request *r);
void preview_delete(struct request *r);
/* fetch.c */
void fetch_post(struct request *r);
/* events.c */
void events_get(struct request *r);
/* cells.c */
void cells_list(struct request *r);
void cells_create(struct request *r);
void cell_get(struct request *r);
void cell_delete(struct request *r);
void cell_patch(struct request *r);
void policy_get(struct request *r);
void policy_put(struct request *r);
void policy_post(struct request *r);
void policy_check_post(struct request *r);
void policy_learn_get(struct request *r);
void policy_learn_delete(struct request *r);
/* cellops.c */
void cell_start_post(struct request *r);
void cell_sleep_post(struct request *r);
void cell_stop_post(struct request *r);
void cell_wake_post(struct request *r);
void cell_restart_post(struct request *r);
void cell_pause_post(struct request *r);
void cell_resume_post(struct request *r);
void cell_rollback_post(struct request *r);
void cell_kill_post(struct request *r);
void cell_rename_post(struct request *r);
void cell_wait_get(struct request *r);
/* exec/exec.c */
void exec_post(struct request *r);
/* files/files.c */
void files_get(struct request *r);
void files_put(struct request *r);
void files_delete(struct request *r);
void files_stat_get(struct request *r);
void files_list_get(struct request *r);
void files_mkdir_post(struct request *r);
void files_move_post(struct request *r);
void files_tar_get(struct request *r);
void files_tar_put(struct request *r);
void files_watch_get(struct request *r);
/* exec/websocket.c */
void exec_get(struct request *r);
/* exec/processes.c */
void processes_list(struct request *r);
void process_signal(struct request *r);
void process_resize(struct request *r);
void process_input(struct request *r);
void process_attach(struct request *r);
void process_wait(struct request *r);
void cell_stats_get(struct request *r);
/* exec/logs.c */
void logs_get(struct request *r);
/* journals/journals.c */
void journals_list(struct request *r);
void journal_head_get(struct request *r);
void journal_delete_one(struct request *r);
/* journals/read.c */
void journal_get(struct request *r);
void journal_verify_post(struct request *r);
void journal_touched_get(struct request *r);
void journal_blame_get(struct request *r);
void journal_timeline_get(struct request *r);
/* projects.c */
void projects_list(struct request *r);
void project_up(struct request *r);
void project_down(struct request *r);
/* disks.c */
void cell_diff_get(struct request *r);
void cell_commit_post(struct request *r);
void cell_verify_post(struct request *r);
/* images.c */
void images_list(struct request *r);
void images_import(struct request *r);
void images_import_path(struct request *r);
void images_gc(struct request *r);
void images_verify_post(struct request *r);
void image_get(struct request *r);
void image_delete(struct request *r);
void image_tag_post(struct request *r);
void image_tar_get(struct request *r);
void image_verify_post(struct request *r);
/* prune.c */
void prune_post(struct request *r);
/* df.c */
void system_df(struct request *r);
/* volumes.c */
void volume_get(struct request *r);
void volumes_prune(struct request *r);
/* store.c */
void cell_fork_post(struct request *r);
void volumes_list(struct request *r);
void volumes_create(struct request *r);
void volume_delete(struct request *r);
void snapshots_list(struct request *r);
void snapshots_create(struct request *r);
void snapshot_delete(struct request *r);

#endif
