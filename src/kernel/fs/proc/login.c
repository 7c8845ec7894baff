/* /proc/PID/loginuid and sessionid: who logged in to start this process, as pam_loginuid records it
 * for sshd, cron and login. Each thread has both and hands them down to what it clones. Nothing in
 * the cell depends on them.
 *
 * As on Linux without the audit features that lock them: a thread sets its own only, once without a
 * privilege, and with CAP_AUDIT_CONTROL as often as it likes. Each login gets the next session
 * number. */
#include <errno.h>
#include <linux/capability.h>

#include "kernel/fs/proc/proc_priv.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"

static uint32_t session_last;

int show_loginuid(struct pinode *pi, struct task *t, struct textbuf *b)
{
	const struct task *who = pi_task(pi);

	(void)t;
	if (!who)
		return -ESRCH;
	text_printf(b, "%u", who->loginuid);
	return 0;
}

int show_session(struct pinode *pi, struct task *t, struct textbuf *b)
{
	const struct task *who = pi_task(pi);

	(void)t;
	if (!who)
		return -ESRCH;
	text_printf(b, "%u", who->sessionid);
	return 0;
}

/* Linux's kstrtou32: digits, a plus sign before them, a newline after them, nothing else. */
static int parse_u32(const char *s, uint32_t *ret_)
{
	uint64_t v = 0;

	if (*s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX)
			return -ERANGE;
	}
	if (*s == '\n')
		s++;
	if (*s)
		return -EINVAL;
	*ret_ = (uint32_t)v;
	return 0;
}

int64_t store_loginuid(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	uint32_t uid;
	int err;

	if (pi_task(pi) != t)
		return -EPERM;
	err = parse_u32(buf, &uid);
	if (err)
		return err;
	if (t->loginuid != LOGIN_UNSET && !cred_has_cap(&t->cred, CAP_AUDIT_CONTROL))
		return -EPERM;
	t->loginuid = uid;
	t->sessionid = LOGIN_UNSET;
	if (uid != LOGIN_UNSET) {
		if (++session_last == LOGIN_UNSET)
			session_last = 1;
		t->sessionid = session_last;
	}
	return (int64_t)n;
}
