# Copies of host directories in cells, and viv merge, which brings hostile changes back. shellcheck shell=bash
clean() {
	"$VIV" ls -q | xargs -r "$VIV" rm -f >/dev/null
	"$VIV" daemon stop
}
# A project, and a cell c with a copy of it in which the script ran.
copied() { # script
	at_end clean
	rm -rf project outside
	mkdir -p project/src project/empty outside
	echo kept >outside/kept
	git init -q project
	echo one >project/a.txt
	echo two >project/src/b.txt
	echo three >'project/sp ace'
	ln -s a.txt project/link
	printf '#!/bin/sh\n' >project/run.sh
	chmod 755 project/run.sh
	find project -exec stat -c '%n %Y %Z %s' {} + | sort >before
	viv --quiet --name c --copy project:/work -w /work -- sh -euc "$1" || return 1
}
merge() { "$VIV" merge "$@" c </dev/null; }
status() { # path: its status in the plan
	"$VIV" merge --json --dry-run c | python3 -c "
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o.get('path') == '$1': print(o['status'])"
}
untouched() {
	find project -exec stat -c '%n %Y %Z %s' {} + | sort >after
	cmp before after
}

there_and_back() {
	copied 'test "$(cat a.txt src/b.txt "sp ace")" = "one
two
three"; test "$(readlink link)" = a.txt; test -x run.sh; test -d empty; test -d .git
		echo more >>a.txt; rm src/b.txt "sp ace"; mkdir -p new/deep; echo n >new/deep/file; chmod -x run.sh; ln -sf src link
		printf x >tool; chmod 4777 tool; rmdir empty; rm -r src; echo now a file >src'
	untouched
	merge --dry-run >out
	grep -q '^+more$' out
	grep -q '^D sp ace$' out
	grep -q 'tool: becomes executable' out
	untouched
	# Nobody can be asked.
	exits 2 merge
	untouched
	merge --no-patch -y >out
	is "$(tail -n 1 out)" '11 written, 0 left out, 0 failed'
	is "$(cat project/a.txt project/new/deep/file project/src)" $'one\nmore\nn\nnow a file'
	[[ ! -e 'project/sp ace' && ! -e project/empty && ! -x project/run.sh ]]
	is "$(readlink project/link)" src
	is "$(stat -c %a project/tool)" "$(printf %o $((0777 & ~$(umask))))"
	[[ -z $(find project -name '.viv-merge*') ]]
	# A second one does nothing; after further changes it does those.
	is "$(merge -y)" 'There is nothing to write.'
	viv --quiet --name c -- sh -c 'echo again >>/work/a.txt'
	merge --no-patch -y >out
	is "$(tail -n 1 out)" '1 written, 0 left out, 0 failed'
	is "$(tail -n 1 project/a.txt)" again
	exits 5 "$VIV" create --name c --copy project:/other
	like "$(cat err)" '*already*'
	merge --discard
	exits 3 merge
}
check 'a copy comes back, once' there_and_back

git_stays() {
	# In every spelling, as a directory, a file that leads elsewhere, a link, and under other names.
	copied 'echo evil >.git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout; echo "[core] fsmonitor = evil" >>.git/config
		echo x >.git/commondir; rm .git/description
		for g in .GIT .Git ".git " .git. GIT~1 $(printf ".g\342\200\214it") .git:x; do mkdir -p "sub/$g/hooks"; echo evil >"sub/$g/hooks/pre-commit"; done
		mkdir file link3 bare; echo "gitdir: /tmp/evil" >file/.git; ln -s ../src link3/.git; ln -s .git dotgit
		mkdir bare/objects bare/refs; echo "ref: refs/heads/x" >bare/HEAD; echo "[core] fsmonitor = evil" >bare/config
		echo fine >a.txt'
	merge --no-patch -y >out
	(cd project/.git && find . -newer ../../before) >new
	[[ ! -s new ]] || { cat new; return 1; }
	[[ -e project/.git/description && ! -e project/.git/commondir && ! -e project/file/.git && ! -e project/link3/.git && ! -e project/dotgit ]]
	is "$(find project/sub project/bare -type f | wc -l)" 0
	[[ ! -e project/bare/HEAD && ! -e project/bare/config ]]
	is "$(cat project/a.txt)" fine
	grep -q '.git/hooks/post-checkout: it is part of a git directory' out
	# With permission, and a warning.
	exits 0 merge --no-patch -y --with-git
	like "$(cat err)" '*--with-git*hooks*'
	is "$(cat project/.git/hooks/post-checkout)" evil
}
check 'nothing is written to .git, in any form' git_stays

links_stay() {
	copied 'ln -s /etc/passwd abs; ln -s ../../outside up; ln -s .. dots; mkdir d; ln -s ../.. d/up; ln -s ../a.txt d/fine
		ln -s d/../../outside chain; ln -s src in; ln -s in/../.. through
		rm -r src; ln -s ../outside src; mkdir -p link2; echo x >link2/file; mkfifo fifo; ln a.txt hard; echo changed >a.txt
		mknod dev c 1 3 2>/dev/null || true
		python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"'
	merge --no-patch -y >out || true
	is "$(cd project && find . -path ./.git -prune -o -type l -print | sort | tr '\n' ' ')" './d/fine ./in ./link '
	is "$(ls outside; cat outside/kept)" $'kept\nkept'
	[[ ! -e project/fifo && ! -e project/dev && ! -e project/sock ]]
	is "$(cat project/a.txt project/hard)" $'changed\nchanged'
	grep -q 'through: its target goes down and up again' out
	# A link of the host's own that leads out is no way either.
	ln -s ../outside project/own
	viv --quiet --name c -- sh -c 'cd /work; ln -s own/kept sneaky; mkdir own; echo x >own/kept; echo x >own/new'
	merge --no-patch -y --skip-conflicts >out 2>err || true
	is "$(ls outside; cat outside/kept)" $'kept\nkept'
	[[ ! -L project/sneaky && -L project/own ]]
}
check 'links, devices, FIFOs and sockets stay in the cell' links_stay

odd_names() {
	copied 'python3 - <<"E"
import os
for n in (b"esc\x1b[31mred", b"new\nline", b"\xff\xfe", "\u202ecod.exe".encode(), b"-rf", b"$(touch x)", b"a\\b", b"x" * 255):
    os.mkdir(b"dir-" + n[:200]) if b"\\" not in n else None
    open(n, "w").write("\x1b]0;title\x07 odd\n")
E
'
	merge -y >out 2>&1
	# Nothing that steers a terminal.
	fails grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out
	fails grep -q $'\u202e' out
	grep -q 'esc\\x1b' out
	[[ -e project/$'new\nline' && -e project/$'\xff\xfe' && -e project/-rf ]]
	[[ ! -e project/'a\b' ]]
	"$VIV" merge --json --dry-run c >json
	python3 -c 'import json; [json.loads(x) for x in open("json")]'
}
check 'odd names are shown escaped and written as they are' odd_names

conflicting() {
	copied 'echo cell >>a.txt; rm src/b.txt; echo cell >both; echo same >agreed; rm "sp ace"; echo only >mine; chmod +x a.txt'
	echo host >>project/a.txt
	echo host >project/src/b.txt
	echo host >project/both
	echo same >project/agreed
	rm 'project/sp ace'
	touch project/run.sh
	exits 5 merge -y --no-patch
	like "$(cat err)" '*3 files changed both*nothing was written*--beside*'
	[[ ! -e project/mine ]]
	is "$(status a.txt) $(status src/b.txt) $(status both) $(status agreed) $(status 'sp ace') $(status mine)" \
		'conflict conflict conflict same same planned'
	merge -y --no-patch --beside >/dev/null
	is "$(cat project/a.txt project/a.txt.theirs project/src/b.txt project/both project/both.theirs project/mine)" \
		$'one\nhost\none\ncell\nhost\nhost\ncell\nonly'
	merge -y --no-patch --skip-conflicts >/dev/null
	is "$(cat project/both)" host
	# The directory is another one now.
	mv project moved
	mkdir project
	exits 5 merge -y
	is "$(ls -A project)" ''
}
check 'what the host changed meanwhile is not overwritten' conflicting

large() {
	copied 'head -c 3000000 /dev/urandom >big; echo s >small; for i in $(seq 300); do echo $i >n$i; done'
	exits 0 merge -y --no-patch --max-size 1M
	grep -q 'big: it is larger than --max-size allows' out || return 1
	[[ ! -e project/big && -e project/small && -e project/n300 ]]
}
# An endless archive ends the merge instead of the disk.
endless() {
	copied 'truncate -s 7E hole 2>/dev/null || truncate -s 900G hole; echo s >small'
	exits 2 timeout 300 "$VIV" merge -y --no-patch --max-size 1M c
	like "$(cat err)" '*too large*'
	[[ ! -e project/small && ! -e project/hole ]]
}

swapped() {
	# After the question, before the answer, a directory becomes a link.
	copied 'echo evil >src/b.txt; echo evil >src/new; rm -r empty; echo fine >a.txt'
	cat >ask.py <<-'EOS'
		import os, pty, sys, select
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "merge", "--no-patch", "c"])
		seen = b""
		while b"[y/N]" not in seen:
		    assert select.select([fd], [], [], 60)[0], seen
		    seen += os.read(fd, 65536)
		os.rename("project/src", "project/src.away")
		os.symlink("../outside", "project/src")
		os.write(fd, b"y\n")
		try:
		    while True:
		        some = os.read(fd, 65536)
		        if not some: break
		        seen += some
		except OSError:
		    pass
		print(seen.decode())
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOS
	exits 1 python3 ask.py "$VIV"
	grep -q 'a directory of its path is a link now' out
	is "$(ls outside; cat outside/kept)" $'kept\nkept'
	is "$(cat project/a.txt project/src.away/b.txt)" $'fine\ntwo'
}
check 'a directory that becomes a link meanwhile is no way out' swapped
check 'a file that is too large is left out' large
check 'an endless archive ends the merge' endless

wrong() {
	at_end clean
	mkdir -p project
	for o in 'project' 'project:' ':/x' 'project:rel' 'project:/' 'project:/a/../b' 'project:/a/./b'; do
		exits 2 "$VIV" create --name w --copy "$o"
	done
	exits 2 "$VIV" create --copy project:/work
	exits 3 "$VIV" create --name w --copy nothing:/work
	exits 3 "$VIV" inspect w
	exits 5 "$VIV" create --name w --copy project:/etc
	exits 3 "$VIV" merge w
	"$VIV" create --name w --copy project:/work --user agent >/dev/null
	echo x >project/x
	"$VIV" start w >/dev/null
	"$VIV" exec w sh -c 'echo mine >/work/y'
	merge_w=$("$VIV" merge -y --no-patch w </dev/null)
	like "$merge_w" '*1 written*'
	is "$(cat project/y)" mine
}
check 'wrong uses, and a copy for another user' wrong
