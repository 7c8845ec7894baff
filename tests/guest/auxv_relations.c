/*
 * The auxiliary vector fits the process: page size, ids, entry, program headers, base of the
 * loader, platform, vdso.
 */
#include "guest.h"
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

extern char _start[], __executable_start[];

static int phdrs(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (info->dlpi_name[0] == '\0') {
		CHECK((unsigned long)info->dlpi_phdr == getauxval(AT_PHDR));
		CHECK(info->dlpi_phnum == getauxval(AT_PHNUM));
	}
	return 0;
}

int main(int argc, char **argv)
{
	Elf64_auxv_t *v;
	char **e = environ;

	/* It stands behind the environment on the first stack. */
	CHECK(environ == argv + argc + 1);
	while (*e)
		e++;
	for (v = (Elf64_auxv_t *)(e + 1); v->a_type != AT_PAGESZ && v->a_type != AT_NULL; v++)
		;
	CHECK(v->a_type == AT_PAGESZ && v->a_un.a_val == 4096);
	CHECK(getauxval(AT_PAGESZ) == 4096);
	CHECK(getauxval(AT_UID) == getuid() && getauxval(AT_EUID) == geteuid());
	CHECK(getauxval(AT_GID) == getgid() && getauxval(AT_EGID) == getegid());
	CHECK(getauxval(AT_SECURE) == 0);
	CHECK(getauxval(AT_ENTRY) == (unsigned long)_start);
	CHECK(getauxval(AT_PHENT) == sizeof(Elf64_Phdr));
	CHECK(getauxval(AT_CLKTCK) == 100);
	CHECK(strcmp((char *)getauxval(AT_PLATFORM), "x86_64") == 0);
	CHECK(getauxval(AT_FLAGS) == 0);
	dl_iterate_phdr(phdrs, NULL);
	unsigned char *base = (unsigned char *)getauxval(AT_BASE),
		      *vdso = (unsigned char *)getauxval(AT_SYSINFO_EHDR);
	CHECK(base && memcmp(base, ELFMAG, 4) == 0 && (unsigned long)base % 4096 == 0);
	CHECK(vdso && memcmp(vdso, ELFMAG, 4) == 0);
	CHECK(memcmp(__executable_start, ELFMAG, 4) == 0);
	CHECK(getauxval(AT_RANDOM) != 0);
	errno = 0;
	printf("unknown entry %ld %s\n", (long)getauxval(12345), ename(errno));
	CHECK(getauxval(AT_MINSIGSTKSZ) >= 1024 && getauxval(AT_MINSIGSTKSZ) < 65536);
	return 0;
}
