/* Sizes of structs whose beginning is the same in every C library, but whose end some libraries
 * pad. */
#ifndef VIV_KERNEL_ABI_RESOURCE_H
#define VIV_KERNEL_ABI_RESOURCE_H

#define LINUX_RUSAGE_SIZE 144
#define LINUX_SYSINFO_SIZE 112

#endif
