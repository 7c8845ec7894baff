/* See openapi.h. The assembler finds the file by the include path. */
	.section .rodata
	.global openapi_json, openapi_end
openapi_json:
	.incbin "openapi.json"
openapi_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
