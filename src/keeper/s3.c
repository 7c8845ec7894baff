/* --mount s3://BUCKET[/PREFIX]:DST: starts the viv-s3 that shows it, and hands its socket to the
 * cell. viv-s3 has viv's environment, where the credentials are; the cell has neither. */
#include "keeper/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/s3.h"

bool s3_is_url(const char *src)
{
	return !strncmp(src, "s3://", 5);
}

static int s3_spawn(int sock, char **argv, struct err *e)
{
	int fd = program_open("viv-s3", e);
	pid_t pid;

	if (fd < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* All other descriptors of viv are closed by the exec. */
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		sock = fcntl(sock, F_DUPFD_CLOEXEC, 10);
		if (fd >= 0 && sock >= 0 && dup2(sock, 3) == 3)
			fexecve(fd, argv, environ);
		_exit(126);
	}
	close(fd);
	return pid < 0 ? err_set(e, ERR_FAILED, "cannot start viv-s3: %s", strerror(errno)) : 0;
}

int s3_start(const struct run_options *o, const char *src, bool readonly, int *ret_sock,
	     struct err *e)
{
	struct s3_hello hello = { 0 };
	char *bucket = strdup(src + 5), *prefix, *end;
	char program[] = "viv-s3", number[] = "3", ro[] = "ro", rw[] = "rw", none[] = "";
	char *argv[] = { program, number, bucket, none, none, readonly ? ro : rw, NULL };
	int pair[2], status;
	ssize_t n;

	if (!bucket || (o->s3_endpoint && !(argv[4] = strdup(o->s3_endpoint))))
		return err_set(e, ERR_FAILED, "out of memory");
	prefix = strchr(bucket, '/');
	if (prefix) {
		*prefix++ = '\0';
		end = prefix + strlen(prefix);
		while (end > prefix && end[-1] == '/')
			*--end = '\0';
		argv[3] = prefix;
	}
	if (!*bucket)
		return err_set(e, ERR_FAILED, "--mount '%s': give it as s3://BUCKET/PREFIX:DST",
			       src);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_FAILED, "cannot prepare descriptors: %s", strerror(errno));
	status = s3_spawn(pair[1], argv, e);
	close(pair[1]);
	if (status)
		return status;
	n = recv(pair[0], &hello, sizeof(hello), 0);
	if (n != sizeof(hello))
		return err_set(e, ERR_FAILED, "--mount %s: viv-s3 ended before it was ready", src);
	hello.text[sizeof(hello.text) - 1] = '\0';
	if (hello.err)
		return err_set(e, ERR_FAILED, "--mount %s: %s", src, hello.text);
	*ret_sock = pair[0];
	return 0;
}
