# bash and dash: what scripts do. shellcheck shell=bash

same 'bash: pipelines and their statuses @r' bash <<'EOF'
seq 1 1000 | grep 7 | sort -rn | head -n 5 | tr '\n' ' '; echo
false | true; echo "$? ${PIPESTATUS[*]}"
set -o pipefail; false | true; echo $?; set +o pipefail
yes | head -n 3; echo "${PIPESTATUS[*]}"
printf '%s\n' a b c | while read -r x; do echo "<$x>"; done
echo x | { read -r y; echo "y=$y"; cat; }
seq 100000 | wc -c
! true; echo $?
EOF

same 'bash: here-documents and here-strings @r' bash <<'EOF'
x=value
cat <<A; cat <<'B'; cat <<-C
$x $(echo sub) `echo back`
A
$x $(not run)
B
	tabs gone
C
cat <<<"here $x"
while read -r l; do echo "[$l]"; done <<< $'one\ntwo'
cat <(echo p1) <(echo p2)
diff <(seq 3) <(seq 4); echo $?
big=$(seq 50000); wc -c <<<"$big"; md5sum <<<"$big"
f() { cat; } <<< 'attached'; f
EOF

same 'bash: background jobs and wait @r' bash <<'EOF'
(sleep 0.05; exit 3) & a=$!
(exit 4) & b=$!
wait $a; echo "a $?"; wait $b; echo "b $?"
for i in 1 2 3 4 5; do (sleep 0.0$i; exit $i) & done
s=0; for i in 1 2 3 4 5; do wait -n; s=$((s + $?)); done; echo "sum $s"
wait 99999 2>/dev/null; echo $?
sleep 100 & kill $!; wait $!; echo "killed $?"
sleep 100 & kill -9 $!; wait $! 2>/dev/null; echo "killed $?"
jobs | wc -l
for i in $(seq 40); do echo $i >out.$i & done; wait; cat out.* | sort -n | md5sum
coproc C { while read -r l; do echo "co:$l"; done; }
echo hello >&"${C[1]}"; read -r r <&"${C[0]}"; echo "$r"
EOF

same 'bash: traps @r' bash <<'EOF'
trap 'echo usr1' USR1; trap 'echo term' TERM; trap 'echo bye' EXIT
kill -USR1 $$; kill -TERM $$
(trap 'echo sub-exit' EXIT; exit 3); echo $?
trap '' HUP; kill -HUP $$; echo ignored
bash -c 'trap "echo got int; exit 7" INT; kill -INT $$; sleep 1'; echo $?
trap 'echo err at $LINENO' ERR; false; trap - ERR
trap 'echo chld' CHLD; /bin/true; trap - CHLD
bash -c 'kill -TERM $$'; echo $?
bash -c 'trap "" TERM; kill -TERM $$; bash -c "kill -TERM \$\$; echo inherited"'
# A trap runs while wait is waiting, and wait says so.
sleep 20 & (sleep 1; kill -USR1 $$) & wait %1; echo "wait $?"
{ kill %1; wait; } 2>/dev/null
bash -c 'trap "echo debug" DEBUG; :; trap - DEBUG; trap -p'
EOF

same 'bash: redirections and descriptors @r' bash <<'EOF'
exec 2>&1
echo out >f; echo more >>f; cat f; cat <f >g; cmp f g && echo same
ls nowhere 2>err || echo "rc $?"; wc -l <err
exec 5>five; echo to five >&5; exec 5>&-; cat five; echo x >&5
exec 6<>rw; echo abc >&6; exec 6>&-; cat rw
{ echo o; echo e >&2; } >oe 2>&1; cat oe
exec 7<f; read -r l <&7; echo "$l"; read -r l <&7; echo "$l"; read -r l <&7; echo $?
set -C; echo no >f; echo $?; set +C
echo a >| f; cat f
ls /dev/fd/ >/dev/null && echo devfd
echo x > /dev/full; echo $?
cat </dev/null; echo stdin $?
(umask 077; >private; stat -c %a private)
ulimit -n 20; for i in $(seq 10 30); do eval "exec $i<f" || break; done; echo $i
EOF

same 'bash: expansions, arithmetic, globs @r' bash <<'EOF'
mkdir -p d/e; touch a.c b.c c.h d/x.c d/e/y.c .hidden 'sp ace'
echo *.c; echo *; shopt -s globstar dotglob; echo **/*.c; echo *
a=(one 'two 2' three); echo "${#a[@]} ${a[1]} ${a[@]:1}"; declare -A m=([k]=v); echo "${m[k]}"
s=hello.tar.gz; echo "${s%.*} ${s%%.*} ${s#*.} ${s^^} ${s/l/L} ${#s} ${s:1:3}"
echo $((2**40 % 7)) $((0x10 + 010)) "$((10#09))"; [[ $s =~ ^h(.*)\.gz$ ]] && echo "${BASH_REMATCH[1]}"
f() { local n=$1; ((n <= 1)) && echo 1 || echo $((n * $(f $((n - 1))))); }; f 10
printf '%05d|%-5s|%q|%x\n' 42 ab 'a b' 255; printf -v v '%(%Y)T' 0; echo "$v"
case $s in *.zip) echo zip ;; *.gz) echo gz ;; esac
select x in a b; do echo "$x"; break; done <<< 2 2>/dev/null
getopts ab: o -b val && echo "$o $OPTARG"
mapfile -t lines < <(seq 5); echo "${lines[@]}"
for ((i = 0; i < 3; i++)); do printf '%s ' $i; done; echo {a..e}{1..2}; echo ~+ | grep -c /
echo "$BASH_SUBSHELL $(echo $BASH_SUBSHELL)"; x=5 bash -c 'echo $x'; echo "${x-unset}"
[ a.c -ef ./a.c ] && echo same; [[ -d d && -f a.c && ! -e none && -s . ]] && echo tests
EOF

same 'dash: a script of everything' dash <<'EOF'
set -eu
trap 'echo exit' EXIT
f() { echo "f $# $*"; return 3; }
f a 'b c' || echo "rc $?"
i=0; while [ $i -lt 5 ]; do i=$((i + 1)); [ $i = 3 ] && continue; echo $i; done
cat <<A | tr a-z A-Z
line $i
A
x=$(echo hi | sed s/h/H/); echo "$x"
sleep 0.05 & p=$!; wait $p; echo "wait $?"
(exit 9) || echo $?
for f in 1 2 3; do echo $f > file$f; done; cat file?; rm file*
sh -c 'kill -TERM $$' || echo $?
trap 'echo usr1' USR1; kill -USR1 $$
{ echo a; echo b >&2; } 2>&1 | sort
command -v cat; type cd; umask 022; umask; ulimit -c 0
eval 'y=1'; export y; sh -c 'echo $y'; unset y; echo "${y:-none}"
printf '%s-%d\n' a 1 b 2; read -r l <<B
in put
B
echo "$l"; set -- 1 2 3; shift; echo "$1 $#"; exec 3>&1; echo via3 >&3
EOF

same 'exec of scripts with an interpreter line @r' bash <<'EOF'
put() { cat >"$1"; chmod +x "$1"; }
put a <<<$'#!/bin/sh\necho "a: $# $1 ${0##*/}"'; ./a x
put b <<<$'#!/usr/bin/env bash\necho "b: $BASH" | sed s:/.*/::'; ./b
put c <<<$'#!/bin/bash -e\nfalse\necho never'; ./c; echo $?
put d <<<$'#!./a one two\n'; ./d three
put e <<<$'#!/usr/bin/awk -f\nBEGIN { print "awk", 1 + 1 }'; ./e
put f <<<$'#!/nowhere/at/all\n'; ./f 2>/dev/null; echo $?
put g <<<'echo "g: no line at all"'; ./g
put h <<<$'#!/usr/bin/python3\nimport sys; print("py", sys.argv[1:])'; ./h 1 2
put i <<<$'#! /bin/sh  \necho spaces'; ./i
touch j; ./j 2>/dev/null; echo $?; chmod +x j; ./j; echo $?
mkdir k; ./k 2>/dev/null; echo $?; nosuch 2>/dev/null; echo $?
PATH=$PWD:$PATH; a path
EOF

same 'a process group is signalled as a whole @r' bash <<'EOF'
set -m
(trap 'echo one' TERM; sleep 20 & : >up; wait) & a=$!
until [ -e up ]; do sleep 0.02; done; sleep 1; kill -TERM -$a; wait $a; echo $?
sleep 10 | sleep 10 & b=$!
sleep 0.1; kill -KILL %%; wait $b; echo $?
until_one() { for i in {1..400}; do [ "$(jobs $1 | wc -l)" = 1 ] && break; sleep 0.05; done; jobs $1 | wc -l; }
sleep 30 & kill -STOP $!; until_one -s; kill -CONT $!; until_one -r; kill $!
EOF

same 'a thousand short processes' bash <<'EOF'
n=0; for i in $(seq 500); do x=$(echo $i); n=$((n + x)); done; echo $n
for i in $(seq 500); do /bin/true || echo bad; done; echo done
EOF
