/* What the options of viv run are made of; only options.c and the files named here use it. */
#ifndef VIV_KEEPER_OPTPARTS_H
#define VIV_KEEPER_OPTPARTS_H

#include "keeper/run.h"

/* Takes text, which may be NULL, and keeps it as long as o; NULL: there is no memory, which was said. */
char *run_text_keep(struct run_options *o, char *text);

/* Mounts (mountopts.c): 0, or an exit status with the message printed. */
int mount_option(struct run_options *o, const char *text);
int volume_option(struct run_options *o, const char *text);
int tmpfs_option(struct run_options *o, const char *text);

#endif
