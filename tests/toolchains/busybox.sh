# Busybox: the applets of a small system, with its own shell. shellcheck shell=bash

tool_same "busybox's shell and applets" busybox busybox sh <<'END'
exec 2>&1; b() { busybox "$@"; }
for a in awk basename cat chmod cp cut date dd df diff dirname du echo env expr find grep gunzip gzip head id ln ls md5sum mkdir mkfifo mv nc od ps pwd rm sed seq sh sha256sum sleep sort stat tail tar tee test touch tr uniq vi wc wget xargs; do b --list | b grep -qx $a || echo "no $a"; done
b seq 20 >n; b awk '{ s += $1 } END { print s }' n; b sed -n '3p;$p' n; b grep -c 1 n; b sort -rn n | b head -n 3; b tr 1 x <n | b tail -n 2; b cut -c 1 n | b uniq -c | b wc -l; b md5sum n; b sha256sum n
b mkdir -p d/e; b cp n d/e/; b ln -s e d/l; b find d | b sort; b tar czf t.gz d; b tar tzf t.gz | b sort; b mkdir x; b tar xzf t.gz -C x; b diff -r d x/d && echo same; b stat -c '%s %a' n; b du -s d >/dev/null && echo du; b dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; b wc -c z
b mkfifo f; (b cat f | b wc -c) & b cat n >f; wait; b xargs -n 5 <n; b expr 6 \* 7; b printf '%05d\n' 42; b dirname /a/b; b basename /a/b.c .c; b od -c n | b head -n 1; b env -i A=1 busybox env; b test -d d && echo dir; b timeout 1 sleep 5; echo $?
b nohup true; b usleep 1000; b which sh; b readlink d/l; b truncate -s 10 z; b wc -c <z; b hexdump -C n | b tail -n 1; b cmp n d/e/n && echo cmp; b rm -r d x; b ls; b kill -l 9; trap 'echo trapped' USR1; b kill -USR1 $$; b id -u >/dev/null && echo id; b ps >/dev/null && echo ps; b free >/dev/null && echo free; b uname
END

inside 'busybox: httpd, wget and nc on loopback' busybox $'page\nfrom nc' <<'END'
mkdir www; echo page >www/index.html; busybox httpd -f -p 127.0.0.1:8070 -h www & p=$!
soon busybox wget -q -O - http://127.0.0.1:8070/; busybox wget -q -O - http://127.0.0.1:8070/; kill $p
(echo 'from nc' | busybox nc -l -p 8071) & p=$!
sleep 0.5; busybox nc 127.0.0.1 8071 </dev/null; wait $p
END
