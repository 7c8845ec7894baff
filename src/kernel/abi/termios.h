/* Terminal settings as they lie in guest memory: the kernel's structs, not libc's. The constants
 * come from the host's own headers, which cannot be included together with libc's <termios.h>. */
#ifndef VIV_KERNEL_ABI_TERMIOS_H
#define VIV_KERNEL_ABI_TERMIOS_H

#include <asm/ioctls.h>
#include <asm/termbits.h>

#include "base/base.h"

#define LINUX_NCCS 19
#define LINUX_NCC 8

struct linux_termios2 {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line;
	uint8_t cc[LINUX_NCCS];
	uint32_t ispeed, ospeed;
};
_Static_assert(sizeof(struct linux_termios2) == 44, "struct termios2");
#define LINUX_TERMIOS_SIZE 36 /* struct termios is the same without the speeds */

struct linux_termio {
	uint16_t iflag, oflag, cflag, lflag;
	uint8_t line;
	uint8_t cc[LINUX_NCC];
};
_Static_assert(sizeof(struct linux_termio) == 18, "struct termio");

struct linux_winsize {
	uint16_t row, col, xpixel, ypixel;
};

#endif
