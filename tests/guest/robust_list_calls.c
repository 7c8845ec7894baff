/* get_robust_list and set_robust_list: own head, EINVAL for a wrong size, ESRCH for nobody. */
#include "guest.h"
#include <linux/futex.h>
#include <sys/syscall.h>

int main(void)
{
	struct robust_list_head *head = NULL, mine = { .list = { &mine.list } };
	size_t len = 0;

	signal(SIGCHLD, SIG_DFL);
	SHOW(syscall(SYS_get_robust_list, 0, &head, &len));
	CHECK(head != NULL && len == sizeof(*head));
	SHOW(syscall(SYS_set_robust_list, &mine, sizeof(mine)));
	SHOW(syscall(SYS_get_robust_list, getpid(), &head, &len));
	CHECK(head == &mine);
	SHOW(syscall(SYS_set_robust_list, &mine, 5));
	SHOW(syscall(SYS_get_robust_list, 0x3fffffff, &head, &len));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(0);
	show_status("child", xwait(pid));
	return 0;
}
