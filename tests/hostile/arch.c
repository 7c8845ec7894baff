/* Other doors into the host's kernel: int 0x80, x32 numbers, sysenter, the vsyscall page, huge and
 * negative numbers, and the calls that the cell refuses. The caller may die of it; nothing may be
 * answered by the host. */
#include "hostile.h"

#include <sys/uio.h>

static void int80(void *arg)
{
	long ret;

	/* 32-bit getuid; the host would answer with the runner's uid. */
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"((long)arg) : "memory", "r8", "r9", "r10", "r11");
	_exit(99);
}
/* As on a Linux without x32, whatever the host has. */
static int x32_is_missing(void)
{
	for (long nr = 0; nr < 560; nr++)
		if (RAW(0x40000000L + nr, 0, 0, 0) != -ENOSYS)
			return 0;
	return RAW(0x7fffffffL) == -ENOSYS && RAW(0x80000000L) == -ENOSYS && RAW(0xffffffffL) == -ENOSYS;
}
static void negative(void *arg)
{
	RAW((long)arg);
	_exit(99);
}
static void sysenter(void *arg)
{
	(void)arg;
	__asm__ volatile("mov $24, %%eax; mov %%rsp, %%rbp; sysenter" ::: "rax", "rbp", "memory");
	_exit(99);
}
static void vsyscall(void *arg)
{
	long buf[4] = { 0 };
	long (*fn)(void *, void *) = (long (*)(void *, void *))(long)arg;

	fn(buf, NULL);
	_exit(0);
}

static int dies(void (*fn)(void *), long arg)
{
	int st = in_child(fn, (void *)arg, 2000);

	return st > 0 && WIFSIGNALED(st);
}

static const struct {
	long nr;
	const char *name;
} refused[] = {
	{ SYS_ptrace, "ptrace" },
	{ SYS_bpf, "bpf" },
	{ SYS_userfaultfd, "userfaultfd" },
	{ 425, "io_uring_setup" },
	{ 426, "io_uring_enter" },
	{ 427, "io_uring_register" },
	{ SYS_keyctl, "keyctl" },
	{ SYS_add_key, "add_key" },
	{ SYS_request_key, "request_key" },
	{ SYS_unshare, "unshare" },
	{ SYS_setns, "setns" },
	{ SYS_perf_event_open, "perf_event_open" },
	{ SYS_kexec_load, "kexec_load" },
	{ SYS_kexec_file_load, "kexec_file_load" },
	{ SYS_init_module, "init_module" },
	{ SYS_finit_module, "finit_module" },
	{ SYS_delete_module, "delete_module" },
	{ SYS_open_by_handle_at, "open_by_handle_at" },
	{ SYS_reboot, "reboot" },
	{ SYS_swapon, "swapon" },
	{ SYS_settimeofday, "settimeofday" },
	{ SYS_adjtimex, "adjtimex" },
	{ SYS_iopl, "iopl" },
	{ SYS_ioperm, "ioperm" },
	{ SYS_modify_ldt, "modify_ldt" },
	{ SYS_acct, "acct" },
	{ SYS_quotactl, "quotactl" },
	{ SYS_syslog, "syslog" },
	{ SYS_fanotify_init, "fanotify_init" },
	{ SYS_lookup_dcookie, "lookup_dcookie" },
	{ SYS_nfsservctl, "nfsservctl" },
	{ SYS_kcmp, "kcmp of init" },
	{ 428, "open_tree" },
	{ 429, "move_mount" },
	{ 430, "fsopen" },
	{ 432, "fsmount" },
	{ 435, "clone3" },
	{ 438, "pidfd_getfd" },
	{ 440, "process_madvise" },
	{ 442, "mount_setattr" },
	{ 447, "memfd_secret" },
	{ 448, "process_mrelease" },
};

/* Memory and descriptors of others: the kernel's own never, and nobody's stub. */
static void peers(char *buf)
{
	struct iovec local = { buf, 64 }, low = { (void *)0x10000, 64 }, stub = { (void *)0x7ea000000000, 64 },
		     across = { (void *)(STUB_BASE - 32), 64 };
	long init = RAW(SYS_pidfd_open, 1, 0);

	check(RAW(SYS_process_vm_readv, 1, &local, 1, &low, 1, 0) == -EPERM &&
		      RAW(SYS_process_vm_writev, 1, &local, 1, &low, 1, 0) == -EPERM,
	      "the kernel's memory is nobody's");
	check(init >= 0 && RAW(438, init, 0, 0) == -EPERM && RAW(438, init, 3, 0) == -EPERM,
	      "the kernel's descriptors are nobody's");
	check(RAW(SYS_process_vm_readv, getpid(), &local, 1, &stub, 1, 0) == -EFAULT &&
		      RAW(SYS_process_vm_writev, getpid(), &local, 1, &stub, 1, 0) == -EFAULT &&
		      RAW(SYS_process_vm_writev, getpid(), &local, 1, &across, 1, 0) == -EFAULT,
	      "the stub's memory is not there");
	if (init >= 0)
		close((int)init);
}

int main(void)
{
	char buf[4096];
	int n = 0;

	memset(buf, 0, sizeof(buf));
	for (long nr = 0; nr < 400; nr += 7)
		n += !dies(int80, nr);
	check(n == 0, "int 0x80 ends the caller");
	n = 0;
	check(x32_is_missing(), "x32 calls are not there");
	check(RAW(-1) == -ENOSYS, "call -1 gives ENOSYS");
	check(RAW(1000) == -ENOSYS && RAW(0x3fffffff) == -ENOSYS && RAW(511) == -ENOSYS && RAW(512) == -ENOSYS,
	      "unknown numbers give ENOSYS");
	for (long nr = -2; nr > -4000; nr -= 501)
		in_child(negative, (void *)nr, 1000);
	in_child(negative, (void *)0x7fffffffL, 1000);
	in_child(negative, (void *)(long)0x8000000000000000, 1000);
	in_child(sysenter, NULL, 1000);
	for (long page = 0; page < 4; page++)
		in_child(vsyscall, (void *)(0xffffffffff600000L + page * 0x400), 1000);
	check(cell_is_well(), "the kernel goes on");

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		long ret = RAW(refused[i].nr, refused[i].nr == SYS_ptrace ? 16 : 1, buf, 1, buf, 1, 0);

		if (ret >= 0)
			check(0, "%s gave %ld", refused[i].name, ret);
	}
	check(RAW(SYS_ptrace, 0, 0, 0, 0) < 0, "PTRACE_TRACEME is refused");
	peers(buf);
	check(RAW(SYS_unshare, 0x10000000) < 0 && RAW(SYS_unshare, 0x40000000) < 0 && RAW(SYS_unshare, 0x20000000) < 0 &&
		      RAW(SYS_unshare, 0x20000 | 0x04000000) < 0,
	      "unshare makes no namespace of the host");
	check(RAW(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0) < 0 && RAW(SYS_clone, 0x40000000 | SIGCHLD, 0) < 0,
	      "clone makes no namespace");
	check(MARKED(SYS_clone, 0x10000000 | 0x8000 | SIGCHLD, 0, 0, 0, 0) < 0 &&
		      MARKED(SYS_clone, 0x20000000 | 0x8000 | SIGCHLD, 0, 0, 0, 0) < 0 &&
		      MARKED(SYS_clone, 0x2000 | 0x8000 | SIGCHLD, 0, 0, 0, 0) < 0,
	      "nor does a marked one");
	check(RAW(SYS_mount, "/dev/sda", "/mnt", "ext4", 0, 0) < 0, "no block device can be mounted");
	check(cell_is_well(), "the kernel goes on after refused calls");
	return done();
}
