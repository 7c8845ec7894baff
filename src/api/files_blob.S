/* viv-files (src/files) as data of vivd, which gives it to cells. Built by the Makefile before this is assembled. */
	.section .rodata
	.balign 4096
	.globl files_blob, files_blob_end
files_blob:
	.incbin "viv-files"
files_blob_end:
	.section .note.GNU-stack, "", @progbits
