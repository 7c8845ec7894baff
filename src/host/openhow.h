/* How the kernel opens what is below a directory: the arguments of openat2, in memory that cannot
 * change.
 *
 * openat2 takes its flags and its mode from memory, where a seccomp filter cannot look; with a mode
 * of its choice a kernel that was taken over could make set-id files in a host directory. So all
 * the arguments that it uses are written before anything of a guest is looked at
 * (host_open_prepare), to one page at a fixed address, and the filter allows openat2 with one of
 * these addresses only. None of them has a set-id bit. That the page stays what it is:
 *   a sealed memory file, mapped shared and read-only: not even /proc/PID/mem can write to it
 *   at the lowest address of the process, so that "not below OPENHOW_END" in the filter is
 *   enough to keep mmap, munmap, mprotect
 *   and madvise away from it, whatever their lengths are. */
#ifndef VIV_HOST_OPENHOW_H
#define VIV_HOST_OPENHOW_H

#define OPENHOW_BASE 0x100000UL
#define OPENHOW_END 0x101000UL
/* bytes from one to the next; the filter sees to it that an address is a multiple */
#define OPENHOW_STEP 32UL
#define OPENHOW_SIZE 24UL /* of struct open_how */
#define OPENHOW_MODE 0644 /* of a new file */

#endif
