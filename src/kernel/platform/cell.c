/* The one cell of this kernel. */
#include "kernel/platform/cell.h"

struct cell_state cell = { .proc_fd = -1, .scratch_fd = -1 };
