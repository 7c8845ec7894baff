/* Guest code jumps into the stub: to every syscall instruction and to random places, with random
 * registers; then wrecks it. usage: stubjump [jumps [seed]] */
#include "hostile.h"

static unsigned char *const stub = (unsigned char *)STUB_BASE;
static size_t text;

static size_t stub_size(void)
{
	size_t n = 0;
	unsigned char vec;

	while (n < STUB_SPAN && mincore(stub + n, 4096, &vec) == 0)
		n += 4096;
	return n;
}

struct jump {
	uint64_t to, r[16];
};

static char area[65536] __attribute__((aligned(64)));

static uint64_t value(void)
{
	static const uint64_t fixed[] = { 0, 1, STUB_MAGIC, STUB_MAP_HI, STUB_FD, 17, 0x8011, 0x50f00, 9, 56, 59, 322, 3,
					  15, 13, 14, HC_CHILD, HC_EXEC_BOOT, HC_EXEC_PREP, HC_MMAP, 62, 231 };

	switch (below(5)) {
	case 0:
		return fixed[below(sizeof(fixed) / sizeof(fixed[0]))];
	case 1:
		return (uint64_t)(area + below(sizeof(area)));
	case 2:
		return STUB_BASE + below(text);
	case 3:
		return below(512);
	default:
		return rnd();
	}
}

static void jump(void *arg)
{
	struct jump *j = arg;

	alarm(1);
	setpgid(0, 0); /* kill(0, SIGKILL) is a call that it may make, and its group's end is then its own */
	j->r[7] = (uint64_t)(area + sizeof(area) - 4096) & ~15UL; /* rsp, most of the time */
	if (!below(8))
		j->r[7] = value();
	__asm__ volatile("mov 8(%%rdi), %%rax\n mov 16(%%rdi), %%rbx\n mov 24(%%rdi), %%rcx\n mov 32(%%rdi), %%rdx\n"
			 "mov 40(%%rdi), %%rsi\n mov 56(%%rdi), %%rbp\n mov 64(%%rdi), %%rsp\n"
			 "mov 72(%%rdi), %%r8\n mov 80(%%rdi), %%r9\n mov 88(%%rdi), %%r10\n mov 104(%%rdi), %%r12\n"
			 "mov 112(%%rdi), %%r13\n mov 120(%%rdi), %%r14\n mov 128(%%rdi), %%r15\n mov (%%rdi), %%r11\n"
			 "mov 48(%%rdi), %%rdi\n jmp *%%r11\n"
			 :
			 : "D"(j)
			 : "memory");
}

static void jump_many(void *arg)
{
	struct jump j;

	for (int i = 0; i < 16; i++)
		j.r[i] = value();
	for (size_t i = 0; i < sizeof(area); i += 8)
		*(uint64_t *)(area + i) = value();
	j.to = (uint64_t)arg;
	jump(&j);
}

static void wreck_unmap(void *arg)
{
	(void)arg;
	RAW(SYS_munmap, stub, STUB_SPAN);
	RAW(SYS_getppid);
	RAW(SYS_openat, AT_FDCWD, "/tmp", 0);
	RAW(SYS_fork);
}
static void wreck_protect(void *arg)
{
	RAW(SYS_mprotect, stub, 4096 * 16, (long)arg);
	RAW(SYS_getppid);
	RAW(SYS_fork);
	execl("/bin/true", "true", NULL);
}
static void wreck_write(void *arg)
{
	RAW(SYS_mprotect, stub, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(stub, (int)(long)arg, 4096);
	RAW(SYS_getppid);
	RAW(SYS_fork);
	execl("/bin/true", "true", NULL);
}
static void wreck_remap(void *arg)
{
	(void)arg;
	RAW(SYS_mremap, stub, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, 0x10000000);
	RAW(SYS_mmap, stub, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	RAW(SYS_fork);
	execl("/bin/true", "true", NULL);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300, sites = 0;
	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	text = stub_size();
	check(text >= 4096 && text <= STUB_SPAN, "the stub is where it is said to be (%zu bytes)", text);
	for (size_t i = 0; i + 1 < text; i++) {
		if (stub[i] != 0x0f || stub[i + 1] != 0x05)
			continue;
		sites++;
		for (int k = 0; k < 4; k++) {
			seed_state = (base + i * 131 + (unsigned)k) * 0x9e3779b97f4a7c15ull | 1;
			rnd();
			in_child(jump_many, stub + i, 300);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
	}
	check(sites > 3 && cell_is_well(), "jumps to the stub's %d syscall instructions", sites);
	for (int i = 0; i < n; i++) {
		seed_state = (base * 77 + (unsigned)i) * 0x9e3779b97f4a7c15ull | 1;
		rnd();
		in_child(jump_many, stub + below(text < 12288 ? text : 12288), 300);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	check(cell_is_well(), "%d jumps to random places of the stub", n);
	in_child(wreck_unmap, NULL, 500);
	for (long p = 0; p < 8; p++)
		in_child(wreck_protect, (void *)p, 500);
	in_child(wreck_write, (void *)0, 500);
	in_child(wreck_write, (void *)0x90, 500);
	in_child(wreck_write, (void *)0xcc, 500);
	in_child(wreck_remap, NULL, 500);
	check(cell_is_well(), "a stub that is unmapped, protected, overwritten, moved");
	return done();
}
