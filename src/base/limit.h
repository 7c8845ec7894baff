/* Limits of the process itself. */
#ifndef VIV_BASE_LIMIT_H
#define VIV_BASE_LIMIT_H

/* As many open files as the hard limit allows, and no more than most (0: whatever that is). */
void limit_files_raise(unsigned long most);

#endif
