/* The host's view of other processes of the cell (procmem.h). The text files of /proc are read into
 * a buffer of fixed size with one read each and parsed without libc's scanners: the command name in
 * stat is chosen by nobody we trust, so everything is counted from its last ')'. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "host/procmem.h"

/* #syscalls: process_vm_readv */
int64_t host_vm_readv(pid_t pid, const struct iovec *local, unsigned nlocal,
		      const struct iovec *remote, unsigned nremote)
{
	ssize_t n = process_vm_readv(pid, local, nlocal, remote, nremote, 0);

	return n < 0 ? -errno : n;
}

/* #syscalls: process_vm_writev */
int64_t host_vm_writev(pid_t pid, const struct iovec *local, unsigned nlocal,
		       const struct iovec *remote, unsigned nremote)
{
	ssize_t n = process_vm_writev(pid, local, nlocal, remote, nremote, 0);

	return n < 0 ? -errno : n;
}

/* The beginning of a file as a string. */
static int read_text(int dirfd, const char *path, char *buf, size_t size)
{
	int fd;
	int64_t n;

	if (dirfd < 0)
		return -ENOENT;
	fd = host_openat(dirfd, path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	n = host_read(fd, buf, size - 1);
	host_close(fd);
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	return 0;
}

static uint64_t parse_number(const char **s, unsigned base)
{
	uint64_t v = 0;
	unsigned digit;

	while (**s == ' ' || **s == '\t')
		(*s)++;
	if (**s == '-') /* only fields that nobody reads are negative */
		(*s)++;
	for (;; (*s)++) {
		if (**s >= '0' && **s <= '9')
			digit = (unsigned)(**s - '0');
		else if (base == 16 && **s >= 'a' && **s <= 'f')
			digit = (unsigned)(**s - 'a') + 10;
		else
			return v;
		v = v * base + digit;
	}
}

static int parse_stat(const char *text, struct host_stat *out)
{
	const char *s = strrchr(text, ')');
	uint64_t field[40] = { 0 };

	if (!s || s[1] != ' ' || s[2] == '\0')
		return -EIO;
	*out = (struct host_stat){ .state = s[2] };
	s += 3;
	/* proc(5) counts from 1; state is field 3. */
	for (unsigned i = 4; i < ARRAY_LEN(field) && *s == ' '; i++)
		field[i] = parse_number(&s, 10);
	out->minflt = field[10];
	out->majflt = field[12];
	out->utime = field[14];
	out->stime = field[15];
	out->nthreads = (uint32_t)field[20];
	out->start = field[22];
	out->vsize = field[23];
	out->rss = field[24] * PAGE_SIZE;
	out->processor = (int)field[39];
	return 0;
}

int host_proc_stat(int proc_fd, pid_t pid, struct host_stat *out)
{
	char path[32], text[1024];
	int err;

	snprintf(path, sizeof(path), "%d/stat", pid);
	err = read_text(proc_fd, path, text, sizeof(text));
	return err < 0 ? err : parse_stat(text, out);
}

int host_task_stat(int proc_fd, pid_t pid, pid_t tid, struct host_stat *out)
{
	char path[48], text[1024];
	int err;

	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	err = read_text(proc_fd, path, text, sizeof(text));
	return err < 0 ? err : parse_stat(text, out);
}

int host_task_status(int proc_fd, pid_t pid, pid_t tid, struct host_status *out)
{
	char path[48], text[4096];
	const struct {
		const char *key;
		unsigned base, scale;
		uint64_t *value;
	} lines[] = {
		{ "VmHWM:", 10, 1024, &out->hwm },
		{ "VmRSS:", 10, 1024, &out->rss },
		{ "RssAnon:", 10, 1024, &out->anon },
		{ "RssShmem:", 10, 1024, &out->shmem },
		{ "VmPTE:", 10, 1024, &out->tables },
		{ "VmSwap:", 10, 1024, &out->swap },
		{ "HugetlbPages:", 10, 1024, &out->huge },
		{ "SigPnd:", 16, 1, &out->sig_pnd },
		{ "ShdPnd:", 16, 1, &out->shd_pnd },
		{ "SigBlk:", 16, 1, &out->sig_blk },
		{ "SigIgn:", 16, 1, &out->sig_ign },
		{ "SigCgt:", 16, 1, &out->sig_cgt },
		{ "voluntary_ctxt_switches:", 10, 1, &out->nvcsw },
		{ "nonvoluntary_ctxt_switches:", 10, 1, &out->nivcsw },
	};
	const char *line, *s;
	int err;

	*out = (struct host_status){ 0 };
	snprintf(path, sizeof(path), "%d/task/%d/status", pid, tid);
	err = read_text(proc_fd, path, text, sizeof(text));
	if (err < 0)
		return err;
	/* The name is on the first line, with its newlines escaped, so it cannot imitate another
	 * line. */
	for (line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
			size_t len = strlen(lines[i].key);

			if (strncmp(line, lines[i].key, len) != 0)
				continue;
			s = line + len;
			*lines[i].value = parse_number(&s, lines[i].base) * lines[i].scale;
			break;
		}
	}
	return 0;
}

/* As getdents64 writes it. */
struct dirent_head {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/* The names that are numbers. */
static int64_t numbers(int dirfd, const char *path, pid_t *out, size_t max)
{
	char buf[16384] __attribute__((aligned(8)));
	int fd = dirfd < 0 ? -ENOENT : host_openat(dirfd, path, O_RDONLY | O_DIRECTORY, 0);
	size_t count = 0;
	int64_t n;

	if (fd < 0)
		return fd;
	while (count < max && (n = host_getdents(fd, buf, sizeof(buf))) > 0)
		for (int64_t at = 0; at < n && count < max;) {
			const struct dirent_head *d = (const void *)(buf + at);
			const char *s = d->name;

			at += d->reclen;
			if (*s >= '1' && *s <= '9')
				out[count++] = (pid_t)parse_number(&s, 10);
		}
	host_close(fd);
	return (int64_t)count;
}

int64_t host_pids(int proc_fd, pid_t *out, size_t max)
{
	return numbers(proc_fd, ".", out, max);
}

int64_t host_tids(int proc_fd, pid_t pid, pid_t *out, size_t max)
{
	char path[32];

	snprintf(path, sizeof(path), "%d/task", pid);
	return numbers(proc_fd, path, out, max);
}

int host_proc_status(int proc_fd, pid_t pid, struct host_status *out)
{
	pid_t tids[64];
	int64_t n;
	int err = host_task_status(proc_fd, pid, pid, out);

	if (err < 0 || out->hwm)
		return err;
	/* Ended threads but the first are not listed, so one of a few has it. */
	n = host_tids(proc_fd, pid, tids, ARRAY_LEN(tids));
	for (int64_t i = 0; i < n && !out->hwm; i++)
		if (tids[i] != pid)
			(void)host_task_status(proc_fd, pid, tids[i], out);
	return 0;
}

/* kcmp, for memory only: tools/gen-kernel-filter.c allows no other kind. */
bool host_shares_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

/* "NR ARG0 ... ARG5 SP PC", or "running". */
int host_thread_sp(int proc_fd, pid_t pid, pid_t tid, uint64_t *ret_sp)
{
	char path[48], text[256], *s = text;
	int err;

	snprintf(path, sizeof(path), "%d/task/%d/syscall", pid, tid);
	err = read_text(proc_fd, path, text, sizeof(text));
	if (err < 0)
		return err;
	for (int i = 0; s && i < 7; i++)
		s = strchr(s + 1, ' ');
	if (!s || strncmp(s, " 0x", 3) != 0)
		return -EAGAIN;
	*ret_sp = strtoull(s + 1, NULL, 16);
	return 0;
}

uint64_t host_signal_frame(void)
{
	uint64_t size = getauxval(51 /* AT_MINSIGSTKSZ, Linux 5.14 */);

	return size ? size : 4096;
}

/* #syscalls: clock_gettime */
int64_t host_proc_cputime(pid_t pid, enum host_cpuclock which)
{
	struct timespec ts;
	/* The clock of another process, as clock_getcpuclockid() makes it. */
	clockid_t id = (clockid_t)((~(uint32_t)pid << 3) | (uint32_t)which);

	if (clock_gettime(id, &ts) < 0)
		return -errno;
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* #syscalls: prlimit64 */
int host_prlimit(pid_t pid, int resource, uint64_t cur, uint64_t max)
{
	struct rlimit64 lim;

	if (syscall(SYS_prlimit64, pid, resource, NULL, &lim) < 0)
		return -errno;
	lim.rlim_max = MIN(lim.rlim_max, max);
	lim.rlim_cur = MIN(lim.rlim_max, cur);
	if (syscall(SYS_prlimit64, pid, resource, &lim, NULL) < 0)
		return -errno;
	return 0;
}

/* #syscalls: setpriority */
int host_setpriority(pid_t tid, int nice)
{
	return setpriority(PRIO_PROCESS, (id_t)tid, nice) < 0 ? -errno : 0;
}

/* #syscalls: sched_setaffinity */
int host_sched_setaffinity(pid_t tid, const uint64_t *mask, size_t bytes)
{
	return syscall(SYS_sched_setaffinity, tid, bytes, mask) < 0 ? -errno : 0;
}

/* #syscalls: get_robust_list */
int host_robust_list(pid_t tid, uint64_t *ret_head)
{
	size_t len;

	return syscall(SYS_get_robust_list, tid, ret_head, &len) < 0 ? -errno : 0;
}

/* #syscalls: sysinfo */
int host_memory(struct host_memory *out)
{
	struct sysinfo si;

	if (sysinfo(&si) < 0)
		return -errno;
	out->total = (uint64_t)si.totalram * si.mem_unit;
	out->free = (uint64_t)(si.freeram + si.bufferram) * si.mem_unit;
	return 0;
}
