/* The fixed parts of the page of a timeline (timelinehtml.c). */
	.section .rodata
	.global timeline_page, timeline_page_end, timeline_script, timeline_script_end
timeline_page:
	.incbin "src/journal/timeline.html"
timeline_page_end:
timeline_script:
	.incbin "src/journal/timeline.js"
timeline_script_end:
	.section .note.GNU-stack, "", @progbits
