/* viv-gate, started by a keeper: descriptor 3 is the channel to the kernel, 4 the settings, 5 the
 * channel to the keeper, 7 and 8 the ring of the cell's journal. isolate.c has the stages and why
 * they are in this order. With --make-ca it makes the CA of a cell (ca.h), and nothing else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/ca.h"
#include "gate/control.h"
#include "gate/gate.h"
#include "gate/record.h"
#include "gate/tls.h"

/* All that is read from files or from the keeper before the first byte of somebody else. */
static int files_read(struct err *e)
{
	if (settings_read(GATE_FD_SETTINGS, &settings, e) < 0 || lookup_init(e) < 0)
		return -1;
	names_restore();
	tls_start();
	close(GATE_FD_SETTINGS);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--make-ca"))
		return ca_make();
	signal(SIGPIPE, SIG_IGN);
	/* First: without a journal its number is the next one that is free. */
	if (record_open(&e) < 0)
		log_die("viv-gate: %s", err_line(&e).str);
	loop_init();
	if (files_read(&e) < 0 || isolate_enter(&e) < 0)
		log_die("viv-gate: %s", err_line(&e).str);
	control_open(GATE_FD_CONTROL);
	channel_open(GATE_FD_CHANNEL);
	loop_run();
	connect_end();
	opened_finish();
	return 0;
}
