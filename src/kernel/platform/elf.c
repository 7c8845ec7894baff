/* Parsers of programs. Every number comes from a hostile file: sums are checked for overflow,
 * addresses for the user's range. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "kernel/platform/elf.h"

#define USER_TOP 0x7fffffffe000UL
#define MMAP_MIN 0x10000UL

int elf_phdr_range(const void *head, size_t len, uint64_t *ret_off, uint32_t *ret_size)
{
	Elf64_Ehdr eh;

	if (len < sizeof(eh))
		return -ENOEXEC;
	memcpy(&eh, head, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_X86_64)
		return -ENOEXEC;
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return -ENOEXEC;
	if (eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phnum < 1 || eh.e_phnum > ELF_MAX_PHDRS)
		return -ENOEXEC;
	if (eh.e_phoff > (1UL << 40))
		return -ENOEXEC;
	*ret_off = eh.e_phoff;
	*ret_size = eh.e_phnum * (uint32_t)sizeof(Elf64_Phdr);
	return 0;
}

static uint32_t prot_of(uint32_t flags)
{
	return (flags & PF_R ? 1 : 0) | (flags & PF_W ? 2 : 0) | (flags & PF_X ? 4 : 0);
}

/* Segments must be in order and not overlap, as every linker makes them. */
static int plan_segment(struct elf_plan *p, const Elf64_Phdr *ph, uint64_t file_size, uint64_t *end)
{
	uint64_t page_off = ph->p_vaddr & (PAGE_SIZE - 1);
	struct stub_seg *s;

	if (ph->p_memsz == 0)
		return 0;
	if (ph->p_filesz > ph->p_memsz || ph->p_memsz > USER_TOP ||
	    ph->p_vaddr > USER_TOP - ph->p_memsz)
		return -ENOEXEC;
	if (((ph->p_vaddr ^ ph->p_offset) & (PAGE_SIZE - 1)) && ph->p_filesz)
		return -ENOEXEC;
	if (ph->p_filesz && (ph->p_offset > file_size || ph->p_filesz > file_size - ph->p_offset))
		return -ENOEXEC;
	if (p->nseg == ELF_MAX_OBJ_SEGS)
		return -ENOEXEC;
	if (p->nseg == 0)
		p->vaddr = ph->p_vaddr - page_off;
	else if (ph->p_vaddr - page_off < ALIGN_DOWN(*end - 1, PAGE_SIZE) && ph->p_vaddr < *end)
		return -ENOEXEC;
	s = &p->seg[p->nseg++];
	s->addr = ph->p_vaddr - page_off - p->vaddr;
	s->file_len = ph->p_filesz ? ph->p_filesz + page_off : 0;
	s->mem_len = ph->p_memsz + page_off;
	s->off = ph->p_filesz ? ph->p_offset - page_off : 0;
	s->prot = prot_of(ph->p_flags);
	*end = ph->p_vaddr + ph->p_memsz;
	if (ph->p_flags & PF_X) {
		if (!p->start_code)
			p->start_code = ph->p_vaddr;
		p->end_code = ph->p_vaddr + ph->p_filesz;
	}
	if (ph->p_flags & PF_W) {
		p->start_data = ph->p_vaddr;
		p->end_data = ph->p_vaddr + ph->p_filesz;
	}
	return 0;
}

int elf_plan(const void *head, size_t len, const void *phdrs, uint32_t size, uint64_t file_size,
	     struct elf_plan *out)
{
	Elf64_Ehdr eh;
	uint64_t end = 0;
	int ret;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(eh))
		return -ENOEXEC;
	memcpy(&eh, head, sizeof(eh));
	out->dynamic_base = eh.e_type == ET_DYN;
	out->entry = eh.e_entry;
	out->phnum = size / sizeof(Elf64_Phdr);
	for (uint32_t i = 0; i < out->phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, (const char *)phdrs + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD) {
			ret = plan_segment(out, &ph, file_size, &end);
			if (ret < 0)
				return ret;
			/* The headers in memory: inside the segment that holds them in the file. */
			if (eh.e_phoff >= ph.p_offset && eh.e_phoff - ph.p_offset < ph.p_filesz)
				out->phdr = eh.e_phoff - ph.p_offset + ph.p_vaddr;
		} else if (ph.p_type == PT_INTERP && !out->interp_len) {
			if (ph.p_filesz < 2 || ph.p_filesz > 4096)
				return -ENOEXEC;
			out->interp_off = ph.p_offset;
			out->interp_len = (uint32_t)ph.p_filesz;
		}
	}
	if (out->nseg == 0)
		return -ENOEXEC;
	if (!out->dynamic_base && out->vaddr < MMAP_MIN)
		return -ENOEXEC;
	out->span = ALIGN_UP(end, PAGE_SIZE) - out->vaddr;
	if (!out->start_code)
		out->start_code = out->vaddr, out->end_code = end;
	if (!out->start_data)
		out->start_data = out->start_code, out->end_data = out->end_code;
	return 0;
}

int shebang_parse(const void *head, size_t len, char line[256], char **ret_interp, char **ret_arg)
{
	size_t n = MIN(len, 255);
	char *p, *end, *nl;

	if (len < 2 || memcmp(head, "#!", 2))
		return -ENOEXEC;
	memcpy(line, head, n);
	line[n] = 0;
	nl = memchr(line, '\n', n);
	end = nl ? nl : line + strnlen(line, n);
	/* Cut off in the middle of the name: it is not known. */
	if (!nl && n == 255) {
		p = line + 2;
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		while (p < end && *p != ' ' && *p != '\t')
			p++;
		if (p == end)
			return -ENOEXEC;
	}
	while (end > line + 2 && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	p = line + 2;
	while (*p == ' ' || *p == '\t')
		p++;
	if (!*p)
		return -ENOEXEC;
	*ret_interp = p;
	while (*p && *p != ' ' && *p != '\t')
		p++;
	*ret_arg = NULL;
	if (*p) {
		*p++ = 0;
		while (*p == ' ' || *p == '\t')
			p++;
		if (*p)
			*ret_arg = p;
	}
	return 0;
}
