/* See upcalls.h. */
#include "kernel/task/upcalls.h"

struct task_upcalls task_upcalls SEALED;
