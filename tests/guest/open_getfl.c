/*
 * F_GETFL keeps the access and status flags, forgets the creation flags; F_SETFL changes only some.
 */
#include "guest.h"

static void show(const char *what, int fd)
{
	int fl = fcntl(fd, F_GETFL);
	printf("%s: mode %d%s%s%s%s%s%s%s\n", what, fl & O_ACCMODE, fl & O_APPEND ? " append" : "",
	       fl & O_NONBLOCK ? " nonblock" : "", fl & O_CREAT ? " creat" : "",
	       fl & O_TRUNC ? " trunc" : "", fl & O_EXCL ? " excl" : "",
	       (fl & O_SYNC) == O_SYNC ? " sync" : "", fl & O_NOFOLLOW ? " nofollow" : "");
}

int main(void)
{
	int fd = open("f", O_RDWR | O_CREAT | O_EXCL | O_TRUNC | O_NONBLOCK | O_APPEND, 0600);
	show("created", fd);
	SHOW(fcntl(fd, F_SETFL, O_APPEND));
	show("append", fd);
	SHOW(fcntl(fd, F_SETFL, O_WRONLY | O_NONBLOCK | O_CREAT | O_TRUNC | O_SYNC));
	show("set much", fd);
	SHOW(fcntl(fd, F_SETFL, 0));
	show("set none", fd);
	show("rdonly", open("f", O_RDONLY));
	show("wronly", open("f", O_WRONLY));
	show("sync", open("f", O_WRONLY | O_SYNC));
	show("nofollow", open("f", O_RDONLY | O_NOFOLLOW));
	CHECK(fcntl(open(".", O_RDONLY | O_DIRECTORY), F_GETFL) & O_DIRECTORY);
	SHOW(fcntl(9999, F_GETFL));
	SHOW(fcntl(9999, F_SETFL, 0));
	/* A dup shares the status flags, a second open does not. */
	int d = dup(fd), e = open("f", O_RDWR);
	SHOW(fcntl(fd, F_SETFL, O_APPEND));
	show("dup", d);
	show("second open", e);
	unlink("f");
	return 0;
}
