/* Linux's native asynchronous I/O (sys/aio.c). */
#ifndef VIV_KERNEL_SYS_AIO_H
#define VIV_KERNEL_SYS_AIO_H

struct proc;

/* The process ended or runs another program: its contexts go. */
void aio_free(struct proc *p);

#endif
