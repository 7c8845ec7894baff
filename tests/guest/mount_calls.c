/*
 * Mounts in a tree of the process's own: tmpfs and its options, bind, move, remount, umount,
 * detached trees, pivot_root; who may, and which errors come first.
 */
/* needs: root */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* Lines of mountinfo for mounts below our directory: root, place, options, type. */
static void show_mounts(void)
{
	char line[4096], root[1024], place[1024], opts[256], type[64], super[256], cwd[1024];
	FILE *f = fopen("/proc/self/mountinfo", "r");

	if (!getcwd(cwd, sizeof(cwd)))
		return;
	while (f && fgets(line, sizeof(line), f)) {
		char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*d %*d %*s %1023s %1023s %255s", root, place, opts) != 3 ||
		    sscanf(dash, " - %63s %*s %255s", type, super) != 2)
			continue;
		if (strncmp(place, cwd, strlen(cwd)) != 0)
			continue;
		char *part = strstr(root, "/sub");
		printf("  %s at %s %s %s%s\n", part ? part : strcmp(root, "/") ? "?" : root, place + strlen(cwd), opts,
		       strcmp(type, "tmpfs") ? "other" : type,
		       strstr(super, "size=") ? " sized" : "");
	}
	if (f)
		fclose(f);
}

static long mnt(const char *src, const char *dst, const char *type, unsigned long flags, const char *data)
{
	return syscall(SYS_mount, src, dst, type, flags, data);
}

static void tmpfs(void)
{
	struct statvfs v;
	struct stat st;

	SHOW(mnt("none", "t", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0751,uid=5,gid=6,nr_inodes=10"));
	CHECK(stat("t", &st) == 0 && (st.st_mode & 07777) == 0751 && st.st_uid == 5 && st.st_gid == 6);
	CHECK(statvfs("t", &v) == 0 && v.f_blocks * v.f_frsize == 65536 && v.f_files == 10);
	put_file("t/a", "content");
	show_mounts();
	static char big[131072];
	int fd = open("t/big", O_CREAT | O_RDWR, 0600);
	CHECK(write(fd, big, sizeof(big)) < 65536);
	SHOW(write(fd, big, 1));
	SHOW(umount2("t", 0));
	close(fd);
	SHOW(umount2("t", 0));
	SHOW(umount2("t", 0));
	SHOW(access("t/a", F_OK));
	SHOW(mnt("none", "t", "tmpfs", 0, "size=1q"));
	SHOW(mnt("none", "t", "tmpfs", 0, "colour=red"));
	SHOW(mnt("none", "t", "tmpfs", 0, "mode=9"));
	SHOW(mnt("none", "t", "nosuchfs", 0, NULL));
	SHOW(mnt("none", "t", NULL, 0, NULL));
	SHOW(mnt("none", "missing", "tmpfs", 0, NULL));
	SHOW(mnt("none", "file", "tmpfs", 0, NULL));
	SHOW(mnt("none", NULL, "tmpfs", 0, NULL));
	SHOW(mnt((char *)8, "t", "tmpfs", 0, NULL));
	SHOW(mnt("none", "t", (char *)8, 0, NULL));
	SHOW(mnt("none", "t", "tmpfs", 0, (char *)8));
	/* One on top of the other. */
	SHOW(mnt("one", "t", "tmpfs", 0, NULL));
	put_file("t/one", "1");
	SHOW(mnt("two", "t", "tmpfs", MS_RDONLY, NULL));
	SHOW(access("t/one", F_OK));
	SHOW(mkdir("t/d", 0700));
	show_mounts();
	SHOW(rmdir("t"));
	SHOW(rename("t", "u"));
	SHOW(umount2("t", 0));
	SHOW(access("t/one", F_OK));
	SHOW(umount2("t", 0));
	SHOW(access("t/one", F_OK));
}

static void binds(void)
{
	char buf[1024];

	mkdir("sub", 0755);
	mkdir("sub/in", 0755);
	mkdir("b", 0755);
	mkdir("c", 0755);
	put_file("sub/f", "hello");
	SHOW(mnt("sub", "b", NULL, MS_BIND, NULL));
	printf("%s\n", get_file("b/f"));
	put_file("b/g", "written there");
	printf("%s\n", get_file("sub/g"));
	SHOW(mnt("none", "b", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOEXEC, NULL));
	SHOW(open("b/h", O_CREAT | O_WRONLY, 0600));
	SHOW(unlink("b/g"));
	CHECK(open("sub/h", O_CREAT | O_WRONLY, 0600) >= 0);
	SHOW(link("sub/f", "b/l"));
	SHOW(rename("sub/f", "b/f"));
	show_mounts();
	/* A mount inside: seen by a recursive bind only. */
	SHOW(mnt("x", "sub/in", "tmpfs", 0, NULL));
	put_file("sub/in/deep", "deep");
	SHOW(access("b/in/deep", F_OK));
	SHOW(mnt("sub", "c", NULL, MS_BIND, NULL));
	SHOW(access("c/in/deep", F_OK));
	SHOW(umount2("c", 0));
	SHOW(mnt("sub", "c", NULL, MS_BIND | MS_REC, NULL));
	SHOW(access("c/in/deep", F_OK));
	show_mounts();
	SHOW(umount2("c", 0));
	SHOW(umount2("c/in", 0));
	SHOW(umount2("c", 0));
	SHOW(access("sub/in/deep", F_OK));
	/* Files. */
	put_file("target", "covered");
	SHOW(mnt("sub/f", "target", NULL, MS_BIND, NULL));
	printf("%s\n", get_file("target"));
	SHOW(unlink("target"));
	SHOW(umount2("target", 0));
	printf("%s\n", get_file("target"));
	SHOW(mnt("sub/f", "c", NULL, MS_BIND, NULL));
	SHOW(mnt("sub", "target", NULL, MS_BIND, NULL));
	SHOW(mnt("missing", "c", NULL, MS_BIND, NULL));
	SHOW(mnt("", "c", NULL, MS_BIND, NULL));
	SHOW(mnt(NULL, "c", NULL, MS_BIND, NULL));
	/* ".." and getcwd go by the mount. */
	SHOW(chdir("b/in"));
	CHECK(getcwd(buf, sizeof(buf)) && strstr(buf, "/b/in"));
	SHOW(access("../../target", F_OK));
	SHOW(chdir("../.."));
	SHOW(umount2("b", 0));
	/* A directory that is moved out of what a mount shows. */
	SHOW(mnt("sub/in", "b", NULL, MS_BIND, NULL));
	SHOW(mkdir("b/way", 0755));
	SHOW(chdir("b/way"));
	SHOW(access("..", F_OK));
	SHOW(chdir("../.."));
	SHOW(umount2("b", 0));
	SHOW(umount2("sub/in", MNT_DETACH));
	SHOW(umount2("sub/f", 0));
	SHOW(umount2("missing", 0));
	SHOW(umount2("sub", 0x100));
	SHOW(umount2("sub", MNT_EXPIRE | MNT_FORCE));
	symlink("b", "link");
	SHOW(mnt("x", "link", "tmpfs", 0, NULL));
	SHOW(umount2("link", UMOUNT_NOFOLLOW));
	SHOW(umount2("link", MNT_EXPIRE));
	SHOW(umount2("link", MNT_EXPIRE));
	unlink("link");
}

static void moves(void)
{
	SHOW(mnt("x", "b", "tmpfs", 0, NULL));
	put_file("b/f", "moved");
	mkdir("b/below", 0755);
	SHOW(mnt("y", "b/below", "tmpfs", 0, NULL));
	put_file("b/below/g", "with it");
	SHOW(mnt("b", "c", NULL, MS_MOVE, NULL));
	printf("%s %s\n", get_file("c/f"), get_file("c/below/g"));
	SHOW(access("b/f", F_OK));
	SHOW(mnt("b", "c", NULL, MS_MOVE, NULL));
	SHOW(mnt("c", "c/below", NULL, MS_MOVE, NULL));
	SHOW(mnt("c", "target", NULL, MS_MOVE, NULL));
	/* Detached at once, and still there for who has it. */
	int fd = open("c/f", O_RDONLY), dir = open("c", O_RDONLY);
	char buf[64] = "";
	SHOW(umount2("c", 0));
	SHOW(umount2("c", MNT_DETACH));
	SHOW(access("c/f", F_OK));
	SHOW(read(fd, buf, sizeof(buf)));
	SHOW(faccessat(dir, "f", F_OK, 0));
	SHOW(faccessat(dir, "below/g", F_OK, 0));
	SHOW(faccessat(dir, "../target", F_OK, 0));
	close(fd);
	close(dir);
	show_mounts();
	SHOW(mnt("none", "b", NULL, MS_PRIVATE, NULL));
	SHOW(mnt("none", "/", NULL, MS_PRIVATE | MS_REC, NULL));
	SHOW(mnt("none", "/", NULL, MS_PRIVATE | MS_SLAVE, NULL));
	SHOW(mnt("none", "b", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static void pivots(void)
{
	SHOW(syscall(SYS_pivot_root, "b", "b"));
	SHOW(mnt("x", "b", "tmpfs", 0, NULL));
	mkdir("b/old", 0755);
	put_file("b/new", "the new root");
	SHOW(syscall(SYS_pivot_root, "b", "c"));
	SHOW(syscall(SYS_pivot_root, "missing", "b"));
	SHOW(syscall(SYS_pivot_root, "b", "b/old"));
	printf("%s\n", get_file("/new"));
	SHOW(access("/usr", F_OK));
	SHOW(access("/old/usr", F_OK));
	SHOW(chdir("/"));
	SHOW(umount2("/old", 0));
	SHOW(umount2("/old", MNT_DETACH));
	SHOW(access("/old/usr", F_OK));
}

static void child(void)
{
	SHOW(unshare(CLONE_NEWNS));
	SHOW(mnt("none", "/", NULL, MS_PRIVATE | MS_REC, NULL));
	tmpfs();
	binds();
	moves();
	pivots();
}

static void nobody(void)
{
	CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	SHOW(mnt("none", "/", "tmpfs", 0, NULL));
	SHOW(mnt("none", "/missing", "tmpfs", 0, NULL));
	SHOW(mnt("/", "/", NULL, MS_BIND, NULL));
	SHOW(umount2("/proc", 0));
	SHOW(umount2("/proc", 0x1000));
	SHOW(syscall(SYS_pivot_root, "/missing", "/"));
	SHOW(unshare(CLONE_NEWNS));
	SHOW(unshare(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM));
	SHOW(chroot("/"));
}

int main(void)
{
	mkdir("t", 0755);
	put_file("file", "x");
	show_status("mounts", in_child(child));
	show_status("nobody", in_child(nobody));
	/* Nothing of it is seen from here. */
	show_mounts();
	SHOW(access("sub/in/deep", F_OK));
	if (system("rm -rf t file sub b c target"))
		return 1;
	return 0;
}
