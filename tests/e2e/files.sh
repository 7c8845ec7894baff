# Large and many files, and what fills up. shellcheck shell=bash

same 'a sparse file of 1 GiB @r' python3 <<'EOF'
import os
f = os.open('big', os.O_RDWR | os.O_CREAT); os.ftruncate(f, 1 << 30); os.pwrite(f, b'middle', 1 << 29); os.pwrite(f, b'end', (1 << 30) - 3)
s = os.stat('big'); print(s.st_size, s.st_blocks * 512 < 1 << 20, os.pread(f, 6, 1 << 29), os.pread(f, 10, (1 << 30) - 3), os.pread(f, 4, 12345))
print(os.lseek(f, 0, os.SEEK_DATA) == 1 << 29, os.lseek(f, 1 << 29, os.SEEK_HOLE) > 1 << 29); os.ftruncate(f, (1 << 29) + 3); print(os.pread(f, 10, 1 << 29)); os.unlink('big'); print(os.fstat(f).st_nlink, os.fstat(f).st_size)
EOF

same '20,000 files in a directory' python3 <<'EOF'
import os
os.mkdir('d'); os.chdir('d')
for i in range(20000): os.close(os.open(f'file-{i}', os.O_CREAT | os.O_WRONLY | os.O_EXCL))
l = os.listdir('.'); print(len(l), len(set(l)), sorted(l)[12345]); print(os.path.exists('file-19999'), os.path.exists('file-20000'))
for i in range(0, 20000, 3): os.unlink(f'file-{i}')
print(len(os.listdir('.'))); os.rename('file-1', 'file-0'); print(os.path.exists('file-0'))
seen = 0
with os.scandir('.') as it:
    for e in it: os.unlink(e.name); seen += 1
print(seen, os.listdir('.')); os.chdir('..'); os.rmdir('d'); print(os.listdir('.'))
EOF

same 'a deep tree, long names, many links @r' bash <<'EOF'
d=.; for i in $(seq 100); do d=$d/level$i; done; mkdir -p $d; echo deep >$d/f; find . | wc -l; cat $d/f; rm -r level1
n=$(printf 'x%.0s' $(seq 255)); touch $n && echo 255; touch ${n}x 2>/dev/null || echo too long; touch f; for i in $(seq 200); do ln f l$i; done; stat -c %h f; rm l*; stat -c %h f
touch $'new\nline' 'sp ace' -- -dash 'ünïcode' '*'; ls -b | sort; rm -- *; ln -s loop loop; cat loop 2>/dev/null || echo loop; ln -s $(printf '../%.0s' $(seq 100))etc/passwd up; head -c 4 up; echo
EOF

same 'writers side by side: append, locks, open-but-deleted @r' bash <<'EOF'
for p in 1 2 3 4; do (for i in $(seq 100); do echo "$p $i"; done >>log) & done; wait; wc -l <log; sort log | uniq | wc -l; awk '{ if ($2 <= last[$1]) print "order"; last[$1] = $2 }' log
echo 0 >n; for p in 1 2 3 4; do (for i in $(seq 25); do flock n.lock sh -c 'x=$(cat n); echo $((x + 1)) >n'; done) & done; wait; cat n
exec 5<>gone; rm gone; echo still >&5; cat /proc/self/fd/5; readlink /proc/self/fd/5 | grep -o '(deleted)'; exec 5>&-
seq 100000 >a; (until [ -s b ]; do sleep 0.02; done; mv b a) & seq 5 >b; wait; wc -l <a; cp /bin/ls ./ls; ./ls -d .; rm ls
head -c 20M /dev/zero | tr '\0' 'x' >big; md5sum big; split -b 3M big part.; cat part.* | cmp - big && echo whole
EOF

quota_bytes() {
	viv --tmpfs /q:size=8M -- sh -c '
		head -c 4M /dev/zero >/q/a && echo fits
		head -c 8M /dev/zero >/q/b 2>err || { sed "s/.*: //" err; }
		[ $(stat -c %s /q/b) -le 4194304 ] && echo cut
		rm /q/b && head -c 3M /dev/zero >/q/c && echo again
		df -B1 --output=size /q | tail -n 1 | tr -d " "' >out 2>err
	is "$(cat out)" $'fits\nNo space left on device\ncut\nagain\n8388608'
}
check 'a full tmpfs is ENOSPC, and usable again after a delete @r' quota_bytes

tmpfs_many() {
	is "$(viv --tmpfs /q:size=64M -- sh -c 'cd /q && mkdir a && echo x >a/f && mv a b && cat b/f && ln b/f g && stat -c %h g && df -T /q | tail -n 1 | awk "{ print \$2 }"')" $'x\n2\ntmpfs'
}
check 'a tmpfs holds files, and is one of its own' tmpfs_many

clean_slate() {
	viv -- sh -c 'echo x >/tmp/left; echo y >/etc/left; rm -r /usr/share/doc; rm /bin/ls' >out 2>&1
	exits 0 viv -- sh -c '[ ! -e /tmp/left ] && [ ! -e /etc/left ] && [ -x /bin/ls ] && [ -d /usr/share ]'
	[[ ! -e /etc/left && -x /bin/ls ]]
}
check 'the image is never changed; the next cell is clean @r' clean_slate

# The largest file of the image that is easy to find: its copy is made in pieces, while others open it too.
large_copy_up() {
	is "$(viv --timeout 60s -- python3 -c '
import os, hashlib
best = max((os.path.join(d, f) for d in ("/usr/bin", "/usr/lib/x86_64-linux-gnu") for f in os.listdir(d)
            if os.path.isfile(os.path.join(d, f)) and not os.path.islink(os.path.join(d, f))), key=os.path.getsize)
def digest(n): return hashlib.sha256(open(best, "rb").read(n)).hexdigest()
size = os.path.getsize(best)
before = digest(size - 8)
pids = []
for i in range(8):
    pid = os.fork()
    if pid == 0:
        fd = os.open(best, os.O_RDWR)
        os.pwrite(fd, bytes([65 + i]), size - 8 + i)
        os._exit(0)
    pids.append(pid)
os.kill(pids[5], 9)
os.kill(pids[6], 9)
for p in pids: os.waitpid(p, 0)
print(digest(size - 8) == before, os.path.getsize(best) == size, open(best, "rb").read()[-8:-3])
with open(best, "r+b") as f: f.truncate(10 << 20)
print(os.path.getsize(best), digest(10 << 20) == hashlib.sha256(open(best, "rb").read()).hexdigest())')" $'True True b\'ABCDE\'\n10485760 True'
}
check 'a large file of the image is changed by several' large_copy_up
