/* What the processor says of itself, in the words of Linux's /proc/cpuinfo: vendor, family, model,
 * and the flags that programs choose their code by (and some refuse to start without: Chromium
 * looks for pni). The instruction is the host's and not hidden from runners, so nothing is told
 * here that a program could not ask for itself. Flags stand in Linux's order; what only an
 * operating system uses of a processor (paging, interrupts, virtualisation) is left out, and so are
 * the frequency and the bugs, which no instruction tells. */
#include <cpuid.h>
#include <string.h>

#include "kernel/fs/proc/proc_priv.h"

enum leaf { L1_D, LX_D, L1_C, LX_C, L7_B, LD_A, L71_A, L7_C, L7_D, LEAVES };

static const struct {
	uint8_t leaf, bit;
	bool wide; /* an extension of the registers: the host's kernel must save them */
	const char *name;
} flags[] = {
	{ L1_D, 0, 0, "fpu" },
	{ L1_D, 4, 0, "tsc" },
	{ L1_D, 8, 0, "cx8" },
	{ L1_D, 11, 0, "sep" },
	{ L1_D, 15, 0, "cmov" },
	{ L1_D, 19, 0, "clflush" },
	{ L1_D, 23, 0, "mmx" },
	{ L1_D, 24, 0, "fxsr" },
	{ L1_D, 25, 0, "sse" },
	{ L1_D, 26, 0, "sse2" },
	{ L1_D, 28, 0, "ht" },
	{ LX_D, 11, 0, "syscall" },
	{ LX_D, 20, 0, "nx" },
	{ LX_D, 22, 0, "mmxext" },
	{ LX_D, 25, 0, "fxsr_opt" },
	{ LX_D, 26, 0, "pdpe1gb" },
	{ LX_D, 27, 0, "rdtscp" },
	{ LX_D, 29, 0, "lm" },
	{ L1_C, 0, 0, "pni" },
	{ L1_C, 1, 0, "pclmulqdq" },
	{ L1_C, 9, 0, "ssse3" },
	{ L1_C, 12, 1, "fma" },
	{ L1_C, 13, 0, "cx16" },
	{ L1_C, 19, 0, "sse4_1" },
	{ L1_C, 20, 0, "sse4_2" },
	{ L1_C, 22, 0, "movbe" },
	{ L1_C, 23, 0, "popcnt" },
	{ L1_C, 25, 0, "aes" },
	{ L1_C, 26, 0, "xsave" },
	{ L1_C, 28, 1, "avx" },
	{ L1_C, 29, 1, "f16c" },
	{ L1_C, 30, 0, "rdrand" },
	{ L1_C, 31, 0, "hypervisor" },
	{ LX_C, 0, 0, "lahf_lm" },
	{ LX_C, 5, 0, "abm" },
	{ LX_C, 6, 0, "sse4a" },
	{ LX_C, 7, 0, "misalignsse" },
	{ LX_C, 8, 0, "3dnowprefetch" },
	{ LX_C, 11, 1, "xop" },
	{ LX_C, 16, 1, "fma4" },
	{ L7_B, 0, 0, "fsgsbase" },
	{ L7_B, 3, 0, "bmi1" },
	{ L7_B, 5, 1, "avx2" },
	{ L7_B, 8, 0, "bmi2" },
	{ L7_B, 9, 0, "erms" },
	{ L7_B, 16, 1, "avx512f" },
	{ L7_B, 17, 1, "avx512dq" },
	{ L7_B, 18, 0, "rdseed" },
	{ L7_B, 19, 0, "adx" },
	{ L7_B, 21, 1, "avx512ifma" },
	{ L7_B, 23, 0, "clflushopt" },
	{ L7_B, 24, 0, "clwb" },
	{ L7_B, 28, 1, "avx512cd" },
	{ L7_B, 29, 0, "sha_ni" },
	{ L7_B, 30, 1, "avx512bw" },
	{ L7_B, 31, 1, "avx512vl" },
	{ LD_A, 0, 0, "xsaveopt" },
	{ LD_A, 1, 0, "xsavec" },
	{ LD_A, 2, 0, "xgetbv1" },
	{ LD_A, 3, 0, "xsaves" },
	{ L71_A, 4, 1, "avx_vnni" },
	{ L71_A, 5, 1, "avx512_bf16" },
	{ L7_C, 1, 1, "avx512vbmi" },
	{ L7_C, 2, 0, "umip" },
	{ L7_C, 6, 1, "avx512_vbmi2" },
	{ L7_C, 8, 0, "gfni" },
	{ L7_C, 9, 1, "vaes" },
	{ L7_C, 10, 1, "vpclmulqdq" },
	{ L7_C, 11, 1, "avx512_vnni" },
	{ L7_C, 12, 1, "avx512_bitalg" },
	{ L7_C, 14, 1, "avx512_vpopcntdq" },
	{ L7_C, 22, 0, "rdpid" },
	{ L7_D, 4, 0, "fsrm" },
};

static void leaves_read(uint32_t out[static LEAVES])
{
	uint32_t a, b, c, d;

	memset(out, 0, LEAVES * sizeof(out[0]));
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		out[L1_C] = c;
		out[L1_D] = d;
	}
	if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
		out[LX_C] = c;
		out[LX_D] = d;
	}
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		out[L7_B] = b;
		out[L7_C] = c;
		out[L7_D] = d;
		if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
			out[L71_A] = a;
	}
	if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d))
		out[LD_A] = a;
}

static bool wide_saved(const uint32_t leaves[static LEAVES])
{
	uint32_t low, high;

	if (!(leaves[L1_C] & 1U << 27)) /* OSXSAVE: xgetbv would be an invalid instruction */
		return false;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & 6) == 6;
}

static void put_flags(struct textbuf *b)
{
	uint32_t leaves[LEAVES];
	bool wide;

	leaves_read(leaves);
	wide = wide_saved(leaves);
	text_puts(b, "flags\t\t:");
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if ((leaves[flags[i].leaf] & 1U << flags[i].bit) && (wide || !flags[i].wide))
			text_printf(b, " %s", flags[i].name);
	text_puts(b, "\n");
}

void cpu_describe(struct textbuf *b)
{
	uint32_t top = 0, a, bx, c, d, sig = 0, flush = 8, bits = 0x3028, regs[12] = { 0 };
	uint32_t family, model;
	char vendor[13] = "unknown", brand[49] = "unknown";

	if (__get_cpuid(0, &top, &bx, &c, &d)) {
		memcpy(vendor, &bx, 4);
		memcpy(vendor + 4, &d, 4);
		memcpy(vendor + 8, &c, 4);
		vendor[12] = 0;
	}
	for (unsigned i = 0; i < 3; i++)
		if (__get_cpuid(0x80000002 + i, &regs[i * 4], &regs[i * 4 + 1], &regs[i * 4 + 2],
				&regs[i * 4 + 3]))
			memcpy(brand + i * 16, &regs[i * 4], 16);
	brand[48] = 0;
	if (__get_cpuid(1, &sig, &bx, &c, &d) && (d & 1U << 19))
		flush = bx >> 8 & 0xff;
	if (__get_cpuid(0x80000008, &a, &bx, &c, &d))
		bits = a;
	family = sig >> 8 & 0xf;
	model = sig >> 4 & 0xf;
	if (family >= 6)
		model |= (sig >> 16 & 0xf) << 4;
	if (family == 0xf)
		family += sig >> 20 & 0xff;
	text_printf(b,
		    "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
		    "model name\t: %s\nstepping\t: %u\ncpu MHz\t\t: 2000.000\n"
		    "cache size\t: 1024 KB\nphysical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\n"
		    "cpu cores\t: 1\napicid\t\t: 0\ninitial apicid\t: 0\nfpu\t\t: yes\n"
		    "fpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\n",
		    vendor, family, model, brand, sig & 0xf, top);
	put_flags(b);
	text_printf(b,
		    "bugs\t\t:\nbogomips\t: 4000.00\nclflush size\t: %u\ncache_alignment\t: %u\n"
		    "address sizes\t: %u bits physical, %u bits virtual\npower management:\n",
		    flush * 8, flush * 8, bits & 0xff, bits >> 8 & 0xff);
}
