/*
 * /proc/mounts and mountinfo: well-formed lines, a root, /proc; the device numbers agree with stat.
 */
#include "guest.h"
#include <mntent.h>
#include <sys/sysmacros.h>

int main(void)
{
	char line[4096], point[1024], type[64];
	int root = 0, proc = 0, total = 0, lines = 0, bad = 0;
	FILE *f = setmntent("/proc/mounts", "r");
	for (struct mntent *m; (m = getmntent(f)); total++) {
		root += strcmp(m->mnt_dir, "/") == 0;
		proc += strcmp(m->mnt_dir, "/proc") == 0 && strcmp(m->mnt_type, "proc") == 0;
		bad += m->mnt_dir[0] != '/' || !m->mnt_fsname[0] || !m->mnt_opts[0];
	}
	endmntent(f);
	CHECK(total >= 2 && root >= 1 && proc >= 1);
	SHOW(bad);
	FILE *g = fopen("/proc/self/mounts", "r");
	while (g && fgets(line, sizeof(line), g))
		lines++;
	CHECK(lines == total);
	lines = bad = proc = 0;
	g = fopen("/proc/self/mountinfo", "r");
	while (g && fgets(line, sizeof(line), g)) {
		unsigned major, minor;
		int id, parent;
		struct stat st;
		lines++;
		char *dash = strstr(line, " - ");
		if (sscanf(line, "%d %d %u:%u %*s %1023s", &id, &parent, &major, &minor, point) !=
			    5 ||
		    !dash || sscanf(dash, " - %63s", type) != 1) {
			bad++;
			continue;
		}
		if (strcmp(point, "/proc") == 0 && strcmp(type, "proc") == 0 &&
		    stat("/proc", &st) == 0)
			proc += makedev(major, minor) == st.st_dev;
	}
	CHECK(lines == total);
	SHOW(bad);
	CHECK(proc >= 1);
	return 0;
}
