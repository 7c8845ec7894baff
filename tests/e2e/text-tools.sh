# find, xargs, grep, sed, awk, tar, gzip, diff, patch. shellcheck shell=bash

same 'find and xargs' bash <<'EOF'
mkdir -p a/b/c d; touch a/1.c a/b/2.c 'a/b/with space.h' d/.dot; ln -s ../a d/link; echo data >a/b/c/big; chmod 700 d
find . | sort; find . -name '*.c' -type f | sort; find -L . -name '*.c' | sort; find . -type d -empty; find . -size +0c -type f; find . -perm 700
find . -newer a/1.c -type f | wc -l | tr -d ' ' | grep -c '[0-9]'; find . -path ./a/b -prune -o -print | sort; find a -depth | tail -n 1; find . -maxdepth 1 -mindepth 1 -printf '%f %y\n' | sort
find . -name '*.c' -exec echo {} \; | sort; find . -name '*.[ch]' -exec printf '<%s>' {} + | tr '>' '\n' | sort; find . -regex '.*/[0-9]\.c' | sort; find . -xtype l; find . -inum "$(stat -c %i a/1.c)"
find . -name '*.h' -print0 | xargs -0 -n 1 echo; seq 100 | xargs -n 10 | wc -l; seq 20 | xargs -P 4 -I{} sh -c 'echo {}' | sort -n | md5sum; echo a b | xargs -t echo 2>&1; false | xargs -r echo; seq 3 | xargs sh -c 'exit 1'; echo $?
find . -delete 2>/dev/null; ls -A; find nowhere 2>/dev/null; echo $?
EOF

same 'grep, sed, awk' bash <<'EOF'
seq 1000 >n; printf 'Hello World\nfoo=bar\nbaz = 1\n# c\n' >t; mkdir r; cp t r/x; cp n r/y
grep -c 7 n; grep -n foo t; grep -i hello t; grep -v '^#' t; grep -rn foo . | sort; grep -lr 999 . | sort; grep -o 'b[a-z]*' t; grep -E '^(foo|baz)' t; grep -P '\d+(?=5$)' n | wc -l; grep -q none t; echo $?; grep -A1 -B1 foo t; grep -F . t; echo $?; grep x nowhere 2>/dev/null; echo $?; grep -w 100 n; printf 'a\0b\0' | grep -zc a; grep -f <(echo foo) t; grep --include='x' -r Hello . ; fgrep -x 'foo=bar' t 2>/dev/null
sed 's/o/0/g;2q' t; sed -n '2,3p;$=' t; sed '/^#/d' t; sed -E 's/(\w+) (\w+)/\2 \1/' t; sed -i.bak 's/foo/FOO/' t; cat t; ls t*; sed -n '/Hello/,/baz/{s/^/> /;p}' t; sed '1~100!d' n | wc -l; sed -e ':a' -e 'N;$!ba' -e 's/\n/,/g' t; sed 'y/abc/xyz/' t; sed '2i\inserted' t | head -n 3; sed -s -n '$p' t n; sed w/dev/stdout t | wc -l
awk '{ s += $1 } END { print s, NR }' n; awk -F= '/=/ { print $1 "|" $2 }' t; awk 'BEGIN { while (("echo cmd" | getline x) > 0) print x; print "piped" | "cat"; close("cat"); system("echo sys"); printf "%5.2f\n", 3.14159 }'; awk '{ c[length($0)]++ } END { for (i in c) print i, c[i] | "sort" }' n; awk 'NR % 250 == 0' n; awk '{ print > "out" NR % 3 }' n; wc -l out*; echo 'a b c' | awk '{ $2 = "X"; print; print toupper($0), substr($0, 3), index($0, "c"), split($0, p), gsub(/ /, "-") }'
EOF

same 'tar, gzip, bzip2, xz @r' bash <<'EOF'
exec 2>&1; umask 022
mkdir -p src/sub; for i in $(seq 50); do echo "file $i" >src/sub/$i; done; ln -s sub/1 src/link; ln src/sub/2 src/hard; truncate -s 1M src/sparse; mkfifo src/pipe; chmod 640 src/sub/3; touch -d @1234567890 src/sub/4
tar cf a.tar src; tar tf a.tar | sort | md5sum; mkdir x; tar xpf a.tar -C x; diff -r --no-dereference src x/src 2>&1 | grep -v fifo; stat -c %a x/src/sub/3; stat -c %Y x/src/sub/4; stat -c %h x/src/hard; readlink x/src/link
tar czf a.tgz src && tar tzf a.tgz | wc -l; tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - src/sub | md5sum; tar cSf s.tar src/sparse; [ "$(stat -c %s s.tar)" -lt 100000 ] && echo small; tar xOf a.tar src/sub/7; tar rf a.tar /dev/null; tar --delete -f a.tar src/sub/9 && tar tf a.tar | grep -c sub/9; tar xf nowhere.tar | head -n 1; tar c src | (mkdir y; cd y; tar x); ls y/src | wc -l
seq 100000 >n; for z in gzip bzip2 xz; do command -v $z >/dev/null || continue; $z -k n; $z -t n.* && $z -dc n.?z* | cmp - n && echo ok; rm n.*; done; gzip -9 <n | gunzip | md5sum; zcat <(gzip -c n) | head -n 1; gzip -l <(gzip -c n) | wc -l; echo junk | gunzip; echo $?; gzip n; ls n*; gunzip n.gz; ls n*; zgrep -c 5 <(gzip -c n)
EOF

same 'diff and patch' bash <<'EOF'
mkdir a b; seq 20 >a/f; sed '5d;10s/$/ changed/;$a new' a/f >b/f; echo only >b/new; echo gone >a/gone; cp a/f a/g; cp a/f b/g
export TZ=UTC; find . -exec touch -d @0 {} +
diff a/f b/f; diff -u a/f b/f; diff -rq a b; diff -ruN a b >p; wc -l <p; cp -r a c; patch -p1 -d c <p; diff -r b c && echo identical; patch -R -p1 -d c <p; diff -r a c && echo back
patch --dry-run -p1 -d c <p; sed -i s/10/ten/ c/f; patch -p1 -d c <p; echo $?; find c -name '*.rej' -o -name '*.orig' | sort; diff3 a/f a/f b/f | head -n 4; diff -y -W 40 a/f b/f | head -n 6; cmp a/f b/f; diff -c a/f b/f | sed 1,2d; sdiff -s a/f b/f; diff --brief a b; echo $?
EOF
