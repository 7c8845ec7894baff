/* execve of a file with these bytes: #! lines and the programs that they lead to, ELF programs and
 * their interpreters. The file is /s, /i is another program; a script may name both. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "fuzz.h"
#include "kernel/platform/elf.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/path.h"

const char fuzz_name[] = "exec";
const size_t fuzz_max = 2048;

static void file_put_bytes(const char *path, const void *data, size_t n)
{
	int64_t fd = world_call(sys_openat, (uint64_t)AT_FDCWD, (uint64_t)path, O_WRONLY | O_CREAT | O_TRUNC, 0755, 0, 0);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(world_call(sys_write, (uint64_t)fd, (uint64_t)data, n, 0, 0, 0) == (int64_t)n);
	FUZZ_CHECK(world_call(sys_close, (uint64_t)fd, 0, 0, 0, 0, 0) == 0);
}

void fuzz_init(void)
{
	struct task *t = world_task();

	(void)t;
	file_put_bytes("/i", "#!/s x\n", 7);
	world_mark();
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct task *t = world_task();
	char line[256], *interp, *arg;
	int r;

	if (shebang_parse(data, size, line, &interp, &arg) == 0) {
		FUZZ_CHECK(interp > line && *interp && interp + strlen(interp) < line + 256);
		FUZZ_CHECK(!strpbrk(interp, " \t"));
		FUZZ_CHECK(!arg || (arg > interp && *arg && arg + strlen(arg) < line + 256));
	}
	file_put_bytes("/s", data, size);
	task_current = t;
	r = exec_prepare(t, AT_FDCWD, "/s", LOOKUP_FOLLOW, 0);
	FUZZ_CHECK(r <= 0 && r > -4096);
	FUZZ_CHECK((r == 0) == (t->proc->exec != NULL));
	exec_state_free(t->proc);
	task_current = NULL;
	world_check();
}
