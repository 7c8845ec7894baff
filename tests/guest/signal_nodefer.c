/* A signal is blocked while its handler runs, unless SA_NODEFER is set; then it nests. */
#include "guest.h"

static volatile int depth, deepest, calls;

static void handler(int sig)
{
	calls++;
	if (++depth > deepest)
		deepest = depth;
	if (calls < 5)
		raise(sig);
	depth--;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	for (int i = 0; i < 2; i++) {
		depth = deepest = calls = 0;
		sa.sa_flags = i ? SA_NODEFER : 0;
		sigaction(SIGUSR1, &sa, NULL);
		raise(SIGUSR1);
		printf("%s: calls %d, deepest %d\n", i ? "SA_NODEFER" : "plain", calls, deepest);
	}
	return 0;
}
