/* Root of the cell does everything to its tree of mounts, at random: new ones, binds of trees into
 * themselves, moves, detaching what is in use, trees of its own, pivots, with files, working
 * directories and watches held open. The kernel must go on, and forget all of it. */
#include <sys/inotify.h>
#include <sys/mount.h>

#include "hostile.h"

static const char *const dirs[] = { "/mnt",	"/mnt/a",   "/mnt/a/b", "/srv",	    "/srv/a", "/srv/a/b", "/tmp/m",
				    "/tmp/m/a", "/mnt/mnt", "/",	"/mnt/tmp", "/proc",  "/dev/shm", "/mnt/srv/a" };

static const char *any(void)
{
	return dirs[below(sizeof(dirs) / sizeof(dirs[0]))];
}

static void step(void)
{
	static int fds[16];
	static unsigned at;
	char name[64];
	int fd;

	switch (below(16)) {
	case 0:
	case 1:
		mount("x", any(), "tmpfs", below(16), below(2) ? "size=64k" : NULL);
		break;
	case 2:
		mount(any(), any(), NULL, MS_BIND, NULL);
		break;
	case 3:
		mount(any(), any(), NULL, MS_BIND | MS_REC, NULL);
		break;
	case 4:
		mount(any(), any(), NULL, MS_MOVE, NULL);
		break;
	case 5:
		mount("x", any(), NULL, MS_REMOUNT | MS_BIND | below(16), NULL);
		break;
	case 6:
	case 7:
		umount2(any(), 0);
		break;
	case 8:
	case 9:
		umount2(any(), MNT_DETACH);
		break;
	case 10:
		for (int i = 0; i < 3; i++)
			mkdir(any(), 0755);
		break;
	case 11:
		(void)!chdir(any());
		break;
	case 12:
		snprintf(name, sizeof(name), "%s/f%d", any(), (int)below(3));
		fd = open(name, O_CREAT | O_RDWR, 0600);
		if (fd >= 0) {
			(void)!write(fd, name, sizeof(name));
			close(fds[at % 16]);
			fds[at++ % 16] = fd;
		}
		break;
	case 13:
		fd = inotify_init1(0);
		inotify_add_watch(fd, any(), IN_ALL_EVENTS);
		close(fds[at % 16]);
		fds[at++ % 16] = fd;
		break;
	case 14:
		rename(any(), any());
		break;
	default:
		if (below(4) == 0)
			syscall(SYS_pivot_root, any(), any());
		else if (below(4) == 0)
			unshare(CLONE_NEWNS);
		else
			(void)!chroot(below(8) ? "/" : any());
	}
}

static void wild(void *arg)
{
	char line[512];
	FILE *f;

	seed_state ^= (uint64_t)(long)arg * 0x9e3779b97f4a7c15ull;
	unshare(CLONE_NEWNS);
	mkdir("/mnt/a", 0755);
	mkdir("/srv/a", 0755);
	mkdir("/tmp/m", 0755);
	for (int i = 0; i < 400; i++) {
		step();
		if (i % 50 == 0 && fork() == 0) {
			for (int j = 0; j < 100; j++)
				step();
			_exit(0);
		}
		if (i % 40 == 0 && (f = fopen("/proc/self/mountinfo", "r"))) {
			while (fgets(line, sizeof(line), f))
				;
			fclose(f);
		}
	}
	_exit(0);
}

/* Binding everything into itself doubles it each time, until there is no room. */
static void doubling(void *arg)
{
	(void)arg;
	unshare(CLONE_NEWNS);
	for (int i = 0; i < 40; i++)
		mount("/", "/mnt", NULL, MS_BIND | MS_REC, NULL);
	for (int i = 0; i < 200; i++)
		if (fork() == 0) {
			unshare(CLONE_NEWNS);
			_exit(0);
		}
	_exit(0);
}

static int lines(void)
{
	FILE *f = fopen("/proc/self/mounts", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n;
}

int main(void)
{
	int before = lines(), bad = 0;

	for (long i = 0; i < 40; i++)
		bad += in_child(wild, (void *)(i + 1), 20000) == -1;
	check(bad == 0, "random changes come to an end");
	check(cell_is_well(), "the kernel goes on");
	check(lines() == before, "our own tree is as it was");
	check(in_child(doubling, NULL, 20000) != -1, "trees that double");
	check(cell_is_well(), "the kernel goes on");
	check(mount("x", "/mnt", "tmpfs", 0, NULL) == 0 && umount2("/mnt", 0) == 0, "there is room again");
	return done();
}
