/* smaps, smaps_rollup, numa_maps and pagemap of the own process agree about one mapping. */
#include "guest.h"

#include <sys/mman.h>

#define PAGES 16

static char text[1 << 20];

static void slurp(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t r;

	CHECK(fd >= 0);
	while (n < sizeof(text) - 1 && (r = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = 0;
	close(fd);
}

static long field(const char *from, const char *key)
{
	const char *p = from ? strstr(from, key) : NULL;

	return p ? strtol(p + strlen(key), NULL, 10) : -1;
}

int main(void)
{
	char *m = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	char head[64];
	const char *at, *line;
	uint64_t entry[PAGES];
	int fd, headers = 0, sizes = 0, flags = 0;

	/* Apart from its neighbours. */
	mprotect(m + (PAGES - 1) * 4096, 4096, PROT_NONE);
	memset(m, 1, 4 * 4096);
	slurp("/proc/self/smaps");
	snprintf(head, sizeof(head), "%lx-%lx rw-p", (unsigned long)m,
		 (unsigned long)m + (PAGES - 1) * 4096);
	at = strstr(text, head);
	CHECK(at != NULL);
	printf("Size %ld Rss %ld Anonymous %ld Private_Dirty %ld Swap %ld Locked %ld\n",
	       field(at, "\nSize:"), field(at, "\nRss:"), field(at, "\nAnonymous:"),
	       field(at, "\nPrivate_Dirty:"), field(at, "\nSwap:"), field(at, "\nLocked:"));
	CHECK(at && strstr(at, "VmFlags: rd wr mr mw me"));
	for (line = text; line && *line; line = strchr(line, '\n') + 1) {
		headers += strspn(line, "0123456789abcdef") > 7;
		sizes += !strncmp(line, "Size:", 5);
		flags += !strncmp(line, "VmFlags:", 8);
	}
	CHECK(headers > 5 && headers == sizes && sizes == flags);
	CHECK(strstr(text, "proc_memory_files\n") != NULL);
	CHECK(strstr(text, "[stack]\n") != NULL);

	slurp("/proc/self/smaps_rollup");
	CHECK(strstr(text, "[rollup]\n") != NULL && field(text, "\nRss:") > 16);
	slurp("/proc/self/numa_maps");
	snprintf(head, sizeof(head), "%lx default", (unsigned long)m);
	at = strstr(text, head);
	CHECK(at && field(at, " anon=") == 4 && field(at, " N0=") == 4);
	CHECK(strstr(text, " stack ") && strstr(text, " file=/"));

	fd = open("/proc/self/pagemap", O_RDONLY);
	CHECK(pread(fd, entry, sizeof(entry), (off_t)((unsigned long)m / 4096 * 8)) ==
	      sizeof(entry));
	for (int i = 0; i < PAGES; i++)
		printf("%d", (int)(entry[i] >> 63));
	printf(" swapped %d\n", (int)(entry[0] >> 62 & 1));
	SHOW(pread(fd, entry, 7, 0));
	SHOW(pread(fd, entry, 8, 1));
	SHOW(pread(fd, entry, 8, 0));
	SHOW(pread(fd, entry, 8, (off_t)((1UL << 47) / 4096 * 8)));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(lseek(fd, 16, SEEK_SET));
	SHOW(read(fd, entry, 8));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, entry, 8));
	return 0;
}
