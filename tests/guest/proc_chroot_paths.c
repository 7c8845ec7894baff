/* needs: root */
/* In a chroot the links of /proc and the names in maps are those that the reader can use. */
#include "guest.h"

#include <sys/mman.h>
#include <sys/mount.h>

static const char *link_of(const char *path)
{
	static char buf[512];
	ssize_t n = readlink(path, buf, sizeof(buf) - 1);

	buf[n < 0 ? 0 : n] = 0;
	return n < 0 ? ename(errno) : buf;
}

/* The name of the mapping at addr. */
static const char *map_name(const void *addr)
{
	static char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char *p;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (unsigned long)addr >= from &&
		    (unsigned long)addr < to) {
			fclose(f);
			p = strchr(line, '/');
			if (p)
				p[strcspn(p, "\n")] = 0;
			return p ? p : "none";
		}
	if (f)
		fclose(f);
	return "not there";
}

static void inside(void)
{
	char path[64];
	int in, out;
	void *m, *o;

	out = open("outside", O_RDONLY);
	CHECK(chroot("r") == 0 && chdir("/") == 0);
	in = open("/sub/file", O_RDWR);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	printf("fd: %s\n", link_of(path));
	m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, in, 0);
	printf("map: %s\n", map_name(m));
	o = mmap(NULL, 4096, PROT_READ, MAP_SHARED, out, 0);
	printf("map of what is outside ends with: %s\n", strrchr(map_name(o), '/'));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	printf("fd of what is outside ends with: %s\n", strrchr(link_of(path), '/'));
	CHECK(unlink("/sub/file") == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	printf("fd: %s\n", link_of(path));
	printf("map: %s\n", map_name(m));
	printf("root: %s\n", link_of("/proc/self/root"));
	printf("cwd: %s\n", link_of("/proc/self/cwd"));
	fflush(stdout);
	CHECK(chdir("/sub") == 0);
	printf("cwd: %s\n", link_of("/proc/self/cwd"));
	snprintf(path, sizeof(path), "/proc/self/exe");
	printf("exe ends with: %s\n", strrchr(link_of(path), '/'));
}

int main(void)
{
	CHECK(mkdir("r", 0755) == 0 && mkdir("r/sub", 0755) == 0 && mkdir("r/proc", 0755) == 0);
	CHECK(put_file("r/sub/file", "hello") == 0 && put_file("outside", "hello") == 0);
	CHECK(mount("proc", "r/proc", "proc", 0, NULL) == 0);
	show_status("inside", in_child(inside));
	CHECK(umount("r/proc") == 0);
	rmdir("r/proc");
	rmdir("r/sub");
	rmdir("r");
	unlink("outside");
	return 0;
}
