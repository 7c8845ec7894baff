/* Programs: what an ELF file asks to be loaded, and what a #! line says. Parsers of hostile bytes:
 * no file access, no allocation, everything bounded. */
#ifndef VIV_KERNEL_PLATFORM_ELF_H
#define VIV_KERNEL_PLATFORM_ELF_H

#include <sys/types.h>

#include "base/base.h"
#include "stub/stub.h"

#define ELF_HEAD 4096 /* bytes of the file's start that are enough for headers */
#define ELF_MAX_PHDRS 64
#define ELF_MAX_OBJ_SEGS 12

struct elf_plan {
	bool dynamic_base; /* ET_DYN: can go anywhere */
	uint64_t vaddr, span,
		entry; /* lowest page address, bytes from there, entry as in the file */
	uint64_t phdr, phnum;
	uint64_t start_code, end_code, start_data, end_data;
	uint32_t nseg;
	struct stub_seg seg[ELF_MAX_OBJ_SEGS]; /* addr relative to vaddr */
	uint64_t interp_off; /* of the interpreter's name in the file */
	uint32_t interp_len; /* 0: none */
};

/* head holds the first len bytes of the file, phdrs the program headers (phnum of them, as
 * elf_phdr_range said). 0, or -ENOEXEC. */
int must_check elf_phdr_range(const void *head, size_t len, uint64_t *ret_off, uint32_t *ret_size);
int must_check elf_plan(const void *head, size_t len, const void *phdrs, uint32_t size,
			uint64_t file_size, struct elf_plan *out);

/* "#! interpreter [argument]" in the first len bytes. 0; -ENOEXEC when it is none or makes no
 * sense. The strings are cut out of line (which must hold 256 bytes); *ret_arg may be NULL. */
int must_check shebang_parse(const void *head, size_t len, char line[256], char **ret_interp,
			     char **ret_arg);

#endif
