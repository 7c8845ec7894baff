# coreutils on files, against the host's own results. shellcheck shell=bash

same 'cp mv rm ln install mkdir rmdir touch truncate @r' bash <<'EOF'
set -e
umask 022
mkdir -p a/b/c; echo one >a/f; ln -s f a/l; ln a/f a/h; mkfifo a/p; truncate -s 100k a/sparse
touch -d '2020-02-03 04:05:06 UTC' a/f a/b
cp -a a copy; cp -r --no-dereference a plain; cp -u a/f copy/f; cp -l a/f hard; cp -s "$PWD/a/f" sym
show() { find "$@" -printf '%p %y %m %n %s %l %TY%Tm%Td\n' | grep -v ' d ' | sort; }
show a copy | sed 's/20[0-9]*$/Y/;s/^\([^ ]* p.*\) .*/\1/'; stat -c '%n %Y' copy/f copy/b
stat -c '%i' a/f a/h hard | uniq | wc -l
mv a/f a/g; mv -n a/g a/h; ls a; mv a/b moved; mv moved a/; mv -T a other; ls other
rm other/l; rm -r copy plain; rmdir other/moved/c other/moved; ls
install -m 750 -D other/h deep/er/bin; stat -c %a deep/er/bin
mkdir -m 700 priv; stat -c %a priv; rmdir -p deep/er 2>/dev/null || echo not empty
echo 1 >x; echo 2 >y; cp -b x y; ls y*; mv --backup=numbered x y; ls y*
cp x-none . 2>/dev/null || echo $?; rm -f none; rm none 2>/dev/null || echo $?
link y z; unlink y; cat z; readlink sym | sed 's:.*/::'; cp -r . ./sub 2>/dev/null || echo into itself
rm -rf -- * && ls -A | wc -l
EOF

same 'ls and stat: formats, times, modes @r' bash <<'EOF'
mkdir d; touch -d @1000000000.123456789 f; chmod 4755 f; touch -d @1 d/old; ln -s f l; ln -s none broken; mkfifo p
export TZ=UTC
chmod 1777 d; ls -l --time-style=full-iso -o -g f d/old; ls -l l p | awk '{ print $1, $2, $5, $9, $10, $11 }' | sed 's/ [0-9]* / /'
ls -1F; ls -R; ls -ad . .. ; ls -S; ls -t d f | head -n 1; ls --color=always -d d | od -c | head -n 2
stat -c '%n %a %A %F %s %h %Y %y %N' f d/old; stat -c '%n %a %A %F %s %h %N' l broken; stat -L -c %F l; stat -f -c '%n' .
touch -r f g; stat -c %.9Y g; touch -a -d @5 g; stat -c '%X %Y' g; chmod u=rw,g+w,o-r g; stat -c %a g
chmod -R a+X,go-w .; stat -c '%a %n' f d g; dir; vdir -d d | cut -c 1-10
[ -u f ] && [ -k d ] && [ -L l ] && [ -p p ] && [ ! -e broken ] && [ f -nt d/old ] && echo tests
EOF

same 'text: cat tac nl head tail wc sort uniq cut paste join comm tr' bash <<'EOF'
seq 1 20 >n; printf 'b 2\na 1\nc 3\na 1\n' >p; printf 'a x\nb y\nd z\n' >q
cat -A p; cat n p | wc; tac n | head -n 3; nl -ba p; head -c 10 n; tail -n 3 n; tail -c +40 n; head -n -15 n; tail -n +18 n
sort p; sort -u p; sort -k2,2nr p; sort -R n | sort -n | cmp - n && echo ok; uniq -c p; sort p | uniq -d
cut -d' ' -f2 p; cut -c1-2 n | tail -n 1; paste n n | head -n 2; paste -sd+ n; sort p | uniq | join - q; comm -12 <(sort -u p | cut -c1) <(cut -c1 q)
tr a-z A-Z <p; tr -d ' ' <p; tr -s 'a' <<<'baaad'; wc -lwc n; fold -w 5 <<<abcdefghijkl; fmt -w 20 <<<'several words that are filled to lines'
expand <<<$'a\tb'; unexpand -a <<<'a               b'; pr -h T -l 12 n | grep -c .; rev <<<abc 2>/dev/null || echo cba
split -l 7 n s.; ls s.*; csplit -s n 10; ls xx*; cat xx* | cmp - n; seq -s, 5; seq -w 8 11; shuf -i 1-10 | sort -n | tail -n 1
factor 360 97; numfmt --to=iec 1048576; expr 3 + 4 \* 2; expr abc : 'a\(.*\)'; tsort <<<$'a b\nb c'; ptx -G <<<'one two' | wc -l
sort --parallel=2 -S 1M <(seq 200000 | tac) | md5sum; od -An -tx1 <<<hello; od -c n | head -n 2
EOF

same 'sums, encodings, dd, tee, truncate, shred' bash <<'EOF'
seq 100000 >n
md5sum n; sha1sum n; sha224sum n; sha256sum n; sha384sum n; sha512sum n; b2sum n; cksum n; sum n
sha256sum n >s; sha256sum -c s; echo bad >>n; sha256sum -c s 2>/dev/null; echo $?
base64 <n | md5sum; base32 <<<hi; base64 <n | base64 -d | cmp - n && echo same; basenc --base16 <<<hi
dd if=/dev/zero of=z bs=64k count=10 status=none; stat -c '%s' z; dd if=n of=part bs=1 skip=5 count=10 status=none; cat part
dd if=n bs=100 count=3 seek=2 of=z conv=notrunc status=none; md5sum z; dd if=n bs=1k conv=ucase,swab status=none | md5sum
dd if=/dev/zero of=hole bs=1 count=1 seek=10M status=none; stat -c %s hole; du -k hole | awk '{ print ($1 < 1024) ? "sparse" : "full" }'
echo t | tee a b >c; cat a b c; echo u | tee -a a >/dev/null; cat a
truncate -s 5 n; cat n; truncate -s +3 n; od -c n; truncate -s 1G huge; stat -c %s huge; rm huge; fallocate -l 1M fa 2>/dev/null; stat -c %s fa
shred -n 1 -u part; ls part 2>/dev/null || echo shredded; sync n; sync; cp --sparse=always z z2; cmp z z2 && echo equal
head -c 1000 /dev/urandom | wc -c; cmp n z; cmp -s n n && echo cmp
EOF

same 'names, processes and the rest of coreutils @r' bash <<'EOF'
exec 2>/dev/null
basename /a/b.c .c; dirname /a/b.c; mkdir -p r/s; ln -s s r/l; (cd r/l; pwd -P | sed 's:.*/::'); realpath --relative-to=. r/l; readlink -f r/l | sed 's:.*/::'
pathchk -p 'bad name?'; echo $?; pathchk ok; echo $?; f=$(mktemp); [ -f "$f" ] && stat -c '%a %s' "$f"; rm "$f"; mktemp -d -p . | wc -c; mktemp -u nothere.XXX | wc -c
date -u -d @86400 +%F; date -u -d '2000-02-28 + 2 days' +%a; TZ=Asia/Tokyo date -d @0 +%H; env -i A=1 env; printenv HOME >/dev/null && echo home
timeout 0.1 sleep 50; echo $?; timeout -s KILL 0.1 sleep 50; echo $?; timeout 50 true; echo $?; timeout --preserve-status 3 sh -c 'trap "exit 9" TERM; sleep 50 & wait'; echo $?
nice -n 5 nice; nohup echo hup; stdbuf -oL echo buf; sleep 0.01; true; echo $?; false; echo $?; test 1 -lt 2; echo $?; [ a = b ]; echo $?; yes y | head -n 2
echo -e 'a\tb'; printf '%b' 'x\n'; tty; stty -a; echo $?; kill -l 15; nproc --ignore=100; arch; uname -s; uname -m; users | wc -c; hostid | wc -c
mkfifo ff; cat ff & echo through >ff; wait; dircolors -b | head -c 9; echo; du -s --apparent-size -B1 r/l; df . | wc -l; chcon x; echo $?
tail -n 1 -f --pid=$$ /dev/null & t=$!; kill $t; wait $t; echo $?; (sleep 0.2; echo late >>grow) & touch grow; timeout 50 tail -f grow | head -n 1
sleep 0.3; seq 5 | split -n l/2 --filter='wc -l'; echo "$(< /dev/null)"; cat /dev/null | wc -c; id -u >/dev/null; echo $?; [ -t 0 ]; echo $?
EOF

same 'chown chgrp, owners @root' bash <<'EOF'
touch f; ln -s f l; chown 12:34 f; stat -c '%u %g' f; chown 5 f; chgrp 6 f; stat -c '%u %g' f; chown -h 7:8 l; stat -c '%u %g' l f
chmod 6755 f; chown 9 f; stat -c %a f; mkdir d; chmod g+s d; chgrp 50 d; touch d/n; stat -c '%g' d/n; mkdir d/s; stat -c '%g %a' d/s
chown -R 1:1 d; find d -printf '%U %G %p\n' | sort; chown --reference=d f; stat -c %u f; id -u; id -g; whoami; install -o 3 -g 4 f g; stat -c '%u %g' g
mknod n p; stat -c %F n; setpriv --reuid 1000 --regid 1000 --clear-groups sh -c 'id -u; echo x >d/no || echo denied; cat f >/dev/null && echo readable' 2>/dev/null
chroot / /bin/echo chrooted
EOF
