/* viv-gate, started by a keeper: descriptor 3 is the channel to the kernel, 4 the settings. With --make-ca
 * it makes the CA of a cell (ca.h), and nothing else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/ca.h"
#include "gate/gate.h"
#include "gate/tls.h"

#define FD_CHANNEL 3
#define FD_SETTINGS 4

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--make-ca"))
		return ca_make();
	signal(SIGPIPE, SIG_IGN);
	loop_init();
	if (settings_read(FD_SETTINGS, &e) < 0 || lookup_init(&e) < 0)
		log_die("%s", err_line(&e).str);
	tls_start();
	close(FD_SETTINGS);
	channel_open(FD_CHANNEL);
	loop_run();
	return 0;
}
