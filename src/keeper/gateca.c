/* The CA of a cell whose gate opens connections: viv-gate makes it before the cell starts
 * (gate/ca.h). The key stays in this process and in the cell's gates. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "keeper/gateca.h"
#include "keeper/run.h"

#define CA_LINE_MAX 8192

static char line[CA_LINE_MAX]; /* "CERTIFICATE KEY\n", base64; "": there is none */
static char *pem;

static _Noreturn void ca_exec(int program, int out)
{
	static char name[] = "viv-gate", make[] = "--make-ca";
	char *argv[] = { name, make, NULL }, *envp[] = { NULL };

	if (dup2(out, STDOUT_FILENO) == STDOUT_FILENO)
		fexecve(program, argv, envp);
	_exit(126);
}

static void pem_make(size_t n)
{
	struct buf b = { 0 };

	buf_add_text(&b, "-----BEGIN CERTIFICATE-----\n");
	for (size_t at = 0; at < n; at += 64) {
		buf_add(&b, line + at, MIN(n - at, (size_t)64));
		buf_add_text(&b, "\n");
	}
	buf_add_text(&b, "-----END CERTIFICATE-----\n");
	pem = xstrndup((char *)b.p, b.len);
	buf_free(&b);
}

int gate_ca_make(struct err *e)
{
	int program, out = -1, status = -1;
	pid_t pid = -1;
	ssize_t n = -1;
	char *space;

	if (pem)
		return 0;
	program = program_open("viv-gate", e);
	if (program < 0)
		return -1;
	out = memfd_create("ca", MFD_CLOEXEC);
	if (out >= 0)
		pid = fork();
	if (pid == 0)
		ca_exec(program, out);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && status == 0)
		n = pread(out, line, sizeof(line) - 1, 0);
	close(program);
	if (out >= 0)
		close(out);
	space = n > 0 ? memchr(line, ' ', (size_t)n) : NULL;
	if (!space || line[n - 1] != '\n') {
		line[0] = '\0';
		return err_set(e, ERR_FAILED, "viv-gate cannot make the cell's CA");
	}
	pem_make((size_t)(space - line));
	return 0;
}

const char *gate_ca_pem(void)
{
	return pem;
}

void gate_ca_add(struct buf *to)
{
	if (!pem)
		return;
	buf_add_text(to, "ca ");
	buf_add_text(to, line);
}
