/* WebAssembly modules as programs: execve of a file that begins with "\0asm" runs it by a runtime,
 * as binfmt_misc would.
 *
 * The runtime is the operator's (--binfmt-wasm COMMAND, words at blanks, the module's path and
 * arguments behind them) or node's WASI. For the latter the launcher is an argument and not a file,
 * so that it works in every root that has node: the module gets its arguments, the environment, the
 * streams, the directories of "/" and the working directory, and its exit status is the process's.
 * A file that is no module for WASI ends with 126.
 *
 * Without a runtime execve gives ENOEXEC, as a Linux without an entry for it, and the operator is
 * told once what to do. */
#include "kernel/sys/wasm.h"

#include <stdio.h>
#include <string.h>

/* libc of WASI takes leading slashes off and then the longest match, so "/" and "." would be the
 * same to it: each directory of "/" is opened by its name, and what is left is the working
 * directory's. */
/* clang-format off */
static const char launcher[] =
	"const{WASI:W}=require('wasi'),s=require('fs'),p=process,A=WebAssembly,f=p.argv[1],o={'.':'.'};"
	"for(const d of s.readdirSync('/'))try{s.opendirSync('/'+d).closeSync();o['/'+d]='/'+d}catch{}"
	"const w=new W({version:'preview1',args:p.argv.slice(1),env:p.env,preopens:o,returnOnExit:true}),"
	"v=w.wasiImport;let i;try{i=new A.Instance(new A.Module(s.readFileSync(f)),"
	"{wasi_snapshot_preview1:v,wasi_unstable:v})}catch(e){console.error(f+': '+e.message);p.exit(126)}"
	"p.exitCode=i.exports._start?w.start(i):(w.initialize(i),0)";
/* clang-format on */

const char *const wasm_default_places[] = { "/usr/local/bin/node", "/usr/bin/node",
					    "/usr/bin/nodejs", NULL };
void (*wasm_missing)(const char *text) SEALED;

bool wasm_is_module(const void *head, size_t n)
{
	return n >= 4 && memcmp(head, "\0asm", 4) == 0;
}

unsigned wasm_words(const char *command, const char *interp, const char **words)
{
	static char buf[512];
	unsigned n = 0;

	if (!command) {
		words[n++] = interp;
		words[n++] = "--no-warnings";
		words[n++] = "-e";
		words[n++] = launcher;
		words[n++] = "--";
		return n;
	}
	snprintf(buf, sizeof(buf), "%s", command);
	for (char *s = buf + strspn(buf, " "); *s && n < WASM_WORDS; s += strspn(s, " ")) {
		words[n++] = s;
		s += strcspn(s, " ");
		if (*s)
			*s++ = 0;
	}
	return n;
}

void wasm_say_missing(const char *module, const char *command)
{
	static bool said;
	char text[400];

	if (said || !wasm_missing)
		return;
	said = true;
	if (command)
		snprintf(text, sizeof(text),
			 "%.100s is a WebAssembly module, and '%.100s' (--binfmt-wasm) cannot be "
			 "run in the cell",
			 module, command);
	else
		snprintf(text, sizeof(text),
			 "%.100s is a WebAssembly module, and the cell has no /usr/bin/node to run "
			 "it; install node, or "
			 "name a runtime of the cell with --binfmt-wasm",
			 module);
	wasm_missing(text);
}
