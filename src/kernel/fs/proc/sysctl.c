/* /proc/sys: the settings that programs read. They are fixed: opening one for writing gives EACCES,
 * even to root of the cell. Those that are written to are about the kernel itself: vm/drop_caches
 * and kernel/sched_schedstats. As on Linux the mode bits decide and no capability. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/platform/version.h"
#include "kernel/task/call.h"
#include "kernel/vfs/fs.h"

#define WORD_MAX 20 /* of a number, as Linux */

static int show_hostname(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%s\n", cell.spec.hostname ? cell.spec.hostname : "localhost");
	return 0;
}

static void put_uuid(struct textbuf *b, const uint8_t id[16])
{
	for (int i = 0; i < 16; i++)
		text_printf(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	text_puts(b, "\n");
}

/* A random id with the bits that make it a version 4 UUID. */
static void show_random_id(struct textbuf *b, const uint8_t random[16])
{
	uint8_t id[16];

	memcpy(id, random, sizeof(id));
	id[6] = (id[6] & 0x0f) | 0x40;
	id[8] = (id[8] & 0x3f) | 0x80;
	put_uuid(b, id);
}

static int show_boot_id(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	show_random_id(b, cell.random_id);
	return 0;
}

static int show_uuid(struct pinode *pi, struct task *t, struct textbuf *b)
{
	uint8_t id[16];

	(void)pi, (void)t;
	host_random(id, sizeof(id));
	show_random_id(b, id);
	return 0;
}

static int show_threads_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%u\n", cell.spec.max_tasks ? cell.spec.max_tasks : 32768);
	return 0;
}

static int show_file_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%u\n", cell.spec.max_files ? cell.spec.max_files : 1048576);
	return 0;
}

static int show_file_nr(struct pinode *pi, struct task *t, struct textbuf *b)
{
	const struct obj_type *files = obj_type_find("file");

	(void)pi, (void)t;
	text_printf(b, "%u\t0\t%u\n", files ? files->count : 0,
		    cell.spec.max_files ? cell.spec.max_files : 1048576);
	return 0;
}

/* One integer as Linux reads it from a write: in any base, between blanks, nothing else in its
 * word; further words are not taken. How much of buf was, or -EINVAL. */
static int64_t store_int(const char *buf, size_t n, long min, long max, long *ret_)
{
	const char *p = buf, *end = buf + n;
	char *stop;

	while (p < end && isspace((unsigned char)*p))
		p++;
	/* strtol() would take another sign or blanks. */
	const char *digits = p + (p < end && *p == '-');
	if (digits == end || *digits < '0' || *digits > '9')
		return -EINVAL;
	*ret_ = strtol(p, &stop, 0);
	if (stop - p > WORD_MAX || (stop < end && *stop != ' ' && *stop != '\t' && *stop != '\n'))
		return -EINVAL;
	if (*ret_ < min || *ret_ > max)
		return -EINVAL;
	while (stop < end && isspace((unsigned char)*stop))
		stop++;
	return stop - buf;
}

/* 1: contents of files; 2: names and inodes; 3: both. 4 is about Linux's log. */
static int64_t store_drop_caches(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	long what;
	int64_t taken = store_int(buf, n, 1, 4, &what);

	(void)pi;
	if (taken < 0)
		return taken;
	return caches_drop((unsigned)what) ? taken : call_wait_turn(t);
}

static int show_schedstats(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%d\n", loop_is_measured());
	return 0;
}

/* Only the turns of the kernel itself are measured: /proc/1/sched. */
static int64_t store_schedstats(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	long on;
	int64_t taken = store_int(buf, n, 0, 1, &on);

	(void)pi, (void)t;
	if (taken >= 0)
		loop_measure(on);
	return taken;
}

#define S_FILE(n, fn)                                                         \
	{                                                                     \
		.name = n, .mode = S_IFREG | 0444, .show = fn, .strict = true \
	}
#define VALUE(n, str)                                                               \
	{                                                                           \
		.name = n, .mode = S_IFREG | 0444, .text = str "\n", .strict = true \
	}

static const struct pnode random_nodes[] = {
	S_FILE("boot_id", show_boot_id),
	VALUE("entropy_avail", "256"),
	VALUE("poolsize", "256"),
	VALUE("urandom_min_reseed_secs", "60"),
	S_FILE("uuid", show_uuid),
	VALUE("write_wakeup_threshold", "256"),
	{ 0 },
};

static const struct pnode seccomp_nodes[] = {
	VALUE("actions_avail", "kill_process kill_thread trap errno trace log allow"),
	VALUE("actions_logged", ""),
	{ 0 },
};

static const struct pnode pty_nodes[] = {
	VALUE("max", "4096"),
	VALUE("nr", "0"),
	VALUE("reserve", "1024"),
	{ 0 },
};

static const struct pnode kernel_nodes[] = {
	VALUE("cap_last_cap", "40"),
	VALUE("core_pattern", "core"),
	VALUE("core_uses_pid", "0"),
	VALUE("dmesg_restrict", "1"),
	VALUE("domainname", UTS_DOMAIN),
	S_FILE("hostname", show_hostname),
	VALUE("io_uring_disabled", "2"),
	VALUE("kptr_restrict", "2"),
	VALUE("msgmax", "8192"),
	VALUE("msgmnb", "16384"),
	VALUE("msgmni", "32000"),
	VALUE("ngroups_max", "64"), /* NGROUPS_IN_CELL */
	VALUE("osrelease", UTS_RELEASE),
	VALUE("ostype", UTS_SYSNAME),
	VALUE("overflowgid", "65534"),
	VALUE("overflowuid", "65534"),
	VALUE("perf_event_paranoid", "4"),
	VALUE("pid_max", "4194304"),
	VALUE("printk", "4\t4\t1\t7"),
	P_DIR("pty", 0555, pty_nodes),
	P_DIR("random", 0555, random_nodes),
	VALUE("randomize_va_space", "2"),
	{ .name = "sched_schedstats",
	  .mode = S_IFREG | 0644,
	  .show = show_schedstats,
	  .store = store_schedstats,
	  .strict = true },
	P_DIR("seccomp", 0555, seccomp_nodes),
	VALUE("sem", "32000\t1024000000\t500\t32000"),
	VALUE("shmall", "18446744073692774399"),
	VALUE("shmmax", "18446744073692774399"),
	VALUE("shmmni", "4096"),
	VALUE("tainted", "0"),
	S_FILE("threads-max", show_threads_max),
	VALUE("unprivileged_bpf_disabled", "2"),
	VALUE("version", UTS_VERSION),
	{ 0 },
};

static const struct pnode vm_nodes[] = {
	VALUE("dirty_background_ratio", "10"),
	VALUE("dirty_ratio", "20"),
	{ .name = "drop_caches",
	  .mode = S_IFREG | 0200,
	  .store = store_drop_caches,
	  .strict = true },
	VALUE("max_map_count", "65530"),
	VALUE("min_free_kbytes", "67584"),
	VALUE("mmap_min_addr", "65536"),
	VALUE("nr_hugepages", "0"),
	VALUE("nr_overcommit_hugepages", "0"),
	VALUE("overcommit_kbytes", "0"),
	VALUE("overcommit_memory", "0"),
	VALUE("overcommit_ratio", "50"),
	VALUE("panic_on_oom", "0"),
	VALUE("swappiness", "60"),
	VALUE("vfs_cache_pressure", "100"),
	{ 0 },
};

static const struct pnode inotify_nodes[] = {
	VALUE("max_queued_events", "16384"),
	VALUE("max_user_instances", "128"),
	VALUE("max_user_watches", "65536"),
	{ 0 },
};

static const struct pnode epoll_nodes[] = {
	VALUE("max_user_watches", "1048576"),
	{ 0 },
};

static const struct pnode mqueue_nodes[] = {
	VALUE("msg_default", "10"),   VALUE("msg_max", "10"),	  VALUE("msgsize_default", "8192"),
	VALUE("msgsize_max", "8192"), VALUE("queues_max", "256"), { 0 },
};

static const struct pnode fs_nodes[] = {
	VALUE("aio-max-nr", "65536"),	    VALUE("aio-nr", "0"),
	P_DIR("epoll", 0555, epoll_nodes),  S_FILE("file-max", show_file_max),
	S_FILE("file-nr", show_file_nr),    P_DIR("inotify", 0555, inotify_nodes),
	VALUE("lease-break-time", "45"),    VALUE("leases-enable", "1"),
	VALUE("mount-max", "100000"),	    P_DIR("mqueue", 0555, mqueue_nodes),
	VALUE("nr_open", "1048576"),	    VALUE("overflowgid", "65534"),
	VALUE("overflowuid", "65534"),	    VALUE("pipe-max-size", "1048576"),
	VALUE("pipe-user-pages-hard", "0"), VALUE("pipe-user-pages-soft", "16384"),
	VALUE("protected_fifos", "1"),	    VALUE("protected_hardlinks", "1"),
	VALUE("protected_regular", "2"),    VALUE("protected_symlinks", "1"),
	VALUE("suid_dumpable", "0"),	    { 0 },
};

static const struct pnode net_core_nodes[] = {
	VALUE("optmem_max", "131072"),
	VALUE("rmem_default", "212992"),
	VALUE("rmem_max", "212992"),
	VALUE("somaxconn", "4096"),
	VALUE("wmem_default", "212992"),
	VALUE("wmem_max", "212992"),
	{ 0 },
};

static const struct pnode net_ipv4_nodes[] = {
	VALUE("ip_default_ttl", "64"),
	VALUE("ip_forward", "0"),
	VALUE("ip_local_port_range", "32768\t60999"),
	VALUE("ip_unprivileged_port_start", "1024"),
	VALUE("ping_group_range", "1\t0"),
	VALUE("tcp_congestion_control", "cubic"),
	VALUE("tcp_fin_timeout", "60"),
	VALUE("tcp_keepalive_intvl", "75"),
	VALUE("tcp_keepalive_probes", "9"),
	VALUE("tcp_keepalive_time", "7200"),
	VALUE("tcp_max_syn_backlog", "4096"),
	VALUE("tcp_rmem", "4096\t131072\t6291456"),
	VALUE("tcp_syncookies", "1"),
	VALUE("tcp_timestamps", "1"),
	VALUE("tcp_tw_reuse", "2"),
	VALUE("tcp_wmem", "4096\t16384\t4194304"),
	{ 0 },
};

static const struct pnode net_unix_nodes[] = {
	VALUE("max_dgram_qlen", "512"),
	{ 0 },
};

static const struct pnode sys_net_nodes[] = {
	P_DIR("core", 0555, net_core_nodes),
	P_DIR("ipv4", 0555, net_ipv4_nodes),
	P_DIR("unix", 0555, net_unix_nodes),
	{ 0 },
};

const struct pnode sysctl_nodes[] = {
	P_DIR("fs", 0555, fs_nodes),
	P_DIR("kernel", 0555, kernel_nodes),
	P_DIR("net", 0555, sys_net_nodes),
	P_DIR("vm", 0555, vm_nodes),
	{ 0 },
};
