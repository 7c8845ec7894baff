/* WNOHANG gives 0 while children run, a pid when one has ended, ECHILD when there are none. */
#include "guest.h"

int main(void)
{
	int gate[2], status, n = 0;
	char c;

	signal(SIGCHLD, SIG_DFL);
	if (pipe(gate))
		return 1;
	SHOW(waitpid(-1, &status, WNOHANG));
	pid_t a = xfork();
	if (a == 0) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 11 : 1);
	}
	SHOW(waitpid(-1, &status, WNOHANG));
	SHOW(waitpid(a, &status, WNOHANG));
	SHOW(waitpid(0, &status, WNOHANG));
	close(gate[1]);
	while ((n = waitpid(a, &status, WNOHANG)) == 0)
		usleep(1000);
	CHECK(n == a);
	show_status("child", status);
	SHOW(waitpid(a, &status, WNOHANG));
	SHOW(waitpid(-1, &status, WNOHANG));
	return 0;
}
