/* The stub's program file as data of the kernel, so that a cell needs no second file: the kernel writes it into a memfd
 * and runners execute that. Built by the Makefile before this is assembled. */
	.section .rodata
	.balign 4096
	.globl stub_blob, stub_blob_end
	.type stub_blob, @object
stub_blob:
	.incbin "viv-stub"
stub_blob_end:
	.size stub_blob, . - stub_blob
	.section .note.GNU-stack, "", @progbits
