/*
 * reboot with the wrong magic: EINVAL for who has the right, EPERM for others. Nothing is ever
 * rebooted here.
 */
/* needs: root */
#include "guest.h"
#include <linux/reboot.h>
#include <sys/syscall.h>

int main(void)
{
	SHOW(syscall(SYS_reboot, 0, 0, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	SHOW(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, 1, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	SHOW(syscall(SYS_reboot, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	CHECK(setuid(65534) == 0);
	SHOW(syscall(SYS_reboot, 0, 0, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	SHOW(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	return 0;
}
