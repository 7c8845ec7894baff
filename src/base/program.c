/* See program.h. The linker puts read-only parts first: headers, code, constants, tables, then
 * variables. Where each ends is in the program headers, which are part of the program's memory.
 *
 * #syscalls: mprotect write */
#include "base/program.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

struct program_range program_constants SEALED;
static struct program_range relro SEALED;
void (*damage_sink)(const char *text) SEALED;

uintptr_t program_base(void)
{
	return (uintptr_t)&__ehdr_start;
}

/* Before main(), and so before anybody can ask. */
__attribute__((constructor)) static void program_find(void)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(program_base() + __ehdr_start.e_phoff);

	for (int i = 0; i < __ehdr_start.e_phnum; i++)
		if (ph[i].p_type == PT_GNU_RELRO) {
			relro.start = ALIGN_DOWN(program_base() + ph[i].p_vaddr, PAGE_SIZE);
			relro.size = ALIGN_DOWN(program_base() + ph[i].p_vaddr + ph[i].p_memsz,
						PAGE_SIZE) -
				     relro.start;
		}
	program_constants.start = (uintptr_t)etext;
	program_constants.size = relro.start + relro.size - program_constants.start;
}

int program_seal(void)
{
	return mprotect((void *)relro.start, relro.size, PROT_READ) < 0 ? -errno : 0;
}

void memory_damaged(const char *what)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "the memory of the cell's kernel is damaged: %.128s; please report this",
			 what);

	if (damage_sink)
		damage_sink(text);
	else if (write(STDERR_FILENO, text, (size_t)n) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		__builtin_trap();
	__builtin_trap();
}
