/* See filesprogram.h. */
#include "daemon/cells/filesprogram.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "wire/memfd.h"

extern const char files_blob[], files_blob_end[];

int files_program(void)
{
	static int fd = -1;
	char path[40];
	int made;

	if (fd >= 0)
		return fd;
	made = memfd_sealed("viv-files", files_blob, (size_t)(files_blob_end - files_blob));
	if (made < 0)
		return made;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	close(made);
	return fd < 0 ? -errno : fd;
}

int files_spec(const char *const words[], const char *user)
{
	char *argv[FILES_WORDS + 2] = { (char *)(uintptr_t) "viv-files" };
	struct execspec s = { .argv = argv, .cwd = "/", .user = user ? user : "0:0" };

	for (unsigned i = 0; i < FILES_WORDS && words[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)words[i];
	return execspec_write(&s);
}

int files_run(struct keeper_link *l, int spec, const int fds[3], ask_fn fn, void *arg)
{
	return files_run_for(l, spec, fds, 0, fn, arg);
}

int files_run_for(struct keeper_link *l, int spec, const int fds[3], int64_t timeout_ns, ask_fn fn,
		  void *arg)
{
	struct keep_start s = { .made = spec,
				.exec.flags = KEEP_X_PROGRAM | KEEP_X_QUIET,
				.exec.timeout_ns = timeout_ns,
				.fds = { fds[0], fds[1], fds[2] },
				.program = files_program() };

	return s.program < 0 ? s.program : link_exec(l, &s, fn, arg);
}
