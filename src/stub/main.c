/* The first words of every program: after the host's execve of the stub, asks the kernel what to
 * load, maps it, puts the stack into the shape that the program expects, and jumps.
 *
 * The host has already replaced the memory, built the stack from the guest's own argv and envp, and
 * ended the other threads. What it cannot know is repaired: the auxiliary vector speaks of the
 * stub, argv of a #! script lacks its interpreter. */
#include "stub/fast.h"
#include "stub/sys.h"

#define AT_NULL_ 0
#define AT_PHDR_ 3
#define AT_PHENT_ 4
#define AT_PHNUM_ 5
#define AT_BASE_ 7
#define AT_ENTRY_ 9
#define AT_UID_ 11
#define AT_EUID_ 12
#define AT_GID_ 13
#define AT_EGID_ 14
#define AT_SECURE_ 23
#define AT_EXECFN_ 31
#define AT_MINSIGSTKSZ_ 51

#define PAGE 4096UL
#define UP(x) (((x) + PAGE - 1) & ~(PAGE - 1))
#define PROT_NONE_ 0
#define PROT_WRITE_ 2
#define PROT_EXEC_ 4
#define MAP_PRIVATE_ 2
#define MAP_FIXED_ 0x10
#define MAP_NORESERVE_ 0x4000
#define MAP_FIXED_NOREPLACE_ 0x100000

struct stub_boot stub_boot_data;
#define boot stub_boot_data

_Noreturn static void die(void)
{
	for (;;)
		native(NR_EXIT_GROUP, 127, 0, 0, 0);
}

static size_t len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* The distance between where the object is and what its file says. */
static uint64_t obj_map(uint32_t which)
{
	const struct stub_obj *o = &boot.obj[which];
	uint64_t base, end, bias, pos;
	long p;

	p = anon(o->hint, o->span, PROT_NONE_,
		 MAP_PRIVATE_ | MAP_NORESERVE_ | (o->hint ? MAP_FIXED_NOREPLACE_ : 0));
	if (p < 0 && p > -4096 && !o->fixed)
		p = anon(0, o->span, PROT_NONE_, MAP_PRIVATE_ | MAP_NORESERVE_);
	if (p < 0 && p > -4096)
		die();
	base = p;
	bias = base - o->vaddr;
	pos = base; /* what lies between the segments is given back */
	for (uint32_t i = 0; i < boot.nseg; i++) {
		const struct stub_seg *s = &boot.seg[i];
		uint64_t at, file_end;

		if (s->obj != which)
			continue;
		at = base + s->addr;
		file_end = at + s->file_len;
		end = UP(at + s->mem_len);
		if (at > pos)
			native(NR_MUNMAP, pos, at - pos, 0, 0);
		if (s->file_len) {
			p = sys6(NR_MMAP, at, s->file_len, s->prot, MAP_PRIVATE_ | MAP_FIXED_,
				 STUB_MAP_FD(o->fd), s->off);
			if (p < 0 && p > -4096)
				die();
			/* Only if there is an unused end of a page behind it. */
			if ((s->prot & PROT_EXEC_) && UP(file_end) - file_end >= 512)
				stub_code_note(at, s->file_len);
			/* The rest of the last page is zero, as far as it can be written. */
			if (s->mem_len > s->file_len && (s->prot & PROT_WRITE_))
				zero((void *)file_end, UP(file_end) - file_end);
		}
		if (end > UP(file_end)) {
			p = anon(UP(file_end), end - UP(file_end), s->prot,
				 MAP_PRIVATE_ | MAP_FIXED_);
			if (p < 0 && p > -4096)
				die();
		}
		pos = end;
	}
	if (base + UP(o->span) > pos)
		native(NR_MUNMAP, pos, base + UP(o->span) - pos, 0, 0);
	if (!o->keep)
		native(NR_CLOSE, o->fd, 0, 0, 0);
	return bias;
}

static uint64_t str_size(uint64_t s)
{
	return len((const char *)s) + 1;
}

static char *put_str(char *to, const char *from)
{
	size_t n = len(from) + 1;

	copy(to, from, n);
	return to + n;
}

static uint64_t aux_value(const uint64_t *pair, const struct stub_done *done, uint64_t bias,
			  uint64_t interp_base, uint64_t execfn)
{
	(void)done;
	switch (pair[0]) {
	case AT_PHDR_:
		return boot.phdr + bias;
	case AT_PHENT_:
		return 56;
	case AT_PHNUM_:
		return boot.phnum;
	case AT_BASE_:
		return interp_base;
	case AT_ENTRY_:
		return boot.obj[0].entry + bias;
	case AT_UID_:
		return boot.uid;
	case AT_EUID_:
		return boot.euid;
	case AT_GID_:
		return boot.gid;
	case AT_EGID_:
		return boot.egid;
	case AT_SECURE_:
		return 0;
	case AT_EXECFN_:
		return execfn;
	case AT_MINSIGSTKSZ_:
		return pair[1] * 2 + 1024; /* the stub's frames nest on the guest's */
	default:
		return pair[1];
	}
}

/* Builds the program's view of the stack below the host's: the strings that are new, then argc,
 * argv, envp and auxv. The arguments of a script are all laid out anew, so that they lie in one
 * piece. Returns the new stack pointer. */
static uint64_t *stack_arrange(const uint64_t *sp, struct stub_done *done, uint64_t bias,
			       uint64_t interp_base)
{
	const uint64_t argc = sp[0], *argv = sp + 1, *envp = argv + argc + 1, *auxv;
	uint64_t nenv = 0, naux = 1, narg = argc, strings = str_size((uint64_t)boot.extra), words;
	const char *prefix = boot.extra + strings;
	uint64_t *out, *o, execfn;
	char *text;

	while (envp[nenv])
		nenv++;
	auxv = envp + nenv + 1;
	while (auxv[(naux - 1) * 2] != AT_NULL_)
		naux++;
	if (boot.nprefix) {
		narg = boot.nprefix;
		strings = boot.extra_len;
		for (uint64_t i = 1; i < argc; i++, narg++)
			strings += str_size(argv[i]);
	}
	words = 1 + narg + 1 + nenv + 1 + naux * 2;
	text = (char *)(((uint64_t)sp - strings) & ~15UL);
	out = (uint64_t *)(((uint64_t)text - words * 8) & ~15UL);

	execfn = (uint64_t)text;
	text = put_str(text, boot.extra);
	o = out;
	*o++ = narg;
	if (boot.nprefix) {
		done->arg_start = (uint64_t)text;
		for (uint32_t i = 0; i < boot.nprefix; i++) {
			*o++ = (uint64_t)text;
			text = put_str(text, prefix);
			prefix += len(prefix) + 1;
		}
		for (uint64_t i = 1; i < argc; i++) {
			*o++ = (uint64_t)text;
			text = put_str(text, (const char *)argv[i]);
		}
		done->arg_end = (uint64_t)text;
	} else {
		for (uint64_t i = 0; i < argc; i++)
			*o++ = argv[i];
		done->arg_start = argc ? argv[0] : 0;
		done->arg_end = argc ? argv[argc - 1] + str_size(argv[argc - 1]) : 0;
	}
	*o++ = 0;
	for (uint64_t i = 0; i < nenv; i++)
		*o++ = envp[i];
	*o++ = 0;
	done->env_start = nenv ? envp[0] : done->arg_end;
	done->env_end = nenv ? envp[nenv - 1] + str_size(envp[nenv - 1]) : done->env_start;
	done->auxv = (uint64_t)o;
	done->auxv_size = naux * 16;
	for (uint64_t i = 0; i < naux; i++) {
		*o++ = auxv[i * 2];
		*o++ = aux_value(auxv + i * 2, done, bias, interp_base, execfn);
	}
	done->start_stack = (uint64_t)out;
	return out;
}

/* Tells the host where things are: brk starts behind the program, its /proc/PID shows the right
 * ranges. */
static void mm_describe(const struct stub_done *done, uint64_t bias)
{
	struct {
		uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack,
			arg_start, arg_end, env_start, env_end, auxv;
		uint32_t auxv_size, exe_fd;
	} m = {
		.start_code = done->start_code,
		.end_code = done->end_code,
		.start_data = boot.start_data + bias,
		.end_data = boot.end_data + bias,
		.start_brk = done->start_brk,
		.brk = done->start_brk,
		.start_stack = done->start_stack,
		.arg_start = done->arg_start,
		.arg_end = done->arg_end,
		.env_start = done->env_start,
		.env_end = done->env_end,
		.auxv = done->auxv,
		.auxv_size = (uint32_t)done->auxv_size,
		.exe_fd = ~0u,
	};

	native(NR_PRCTL, 35 /* PR_SET_MM */, 14 /* PR_SET_MM_MAP */, &m, sizeof(m));
	native(NR_PRCTL, 15 /* PR_SET_NAME */, boot.comm, 0, 0);
}

_Noreturn void stub_main(uint64_t *sp)
{
	struct stub_done done = { 0 };
	uint64_t bias, interp_bias = 0, entry;
	long ret;

	/* Before anything of the guest runs. Linux before 6.10 does not have it. */
	ret = native(NR_MSEAL, FILTER_BASE, FILTER_SIZE, 0, 0);
	if (ret != 0 && ret != -ENOSYS_)
		die();
	stub_handlers_install();
	ret = hyper(HC_EXEC_BOOT, &boot, 0, 0, 0);
	if (ret == STUB_BE_SEED)
		stub_seed(0);
	if (ret == STUB_SPLIT) {
		ret = stub_fork();
		if (ret == 0)
			stub_seed(boot.own[0] | (uint64_t)boot.own[1] << 32);
		ret = hyper(HC_EXEC_BOOT, &boot, ret, 0, 0);
	}
	if (ret != 0)
		die();
	stub_filtered = boot.filtered;
	bias = obj_map(0);
	entry = boot.obj[0].entry + bias;
	if (boot.obj[1].present) {
		interp_bias = obj_map(1);
		entry = boot.obj[1].entry + interp_bias;
	}
	sp = stack_arrange(sp, &done, bias,
			   boot.obj[1].present ? interp_bias + boot.obj[1].vaddr : 0);
	done.start_code = boot.start_code + bias;
	done.end_code = boot.end_code + bias;
	done.start_brk = UP(boot.obj[0].vaddr + bias + boot.obj[0].span) + boot.brk_gap;
	stub_stack_note((uint64_t)sp);
	mm_describe(&done, bias);
	hyper(HC_EXEC_DONE, &done, 0, 0, 0);
	native(NR_SIGPROCMASK, 2, &boot.sigmask, 0, 8);
	stub_jump((uint64_t)sp, entry);
}
