# WebAssembly modules as programs. The module is assembled by hand: it prints its last argument and ends with 40 + their number.
# shellcheck shell=bash

module() {
	python3 "$E2E_DIR/wasm-module.py" m
	chmod 755 m
}

with_node() {
	module
	viv --mount "$PWD:/w:ro" -- bash -c '/w/m a "b c"; echo " $?"; PATH=/w:$PATH; m --help; echo " $?"; cd /w; ./m; echo " $?"
		python3 -c "import os, subprocess as s; r = s.run([\"m\", \"x\"], stdout=s.PIPE); print(r.stdout, r.returncode, flush=True); print(os.spawnv(os.P_WAIT, \"/w/m\", [\"m\", \"y\"]))"
		cp m /tmp/noexec; chmod 644 /tmp/noexec; /tmp/noexec 2>/dev/null; echo $?; printf "\0asm\1\0\0\0" >/tmp/e; chmod 755 /tmp/e; cd /tmp; ./e; echo $?; printf "\0asm????" >bad; chmod 755 bad; ./bad 2>/dev/null; echo $?' >out 2>&1
	cat >want <<-'EOF'
		b c 43
		--help 42
		./m 41
		b'x' 42
		y42
		126
	EOF
	head -n 6 out | diff want -
	is "$(tail -n 1 out)" 126 'a module that is broken'
}
check 'a module runs by its path, by PATH, from python' with_node

other() {
	module
	is "$(viv --binfmt-wasm '/bin/echo run  it' --mount "$PWD:/w:ro" -- /w/m 1 '2 3')" 'run it /w/m 1 2 3'
	printf '#!/bin/sh\necho "script: $*"\n' >rt
	chmod 755 rt
	is "$(viv --binfmt-wasm /w/rt --mount "$PWD:/w:ro" -- /w/m 1)" 'script: /w/m 1' 'a script as the runtime'
	exits 126 viv --binfmt-wasm /w/m --mount "$PWD:/w:ro" -- /w/m
	exits 125 viv --binfmt-wasm relative -- true
	like "$(cat err)" '*absolute path*'
}
check 'a runtime of the operator'"'"'s choice @r' other

none() {
	module
	exits 126 viv --binfmt-wasm /no/such --mount "$PWD:/w:ro" -- /w/m
	like "$(cat err)" '*WebAssembly module*--binfmt-wasm*Exec format error*'
	viv --mount "$PWD:/w:ro" -- sh -c 'rm -f /usr/bin/node /usr/local/bin/node /usr/bin/nodejs; python3 -c "
import os
try: os.execv(\"/w/m\", [\"m\"])
except OSError as e: print(e.strerror)"; /w/m' >out 2>err || true
	is "$(cat out)" 'Exec format error'
	is "$(grep -c 'no /usr/bin/node to run it' err)" 1 'said once'
}
check 'no runtime: ENOEXEC, and a line that says what to do @r' none
