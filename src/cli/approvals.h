/* Questions of cells, as far as other verbs show them. */
#ifndef VIV_CLI_APPROVALS_H
#define VIV_CLI_APPROVALS_H

struct json;

/* What is asked, on standard output, without a line end: open /etc/hosts (read,write) */
void approval_what_print(const struct json *a);

#endif
