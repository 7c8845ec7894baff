/* viv-files (wire/files.h), which vivd carries with it. */
#ifndef VIV_DAEMON_CELLS_FILESPROGRAM_H
#define VIV_DAEMON_CELLS_FILESPROGRAM_H

/* A memory file that nobody can write, made once and kept: its descriptor, or -errno. */
int files_program(void);

#endif
