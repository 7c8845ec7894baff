/* A kernel without guests: reads a disk and says what is in it. */
#ifndef VIV_KERNEL_CELL_MAINTAIN_H
#define VIV_KERNEL_CELL_MAINTAIN_H

/* Does what the spec's mode asks for and ends; the result goes to out_fd, how it went to viv. */
_Noreturn void maintain(void);

#endif
