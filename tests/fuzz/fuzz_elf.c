/* ELF headers: the bytes are the start of a file. What is planned must lie inside the file and the
 * address space. */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "kernel/platform/elf.h"

const char fuzz_name[] = "elf";
const size_t fuzz_max = 6144;

void fuzz_init(void)
{
}

static void plan_check(const struct elf_plan *p, uint64_t file_size)
{
	FUZZ_CHECK(p->nseg >= 1 && p->nseg <= ELF_MAX_OBJ_SEGS);
	FUZZ_CHECK(p->phnum >= 1 && p->phnum <= ELF_MAX_PHDRS);
	FUZZ_CHECK(p->interp_len <= 4096);
	FUZZ_CHECK(p->vaddr % PAGE_SIZE == 0 && p->span % PAGE_SIZE == 0 && p->span > 0);
	FUZZ_CHECK(p->vaddr < 0x800000000000 && p->span < 0x800000000000);
	for (uint32_t i = 0; i < p->nseg; i++) {
		const struct stub_seg *s = &p->seg[i];

		FUZZ_CHECK(s->addr % PAGE_SIZE == 0 && s->off % PAGE_SIZE == 0);
		FUZZ_CHECK(s->mem_len >= s->file_len && s->mem_len > 0);
		FUZZ_CHECK(s->addr < p->span && s->mem_len <= p->span - s->addr);
		FUZZ_CHECK(!s->file_len || (s->off < file_size && s->file_len <= file_size - s->off));
		FUZZ_CHECK(!(s->prot & ~7u));
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	/* The kernel reads the head into a buffer and the program headers, wherever they are, into
	 * another. */
	size_t head = MIN(size, (size_t)ELF_HEAD);
	char phdrs[ELF_MAX_PHDRS * 56];
	struct elf_plan plan;
	uint64_t off;
	uint32_t len;

	if (elf_phdr_range(data, head, &off, &len) < 0)
		return;
	FUZZ_CHECK(len <= sizeof(phdrs));
	if (off > size || len > size - off)
		return;
	memcpy(phdrs, data + off, len);
	/* Segments of the seeds lie beyond the bytes that are kept of them. */
	if (elf_plan(data, head, phdrs, len, size, &plan) == 0)
		plan_check(&plan, size);
	if (elf_plan(data, head, phdrs, len, 1 << 20, &plan) == 0)
		plan_check(&plan, 1 << 20);
}
