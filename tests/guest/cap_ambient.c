/* needs: root */
/* Ambient capabilities: set with prctl, lowered with permitted and inheritable ones, shown in
 * /proc/PID/status, and kept over execve by a user who is not root. */
#include "guest.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/syscall.h>

static const char *caps(void)
{
	static char out[256];
	const char *s = get_file("/proc/self/status"), *p = strstr(s, "CapInh");

	snprintf(out, sizeof(out), "%s", p ? p : "none");
	p = strstr(out, "NoNew");
	out[p ? p - out : (long)strlen(out)] = 0;
	/* The bounding set is the machine's. */
	char *b = strstr(out, "CapBnd:"), *a = strstr(out, "CapAmb:");
	if (a && b)
		memmove(b, a, strlen(a) + 1);
	return out;
}

static void set(uint64_t eff, uint64_t perm, uint64_t inh)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = {
		{ (uint32_t)eff, (uint32_t)perm, (uint32_t)inh },
		{ (uint32_t)(eff >> 32), (uint32_t)(perm >> 32), (uint32_t)(inh >> 32) },
	};

	SHOW(syscall(SYS_capset, &h, d));
}

#define BIT(c) (1ULL << (c))

static void user(const char *self)
{
	uint64_t two = BIT(CAP_NET_RAW) | BIT(CAP_CHOWN);

	SHOW(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	CHECK(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	set(0, two, 0);
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
	set(two, two, BIT(CAP_NET_RAW));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 77, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 1, 0));
	SHOW(prctl(PR_CAP_AMBIENT, 9, 0, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 1, 0, 0));
	printf("before exec:\n%s", caps());
	fflush(stdout);
	pid_t pid = xfork();
	if (pid == 0) {
		execl(self, "self", "show", NULL);
		_exit(127);
	}
	xwait(pid);
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_NET_RAW, 0, 0));
	printf("lowered:\n%s", caps());
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
	set(two, two, 0);
	printf("no longer inheritable:\n%s", caps());
	set(two, two, two);
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
	printf("cleared:\n%s", caps());
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
	set(two, BIT(CAP_NET_RAW), two);
	set(BIT(CAP_NET_RAW), BIT(CAP_NET_RAW), two);
	printf("no longer permitted:\n%s", caps());
}

static void root_exec(const char *self)
{
	uint64_t all = BIT(CAP_NET_RAW) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP);

	set(all, all, all);
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
	printf("root:\n%s", caps());
	fflush(stdout);
	/* A change of user from root clears the ambient set. */
	CHECK(setresuid(1000, 1000, 1000) == 0);
	printf("no longer root:\n%s", caps());
	fflush(stdout);
	execl(self, "self", "show", NULL);
}

int main(int argc, char **argv)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid;

	self[n > 0 ? n : 0] = 0;
	if (argc > 1 && argv) {
		printf("after exec:\n%s", caps());
		return 0;
	}
	chmod(".", 0777);
	pid = xfork();
	if (pid == 0) {
		user(self);
		fflush(stdout);
		_exit(0);
	}
	show_status("user", xwait(pid));
	pid = xfork();
	if (pid == 0) {
		root_exec(self);
		_exit(1);
	}
	show_status("root", xwait(pid));
	return 0;
}
