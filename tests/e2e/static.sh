# Static programs and those that make system calls by hand. shellcheck shell=bash

same 'musl: threads, posix_spawn, popen, signals @r' bash <<'EOF'
"$P/musl_all"; echo $?
file "$P/musl_all" 2>/dev/null | grep -o 'statically linked'; echo checked
EOF

same 'musl-gcc compiles in the cell' bash <<'EOF'
printf '#include <stdio.h>\nint main(void) { puts("musl"); return 0; }\n' >a.c
musl-gcc -static a.c -o a && ./a; musl-gcc a.c -o b && ./b
EOF

same 'raw clone with the flags of Go, raw vfork and execve @r' bash <<'EOF'
"$P/raw_clone"; echo $?
for i in 1 2 3 4 5 6 7 8 9 10; do "$P/raw_clone" | md5sum; done | sort -u | wc -l
EOF

same 'busybox: the shell and its applets @r' busybox sh <<'EOF'
b() { busybox "$@"; }
mkdir d; for i in $(b seq 10); do echo $i >d/f$i; done; b find d -type f | b sort | b head -n 3; b cat d/* | b sort -n | b tail -n 1; b tar cf t d; b tar tf t | b wc -l
b grep -l 7 d/*; b sed 's/1/one/' d/f1; b awk '{ s += $1 } END { print s }' d/*; b cp -r d e; b diff -r d e && echo same; b rm -r e; b gzip t; b gunzip t.gz; b md5sum d/f3; b expr 1 + 2; b stat -c %s d/f1; b du -a d | b wc -l
(sleep 0.1; echo bg) & wait; trap 'echo usr' USR1; kill -USR1 $$; echo a | (read x; echo "r $x"); b xargs -n 2 echo <<A
1 2 3
A
b sh -c 'exit 4'; echo $?; b timeout 1 b true 2>/dev/null; b usleep 1000; b dd if=/dev/zero bs=1k count=3 2>/dev/null | b wc -c; b vi --help >/dev/null 2>&1; b ls -l d/f1 | b cut -c 1-10; b env -i A=b env; b ps >/dev/null && echo ps; b nproc --ignore=99
EOF
