/* viv-gate, started by a keeper: descriptor 3 is the channel to the kernel, 4 the settings. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/gate.h"

#define FD_CHANNEL 3
#define FD_SETTINGS 4

int main(void)
{
	struct err e = { 0 };

	signal(SIGPIPE, SIG_IGN);
	loop_init();
	if (settings_read(FD_SETTINGS, &e) < 0 || resolve_init(&e) < 0)
		log_die("%s", err_line(&e).str);
	close(FD_SETTINGS);
	channel_open(FD_CHANNEL);
	loop_run();
	return 0;
}
