/* The stub's assembler: its entry, the way back from signals, and the clones that must not use the stack. */
#include "stub/fast.h"

	.text

/* Entered by the host's execve. Leaves the initial stack at once: it is rearranged for the program. */
	.globl	_start
_start:
	mov	%rsp, %rdi
	lea	boot_stack_top(%rip), %rsp
	xor	%ebp, %ebp
	call	stub_main
	ud2

/* stub_jump(sp, entry): into the program, as the host would. */
	.globl	stub_jump
stub_jump:
	mov	%rdi, %rsp
	mov	%rsi, %rcx
	xor	%eax, %eax
	xor	%ebx, %ebx
	xor	%edx, %edx
	xor	%esi, %esi
	xor	%edi, %edi
	xor	%ebp, %ebp
	xor	%r8d, %r8d
	xor	%r9d, %r9d
	xor	%r10d, %r10d
	xor	%r11d, %r11d
	xor	%r12d, %r12d
	xor	%r13d, %r13d
	xor	%r14d, %r14d
	xor	%r15d, %r15d
	push	%rcx
	xor	%ecx, %ecx
	ret

	.globl	stub_restorer
stub_restorer:
	movabs	$STUB_MAGIC, %r9
	mov	$15, %eax
	syscall
	ud2

/* stub_sigreturn(ucontext *): as if a handler with this context returned. */
	.globl	stub_sigreturn
stub_sigreturn:
	mov	%rdi, %rsp
	jmp	stub_restorer

/* The host's handler for a SIGCONT that the guest catches: stub_cont() puts right what the kernel could not send, and says which
 * function of the guest is called, in its place and with its arguments. */
	.globl	stub_cont_entry
stub_cont_entry:
	push	%rdi
	push	%rsi
	push	%rdx
	call	stub_cont
	mov	%rax, %r11
	pop	%rdx
	pop	%rsi
	pop	%rdi
	xor	%eax, %eax
	jmp	*%r11

/* long stub_clone_thread(flags, frame + 8, ptid, ctid, tls, token): the child returns from the signal frame that was
 * copied to its own stack; it touches no other memory. */
	.globl	stub_clone_thread
stub_clone_thread:
	push	%rbx
	mov	%r9, %rbx
	mov	%rcx, %r10
	movabs	$STUB_MAGIC, %r9
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	1f
	pop	%rbx
	ret
1:	mov	$HC_CHILD, %eax
	mov	%rbx, %rdi
	syscall
	test	%rax, %rax
	jnz	stub_unwanted
	jmp	stub_restorer

/* The kernel does not take the child: it has sent SIGKILL, and nothing more of the guest's is to run until that arrives. */
stub_unwanted:
	mov	$231, %eax
	mov	$1, %edi
	syscall
	jmp	stub_unwanted

/* stub_vfork(flags, frame + 8, ptid, ctid, tls, token, slot stack top (stack argument 1), slot (argument 2)): does not
 * return. The parent waits on the slot's stack, as the child uses the memory of ours; the child goes on from the original
 * frame. Afterwards stub_vfork_parent(slot, result) puts the frame back and says where it is; the slot is given back only
 * when its stack was left. */
	.globl	stub_vfork
stub_vfork:
	mov	8(%rsp), %rax
	mov	16(%rsp), %r12
	mov	%r9, %rbx
	mov	%rcx, %r10
	movabs	$STUB_MAGIC, %r9
	mov	%rax, %rsp
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	1f
	mov	%r12, %rdi
	mov	%rax, %rsi
	call	stub_vfork_parent
	mov	%rax, %rsp
	cmpl	$0, 4(%r12)
	je	2f
	mov	%r12, %rdi
	mov	$0x6000, %esi
	movabs	$STUB_MAGIC, %r9
	mov	$11, %eax
	syscall
	jmp	stub_restorer
2:	movl	$0, (%r12)
	jmp	stub_restorer
1:	mov	$HC_CHILD, %eax
	mov	%rbx, %rdi
	syscall
	test	%rax, %rax
	jnz	stub_unwanted
	/* A child with a stack of its own must not have our alternate stack (clone.c marks it so in the frame). The host takes it
	 * away only from a thread that is not on it, so it is asked while rsp is the new stack. */
	cmpl	$2, 24(%rsp)
	jne	4f
	mov	%rsp, %r13
	mov	160(%rsp), %rsp
	lea	no_altstack(%rip), %rdi
	xor	%esi, %esi
	movabs	$STUB_MAGIC, %r9
	mov	$131, %eax
	syscall
	mov	%r13, %rsp
4:	jmp	stub_restorer

/* long stub_suspend(mask *, struct suspend *): rt_sigsuspend with a known address and the second argument in r12, where
 * the handler of the reserved signal finds it. */
	.globl	stub_suspend
	.globl	stub_suspend_ret
stub_suspend:
	push	%r12
	mov	%rsi, %r12
	mov	$8, %esi
	movabs	$STUB_MAGIC, %r9
	mov	$130, %eax
	syscall
stub_suspend_ret:
	pop	%r12
	ret

/* long stub_rest(void): the thread is at rest until the kernel answers: 0. Everything that it needs to go on is in its memory
 * and in the stack pointer that it reports. A thread of a thawed cell goes on from there with 1. */
	.globl	stub_rest
stub_rest:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, %rdi
	mov	$HC_REST, %eax
	syscall
1:	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* long stub_thaw_clone(flags): a thread of a process that is being thawed. It touches no memory, which is not yet its own. */
	.globl	stub_thaw_clone
	.globl	stub_thaw_wait
stub_thaw_clone:
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	movabs	$STUB_MAGIC, %r9
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	stub_thaw_wait
	ret
stub_thaw_wait:
	mov	$HC_THAW_WAIT, %eax
	syscall
	test	%rax, %rax
	jle	stub_unwanted
	mov	%rax, %rsp
	mov	$1, %eax
	jmp	1b

/* Where a call waits that would wait for long (signal.c): the guest's own context, but for rip, rax and r9, and what every system
 * call overwrites. Only a signal's handler leads out of here. */
	.globl	stub_wait
	.globl	stub_wait_end
stub_wait:
	mov	$34, %eax
	syscall
	jmp	stub_wait
stub_wait_end:

/* A rewritten call (fast.c): below the red zone, every register is kept in a frame that r15 points to while the answer is
 * looked for. The labels tell stub_fast_leave() what is where at each instruction. */
#define FRAME_ROOM 256
	.globl	stub_fast
	.globl	stub_fast_in
	.globl	stub_fast_out
	.globl	stub_fast_end
	.balign	16
stub_fast:
	lea	-FRAME_ROOM(%rsp), %rsp
	mov	%rax, (%rsp)
	mov	%rcx, 8(%rsp)
	mov	%rdi, 16(%rsp)
	mov	%rsi, 24(%rsp)
	mov	%rdx, 32(%rsp)
	mov	%r10, 40(%rsp)
	mov	%r8, 48(%rsp)
	mov	%r9, 56(%rsp)
	mov	%rbx, 64(%rsp)
	mov	%rbp, 72(%rsp)
	mov	%r12, 80(%rsp)
	mov	%r13, 88(%rsp)
	mov	%r14, 96(%rsp)
	mov	%r15, 104(%rsp)
	movq	$0, 112(%rsp)
	movq	$0, 120(%rsp)
	mov	%rsp, %r15
stub_fast_in:
	and	$-16, %rsp
	call	fast_answer
	mov	%r15, %rsp
	mov	8(%rsp), %rcx
	movabs	$-0x7fffffffffffffff, %r11
	cmp	%r11, %rax
	je	1f
	add	$2, %rcx
	jmp	2f
1:	mov	(%rsp), %rax
2:	mov	16(%rsp), %rdi
	mov	24(%rsp), %rsi
	mov	32(%rsp), %rdx
	mov	40(%rsp), %r10
	mov	48(%rsp), %r8
	mov	56(%rsp), %r9
	mov	64(%rsp), %rbx
	mov	72(%rsp), %rbp
	mov	80(%rsp), %r12
	mov	88(%rsp), %r13
	mov	96(%rsp), %r14
	mov	104(%rsp), %r15
stub_fast_out:
	lea	FRAME_ROOM(%rsp), %rsp
	jmp	*%rcx
stub_fast_end:

/* uint64_t guard_copy(d, s, n): a fault at guard_copy_at goes on at guard_copy_end (guard.c). */
	.section fasttext, "ax"
	.globl	guard_copy
	.globl	guard_copy_at
	.globl	guard_copy_end
guard_copy:
	mov	%rdx, %rcx
guard_copy_at:
	rep movsb
guard_copy_end:
	mov	%rcx, %rax
	ret

	.section .rodata
	.balign	8
no_altstack:
	.quad	0, 2, 0

	.bss
	.balign	64
	.skip	16384
boot_stack_top:

/* The shared memory's place; runner_stub_install gives it its content. */
	.section .fastmem, "a", @nobits
	.balign	4096
	.skip	FAST_SIZE

	.section .note.GNU-stack,"",@progbits
