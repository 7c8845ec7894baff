/* socket(): families, types and protocols that there are, and the errors for those that there are
 * not. */
#include "net.h"

int main(void)
{
	SHOWOK(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOWOK(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	SHOWOK(socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	SHOW(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	SHOW(socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP));
	SHOW(socket(AF_INET, SOCK_SEQPACKET, 0));
	SHOW(socket(AF_UNIX, SOCK_STREAM, 77));
	SHOW(socket(AF_UNIX, SOCK_RDM, 0));
	SHOW(socket(AF_UNIX, 12, 0));
	SHOW(socket(AF_UNIX, SOCK_STREAM | 0x100000, 0));
	SHOW(socket(999, SOCK_STREAM, 0));
	SHOW(socket(-1, SOCK_STREAM, 0));
	SHOW(socket(AF_INET, SOCK_STREAM, -1));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(!!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	SHOW(fcntl(fd, F_GETFL) & O_ACCMODE);
	struct stat st;
	SHOW(fstat(fd, &st));
	SHOW(S_ISSOCK(st.st_mode));
	SHOW(lseek(fd, 0, SEEK_SET));
	char link[64] = "", path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	SHOW(readlink(path, link, 63) > 0 && !strncmp(link, "socket:[", 8));
	SHOW(open(path, O_RDWR));
	return 0;
}
