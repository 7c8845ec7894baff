/* The slave's name: in /dev/pts while the master is open, a character device of its opener. */
#include "pty.h"
#include <dirent.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

static bool listed(unsigned n)
{
	char name[16];
	bool found = false;
	snprintf(name, sizeof(name), "%u", n);
	DIR *d = opendir("/dev/pts");
	for (struct dirent *e; d && (e = readdir(d));)
		found |= !strcmp(e->d_name, name) && e->d_type == DT_CHR;
	closedir(d);
	return found;
}

int main(void)
{
	unsigned n = 99999;
	struct stat st, fst;
	struct statfs fs;
	char name[64];
	pair_open();
	SHOW(ioctl(m, TIOCGPTN, &n));
	snprintf(name, sizeof(name), "/dev/pts/%u", n);
	CHECK(!strcmp(ptsname(m), name));
	CHECK(!strcmp(ttyname(s), name));
	SHOW(ioctl(s, TIOCGPTN, &n));
	SHOW(stat(name, &st));
	SHOW(fstat(s, &fst));
	CHECK(st.st_ino == fst.st_ino && st.st_rdev == fst.st_rdev);
	CHECK(S_ISCHR(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid());
	CHECK((st.st_mode & 0707) == 0600);
	CHECK(major(st.st_rdev) == 136 && minor(st.st_rdev) == n && st.st_size == 0);
	SHOW(fstat(m, &st));
	CHECK(major(st.st_rdev) == 5 && minor(st.st_rdev) == 2);
	SHOW(statfs("/dev/pts", &fs));
	CHECK(fs.f_type == 0x1cd1);
	CHECK(listed(n));
	SHOW(chmod(name, 0640));
	SHOW(fstat(s, &st));
	printf("%o\n", st.st_mode & 0777);
	/* Two pairs have two numbers. */
	int m2 = posix_openpt(O_RDWR | O_NOCTTY);
	unsigned n2 = n;
	SHOW(ioctl(m2, TIOCGPTN, &n2));
	CHECK(n2 != n);
	close(m2);
	close(m);
	CHECK(open(name, O_RDWR | O_NOCTTY) == -1 && errno == ENOENT);
	CHECK(!listed(n));
	CHECK(open("/dev/pts/nothing", O_RDWR) == -1 && errno == ENOENT);
	SHOW(fstat(s, &st));
	printf("links %d\n", (int)st.st_nlink);
	return 0;
}
