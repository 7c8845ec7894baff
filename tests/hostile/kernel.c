/* Stands in for viv-kernel as one that was taken over: it says without end that it stops, ends and
 * has something to tell, and reads nothing. viv must end it when the time is up all the same.
 * Started by run.sh, in the place of the kernel. */
#include <sys/socket.h>

#include "hostile.h"

#include "../../src/wire/bootspec.h"

int main(void)
{
	static const uint32_t kinds[] = { CTL_LOG,	 CTL_EVENT, CTL_SEALED, CTL_STOP,	CTL_EXIT, CTL_STARTED,
					  CTL_EXEC_FAIL, CTL_STATS, CTL_DONE,	CTL_PROC_EXIT };
	struct ctl_msg m = { .type = CTL_LOG };

	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	for (unsigned i = 0;; i++) {
		m.type = kinds[i % 10];
		m.id = i % 7;
		m.request = i % 5;
		if (m.type == CTL_EXIT && i < 100000) /* not at once, or there is nothing to time out */
			m.type = CTL_LOG;
		memset(m.text, i % 255, sizeof(m.text));
		(void)!send(FD_CONTROL, &m, sizeof(m), 0);
	}
}
