# S3 mounts, against a server on the host's loopback. shellcheck shell=bash

S3RVER=s3rver@3.7.1
server=

s3_start() { # port in $port, data in $data
	port=$(free_port)
	data=$scratch/s3-data
	mkdir -p "$data"
	node "$TOOLCHAINS_CACHE/s3rver/node_modules/s3rver/bin/s3rver.js" -s -d "$data" -p "$port" --configure-bucket b1 >"$scratch/s3.log" 2>&1 &
	server=$!
	soon curl -s -o /dev/null "http://127.0.0.1:$port/"
}
s3_stop() { [[ -z $server ]] || kill "$server" 2>/dev/null; server=; }
s3() { # options and command of viv run
	AWS_ACCESS_KEY_ID=${who:-S3RVER} AWS_SECRET_ACCESS_KEY=S3RVER viv --s3-endpoint "http://127.0.0.1:$port" "$@"
}

files() {
	is "$(s3 --mount s3://b1/p:/s -- sh -c 'echo hi >/s/a; cat /s/a; mkdir /s/d; cp /etc/passwd /s/d/p; mv /s/a /s/d/b; rm /s/d/p; ls -R /s; echo 1 >/s/x; echo 2 >>/s/x; rmdir /s/d 2>/dev/null || echo not empty')" \
		$'hi\n/s:\nd\n\n/s/d:\nb\nnot empty'
	is "$(s3 --mount s3://b1/p:/s -- sh -c 'cat /s/d/b /s/x; rm /s/d/b; ls /s; rmdir /s/d; rm /s/x; ls /s')" $'hi\n1\n2\nd\nx' 'the next cell'
}
large() {
	local sum
	sum=$(s3 --mount s3://b1:/s -- sh -ec 'head -c 41943040 /dev/urandom >/tmp/b; cp /tmp/b /s/b; sha256sum </tmp/b')
	like "$sum" '????????????????????????????????????????????????????????????????  -' 'a sum'
	is "$(s3 --mount s3://b1:/s -- sh -c 'sha256sum </s/b')" "$sum" 'multipart, and back'
	is "$(s3 --mount s3://b1:/s -- python3 -c '
import mmap
f = open("/s/b", "rb"); f.seek(30000000); a = f.read(1000)
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); print(m[30000000:30001000] == a, len(m))')" 'True 41943040'
}
many() {
	# shellcheck disable=SC2016
	is "$(s3 --mount s3://b1:/s -- bash -c 'mkdir /s/m; for i in {1..500}; do echo $i >/s/m/$i; done; ls /s/m | wc -l')" 500
	is "$(s3 --mount s3://b1:/s -- bash -c 'ls /s/m | wc -l; cat /s/m/377; rm -r /s/m; ls -d /s/m 2>/dev/null')" $'500\n377'
}
refused() {
	s3 --mount s3://b1:/s -- sh -c 'echo x >/s/ro'
	is "$(s3 --mount s3://b1:/s:ro -- sh -c 'cat /s/ro; for c in "echo y >/s/ro" "rm /s/ro" "mkdir /s/n" "mv /s/ro /s/q" "touch /s/n"; do (eval "$c") 2>/dev/null && echo worked: $c; done; cat /s/ro')" $'x\nx'
	# This server knows the names of keys, and does not look at signatures (tests/unit/test_s3sign.c does).
	who=NOBODY try s3 --mount s3://b1:/s -- sh -c 'cat /s/ro'
	like "$(cat err)" '*Permission denied*' 'wrong credentials'
	is "$(s3 --mount s3://b1:/s -- sh -c 'env; cat /proc/*/environ; cat /proc/mounts' | grep -a -c S3RVER)" 0 'the secret in the cell'
}
# What can be fetched again goes; a deleted file that is open cannot.
dropped() {
	exits 0 s3 --mount s3://b1:/s -- bash -ec 'seq 1 200000 >/s/d; seq 5 >/s/e; sync; want=$(cksum </s/d)
		exec 3</s/d 4</s/e; cat <&3 >/dev/null; cat <&4 >/dev/null; rm /s/e
		echo 3 >/proc/sys/vm/drop_caches
		[[ $(cksum </dev/fd/3) == "$want" ]]; [[ $(cksum </s/d) == "$want" ]]
		python3 -c "import os; print(os.pread(4, 99, 0).decode().split())"; rm /s/d'
	is "$(cat out)" "['1', '2', '3', '4', '5']"
}
# One process that makes the same calls so often that they are posted: each change is made once.
posted() {
	exits 0 s3 --fast eager --mount s3://b1:/s -- python3 -c 'import os
os.chdir("/s")
for i in range(12):
	os.mkdir("p")
	fd = os.open("p/a", os.O_RDWR | os.O_CREAT | os.O_EXCL)
	os.write(fd, b"%d" % i)
	os.close(fd)
	os.rename("p/a", "p/b")
	fd = os.open("p/b", os.O_RDONLY)
	assert os.read(fd, 9) == b"%d" % i
	os.close(fd)
	assert os.listdir("p") == ["b"]
	os.unlink("p/b")
	os.rmdir("p")'
}
killed() {
	s3 --mount s3://b1:/s -- sh -c 'echo 1 >/s/k; sleep 2.5; cat /s/k; echo done' >out 2>err &
	local p=$!
	sleep 1.5
	s3_stop
	wait "$p"
	like "$(cat out)" '*done' 'the cell went on'
	like "$(cat err)" '*cat:*' 'an error, no hang'
}

if why=$(missing 'node npm curl'); then
	lack 'S3 mounts' "$why"
elif ! fetched "$TOOLCHAINS_CACHE/s3rver" "$S3RVER"; then
	# shellcheck disable=SC2154
	skip 'S3 mounts' "$why"
else
	s3_start
	check 's3: files, directories, rename, append' files
	check 's3: 40 MiB in parts, ranges, mmap' large
	check 's3: 500 files' many
	check 's3: read-only, wrong credentials, the secret' refused
	check 's3: caches are emptied' dropped
	check 's3: calls that could be posted' posted
	check 's3: the server goes away' killed
	s3_stop
fi
