# viv image: import, export, names, collection, damage, and archives that nobody should trust. shellcheck shell=bash

image() { timeout -k 5 "${LIMIT:-180}" "$VIV" image "$@"; }
here_is_the_store() { # a store and a vivd of one's own, in the directory of the test
	own_vivd
	store=$XDG_DATA_HOME/vivarium
}
# What is left after a failure: no work, no image, and no tag.
store_is_empty() {
	is "$(ls -A "$store/tmp" 2>/dev/null)" '' 'work in progress'
	is "$(ls -A "$store/images" 2>/dev/null)" '' 'images'
	is "$(ls -A "$store/tags" 2>/dev/null)" '' 'tags'
}
# vivd's part of an import whose client gave up: it may begin and end after that. The first question is answered when vivd has at least
# accepted the connection of that client, the next ones when it has read the request.
import_is_over() {
	api /v1/version >/dev/null
	no_jobs() { api /metrics | grep -qx 'vivarium_jobs 0'; }
	soon no_jobs
}
# A listing of all that an image has to keep.
listing() { # directory
	(cd "$1" && find . -printf '%p %y %m %U:%G %n %l %s\n' | sed -E '/ d /s/ [0-9]+ *[0-9]*$//' | LC_ALL=C sort)
	(cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
}

refused() { # archive, glob of the message
	exits 1 image import -q -t bad "$1"
	is "$(cat out)" '' "output for $1"
	is "$(wc -l <err)" 1 "lines for $1"
	like "$(cat err)" "viv: cannot import '*$1': $2" "message for $1"
	! grep -q '[[:cntrl:]]' err || { echo "control characters in the message for $1"; return 1; }
	store_is_empty
	is "$(find "$store/objects" -type f 2>/dev/null)" '' "objects after $1"
}

same_hash() {
	here_is_the_store
	python3 "$E2E_DIR/archives.py" --tree tree
	exits 0 image import tree
	hash=$(tail -n 1 out)
	like "$hash" '????????????????????????????????????????????????????????????????'
	tar -C tree -cf gnu.tar .
	tar -C tree --format=pax -cf pax.tar .
	(cd tree && find . -print0 | LC_ALL=C sort -z -r | tar --null --no-recursion --format=ustar -T - -cf ../reverse.tar)
	gzip -k gnu.tar
	xz -k gnu.tar
	zstd -q gnu.tar
	bzip2 -k gnu.tar
	for f in gnu.tar pax.tar reverse.tar gnu.tar.gz gnu.tar.xz gnu.tar.zst gnu.tar.bz2; do
		is "$(image import -q "$f")" "$hash" "$f"
		is "$(image import -q - <"$f")" "$hash" "$f by a pipe"
	done
	# Times do not count, contents and modes do.
	find tree -exec touch -h -d 2001-02-03 {} +
	is "$(image import -q tree)" "$hash" 'other times'
	chmod 640 tree/etc/two
	[[ $(image import -q tree) != "$hash" ]]
	chmod 644 tree/etc/two
	printf x >>tree/etc/two
	[[ $(image import -q tree) != "$hash" ]]
}
check 'import: the same files give the same hash, from a directory or any archive @r' same_hash

round_trip() {
	here_is_the_store
	python3 "$E2E_DIR/archives.py" --tree tree
	if [[ $(id -u) == 0 ]]; then
		mknod tree/null c 1 3
		chown -h 123:456 tree/etc/link tree/etc/one
		chmod 4755 tree/bin/tool
	fi
	python3 -c 'import os; os.setxattr("tree/etc/one", "user.note", b"hello")' || true
	image import -q --tag t tree
	image export t -o a.tar
	image export t >b.tar
	cmp a.tar b.tar
	mkdir back
	tar -C back --xattrs -xpf a.tar
	listing tree >want
	listing back >got
	diff want got
	is "$(image import -q a.tar)" "$(image ls -q)" 'the archive gives the image again'
	image export t --format oci -o layout
	image export t --format oci-archive -o oci.tar
	image export t --format oci-archive | cmp - oci.tar
	tar --one-top-level=unpacked -xf oci.tar
	is "$(diff -r layout unpacked)" 'Only in unpacked: manifest.json'
	is "$(cd unpacked/blobs/sha256 && sha256sum -- * | awk '$1 != $2')" '' 'blobs have their digests as names'
	for f in oci docker auto; do is "$(image import -q --format $f oci.tar)" "$(image import -q layout)" "--format $f"; done
	image export t --format oci-archive -o oci.tar.gz
	gunzip <oci.tar.gz | cmp - oci.tar
	image rm "$(image import -q layout)"
	for f in c.tar.gz c.tar.xz c.tar.zst; do
		image export t -o "$f"
		is "$(image import -q "$f")" "$(image ls -q)" "$f"
	done
	# A file that was sparse is sparse in the store.
	object=$(find "$store/objects" -size +1M -printf '%s %b\n' | awk '$1 == 8388608 { print $2 }')
	((object < 1000)) || { echo "a sparse file takes $object blocks"; return 1; }
}
check 'export: what comes out is what went in, byte for byte the same each time @r' round_trip

# What is not whole does not get the name that it was to have, nor the place of what had it.
export_fails() {
	here_is_the_store
	mkdir t
	head -c 20000000 /dev/urandom >t/f
	image import -q -t t t
	exits 1 image export t -o /dev/full
	is "$(cat err)" 'viv: cannot write the archive: No space left on device'
	exits 1 image export t -o nosuch/x.tar
	exits 2 image export t --format oci -o -
	mkdir to
	echo old >to/x.tar
	chmod 600 to/x.tar
	for f in tar oci oci-archive; do
		(ulimit -f 500 && exits 1 image export t --format $f -o to/new)
		like "$(cat err)" 'viv: cannot write the *: File too large'
		is "$(ls -A to)" x.tar "after $f"
	done
	(ulimit -f 500 && exits 1 image export t -o to/x.tar)
	is "$(cat to/x.tar) $(ls -A to)" 'old x.tar'
	ln -s x.tar to/link
	image export t -o to/link
	is "$(stat -c '%a %F' to/x.tar to/link | tr '\n' ' ')" '600 regular file 777 symbolic link '
	is "$(image import -q to/x.tar)" "$(image ls -q)"
	(umask 027 && image export t -o to/new.tar && image export t --format oci -o to/oci)
	is "$(stat -c %a to/new.tar to/oci to/oci/index.json | tr '\n' ' ')" '640 750 640 '
	mkfifo pipe
	image export t -o pipe &
	is "$(image import -q - <pipe)" "$(image ls -q)" 'a pipe by its name'
	wait $!
	# Stopped in the middle.
	started() { compgen -G 'to/slow.tar.xz.partial-*' >/dev/null; }
	"$VIV" image export t -o to/slow.tar.xz 2>err &
	export=$!
	soon started
	kill -TERM "$export"
	status=0
	wait "$export" || status=$?
	is "$status" 143
	is "$(ls -A to | tr '\n' ' ')" 'link new.tar oci x.tar '
}
check 'export: one that fails leaves nothing, and what was there @r' export_fails

capabilities() {
	here_is_the_store
	mkdir tree
	cp /bin/true tree/ping
	python3 -c 'import os; os.setxattr("tree/ping", "security.capability", b"\1\0\0\2\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0\0")'
	python3 -c 'import os; os.setxattr("tree/ping", "user.note", b"hello")'
	image import -q -t t tree
	image export t | tar --xattrs --xattrs-include='*' -xpf - --one-top-level=back
	is "$(python3 -c 'import os; print(os.getxattr("back/ping", "user.note"), os.getxattr("back/ping", "security.capability").hex())')" \
		"b'hello' 0100000200200000000000000000000000000000"
	[[ $(image import -q -t plain <(tar -C tree -c .)) != "$(image ls -q)" ]]
}
check 'import: attributes and capabilities @root' capabilities

pyc() {
	here_is_the_store
	mkdir -p tree/lib
	echo 'x = 1' >tree/lib/fresh.py
	echo 'x = 2' >tree/lib/stale.py
	python3 -m compileall -q tree/lib
	touch -d '2003-03-03' tree/lib/stale.py
	image import -q -t t tree
	mkdir back
	image export t | tar -C back -xf -
	header() { od -An -tu4 -j8 -N4 back/lib/__pycache__/"$1".*.pyc | tr -d ' '; }
	is "$(header fresh)" 315619200 'time in a .pyc that fits its source'
	is "$(header stale)" 0 'time in one that did not'
	is "$(stat -c %Y back/lib/fresh.py)" 315619200
	is "$(image export t | image import -q -)" "$(image inspect t | awk '/^hash/ { print $2 }')" 'what did not fit does not fit the next time either'
}
check 'import: Python finds its compiled files valid, stale ones not' pyc

names() {
	here_is_the_store
	mkdir one two three
	echo 1 >one/f
	echo 2 >two/f
	one=$(image import -q one) two=$(image import -q -t app:1.0 two)
	exits 0 image tag "${one:0:6}" my/app
	exits 0 image tag "$one" other
	is "$(image inspect --json my/app | python3 -c 'import json,sys; d = json.load(sys.stdin); print(d["hash"], d["tags"], d["files"], d["size"])')" \
		"$one ['my/app', 'other'] 1 2"
	is "$(image ls --json | python3 -c 'import json,sys; print(sorted((i["hash"], tuple(i["tags"])) for i in map(json.loads, sys.stdin)))')" \
		"$(python3 -c "print(sorted([('$one', ('my/app', 'other')), ('$two', ('app:1.0',))]))")"
	is "$(image inspect "sha256:$two" | head -n 1)" "hash          $two"
	is "$(image ls | wc -l)" 4
	exits 3 image inspect nosuch
	exits 3 image inspect "${one:0:5}"
	exits 3 image inspect 000000000000
	exits 3 image rm nosuch
	for bad in '' -x .x a/../b 'a b' 'ä' host "$one" "$(printf 'n%.0s' {1..200})"; do exits 2 image tag "$one" -- "$bad"; done
	exits 5 image rm "$one"
	like "$(cat err)" 'viv: *2 tags*'
	exits 0 image rm my/app
	exits 3 image inspect my/app
	exits 0 image inspect other
	exits 0 image rm other
	exits 3 image inspect "$one"
	is "$(image ls -q)" "$two"
	exits 0 image tag app:1.0 again
	exits 0 image rm -f "$two"
	is "$(image ls -q)" ''
	is "$(image ls --json)" ''
}
check 'tags: by name, hash and the start of a hash; removing @r' names

collects() {
	here_is_the_store
	mkdir a b
	echo shared >a/s
	echo shared >b/s
	echo of-a >a/f
	echo of-b >b/f
	image import -q -t a a
	image import -q -t b b
	is "$(find "$store/objects" -type f | wc -l)" 3 'objects of both'
	exits 0 image gc
	like "$(cat out)" 'removed 0 objects*'
	image rm a
	exits 0 image gc
	like "$(cat out)" 'removed 1 object *'
	exits 0 image verify
	image export b | tar -xOf - s f >got
	is "$(sort got | tr '\n' ' ')" 'of-b shared '
	# A disk's list of layers keeps its image.
	mkdir -p "$store/disks/d1"
	echo "1 $(image ls -q) 0 base" >"$store/disks/d1/tree"
	exits 5 image rm b
	like "$(cat err)" 'viv: *d1*'
	rm -r "$store/disks"
	# So does one that has it open.
	flock -F -s "$store/images/$(image ls -q)" sleep 300 &
	sleeper=$!
	soon fuser_is "$store/images/$(image ls -q)"
	exits 5 image rm b
	like "$(cat err)" 'viv: *in use*'
	kill "$sleeper"
	wait "$sleeper" || true
	exits 0 image rm b
	image gc -q
	is "$(find "$store/objects" "$store/images" "$store/tags" ! -type d)" '' 'all is gone'
}
fuser_is() { ! flock -n -x "$1" true; }
# On a file system of its own, which has no place for one more file: what is removed needs none.
full() {
	python3 -c 'import os; os.mkdir("t"); [open("t/%d" % i, "wb").write(b"%d" % i) for i in range(300)]'
	own_vivd
	# shellcheck disable=SC2016
	unshare -rm sh -ec 'trap "\"$0\" daemon stop" EXIT
		mount -t tmpfs -o nr_inodes=1250,size=20M tmpfs data
		"$0" image import -q -t t t
		rm -rf u; cp -r t u; for f in u/*; do echo more >>"$f"; done
		for i in refused again; do ! "$0" image import -q u || exit 1; done
		test "$(find data/vivarium/objects -type f | wc -l)" = 300
		i=0; while touch "data/$i" 2>/dev/null; do i=$((i + 1)); done
		"$0" image ls >out
		"$0" image rm t
		"$0" image gc
		test -z "$(find data/vivarium/tmp data/vivarium/images data/vivarium/tags -mindepth 1)"' "$VIV" >log 2>&1 || { cat log; return 1; }
	is "$(grep -c 'No space left' log)" 2
	is "$(tail -n 1 log)" "$(printf 'removed 300 objects (1.2 MB) and 0 abandoned imports')"
}
check 'a full disk: an import says so and leaves nothing, an image can be removed @r' full

untagged() {
	here_is_the_store
	mkdir a b c d
	for i in a b c d; do echo $i >$i/f; done
	a=$(image import -q -t a a) b=$(image import -q b) c=$(image import -q c) d=$(image import -q d)
	mkdir -p "$store/disks/d1"
	echo "1 $c 0 base" >"$store/disks/d1/tree"
	flock -F -s "$store/images/$d" sleep 300 &
	sleeper=$!
	soon fuser_is "$store/images/$d"
	exits 0 image gc
	is "$(image ls -q | wc -l)" 4 'without being asked to'
	exits 0 image gc --untagged
	like "$(cat out)" $'removed 1 image\nremoved 1 object *'
	is "$(image ls -q | sort)" "$(printf '%s\n' "$a" "$c" "$d" | sort)" 'tagged, of a disk, in use'
	kill "$sleeper"
	wait "$sleeper" || true
	rm -r "$store/disks"
	exits 0 image gc --untagged -q
	is "$(cat out)" ''
	is "$(image ls -q)" "$a"
	exits 0 image verify
}
check 'gc: images without a tag, when that is asked for @r' untagged

check 'gc: what is used stays, the rest goes @r' collects

damages() {
	here_is_the_store
	mkdir t
	echo one >t/1
	echo two >t/2
	echo three >t/3
	hash=$(image import -q t)
	exits 0 image verify
	is "$(tail -n 1 out)" '1 image, 3 objects: 0 damaged'
	object=$(find "$store/objects" -name "$(printf 'two\n' | sha256sum | cut -c 3-64)")
	chmod u+w "$object"
	printf X | dd of="$object" conv=notrunc status=none
	exits 1 image verify
	is "$(grep -c ^damaged: out)" 2 'the object, and the image that has it'
	rm "$store/images/$hash/o/00/0"
	exits 1 image verify "$hash"
	is "$(grep -c ^damaged: out)" 2
	chmod u+w "$store/images/$hash/index"
	printf '\377' | dd of="$store/images/$hash/index" bs=1 seek=300 conv=notrunc status=none
	exits 1 image verify -q
	like "$(cat out)" '*index is not what it was*'
	truncate -s 100 "$store/images/$hash/index"
	exits 1 image verify
	exits 1 image inspect "$hash"
	like "$(cat err)" 'viv: *damaged*'
	rm "$store/images/$hash/index"
	exits 1 image verify
	exits 1 image inspect "$hash"
	like "$(cat err)" 'viv: *damaged*'
	exits 1 image ls
	image rm "$hash"
	is "$(image import -q t)" "$hash"
	exits 0 image verify
	rm -f "$store/images/$hash/index"
	# The same import again puts a whole one in its place, unless somebody uses it.
	flock -F -s "$store/images/$hash" sleep 300 &
	sleeper=$!
	soon fuser_is "$store/images/$hash"
	exits 5 image import t
	like "$(cat err)" 'viv: *damaged*in use*'
	kill "$sleeper"
	wait "$sleeper" || true
	is "$(image import -q t)" "$hash"
	exits 0 image verify "$hash"
	is "$(cat out)" '1 image, 3 objects: 0 damaged'
	rm "$store/images/$hash/o/01/1"
	image import -q t
	exits 0 image verify
	exits 0 image rm "$hash"
	exits 0 image verify
	is "$(cat out)" '0 images, 0 objects: 0 damaged'
}
# A large file, its duplicate, a small one: each object is for everybody to read. Stores that have others are found and mended.
readable() {
	here_is_the_store
	mkdir t
	head -c 3000000 /dev/urandom >t/1
	cp t/1 t/2
	echo small >t/3
	image import -q -t t t
	is "$(find "$store/objects" -type f ! -perm 0444)" ''
	small=$(find "$store/objects" -type f -size -1000c)
	chmod 600 "$small"
	exits 1 image verify
	like "$(cat out)" '*: cells cannot read it (mode 0600); *--repair*1 damaged'
	exits 1 image verify t
	exits 0 image verify --repair
	like "$(cat out)" 'repaired: *1 image, 2 objects: 0 damaged, 1 repaired'
	like "$("$VIV" events --no-follow --since 0)" '*image.repaired*objects=1*'
	chmod 600 "$small"
	exits 0 image verify --repair --json t
	like "$(cat out)" '{*"repaired":1,"problems":\[\],"repairs":\[*'
	exits 0 image verify
	chmod 600 "$small"
	mkdir u
	echo small >u/x
	image import -q u
	is "$(stat -c %a "$small")" 444 'the next import that has it'
}
check 'import, verify: objects are readable for every cell @r' readable

damaged_tags() {
	here_is_the_store
	mkdir t
	echo one >t/1
	hash=$(image import -q -t a/b t)
	image tag a/b c
	exits 0 image verify
	sed -i s/^./g/ "$store/tags/c"
	exits 1 image verify
	like "$(cat out)" "damaged: *tag 'c'*"$'\n*: 1 damaged'
	exits 1 image inspect c
	exits 0 image rm c
	exits 0 image verify
	exits 0 image inspect a/b
	printf '%064d\n' 0 >"$store/tags/c"
	: >"$store/tags/a%2Fb"
	exits 1 image verify --json
	is "$(python3 -c 'import json,sys; print(*(d.get("damage", "")[:13] for d in map(json.loads, open("out"))), sep="|")')" "the tag 'a/b'|the tag 'c' n|"
	exits 0 image rm c
	exits 0 image tag "$hash" a/b
	exits 0 image verify
}
check 'verify: tags that are damaged, or of nothing @r' damaged_tags
check 'verify: every kind of damage is found @r' damages

work_is_gone() { [[ -z $(ls -A "$store/tmp") ]]; }
interrupts() {
	here_is_the_store
	python3 -c 'import os; os.mkdir("t"); [open("t/%d" % i, "wb").write(os.urandom(6000)) for i in range(500)]'
	tar -cf t.tar t
	for signal in INT TERM KILL; do
		for at in 100000 1500000 3000000; do
			mkfifo pipe
			"$VIV" image import -q -t t - <pipe >out 2>err &
			import=$!
			exec 9>pipe
			head -c "$at" t.tar >&9
			sleep 0.1
			kill -"$signal" "$import"
			[[ $signal == KILL ]] || kill -"$signal" "$import" 2>/dev/null || true
			status=0
			wait "$import" || status=$?
			exec 9>&-
			is "$status" $((128 + $(kill -l $signal))) "status after $signal"
			rm pipe
			# vivd notices that its client is gone.
			soon work_is_gone
			store_is_empty
			is "$(image ls -q)" '' "images after $signal at $at"
		done
	done
	# What the killed ones left goes with the next import.
	hash=$(image import -q t.tar)
	is "$(ls -A "$store/tmp")" '' 'work of the killed'
	exits 0 image verify
	image rm "$hash"
	exits 0 image gc
	is "$(find "$store/objects" -type f)" ''
}
check 'import: interrupted at any time, nothing is half there @r' interrupts

# The second try stores what the first one could not; what is refused leaves nothing, nor what no name leads to at the end.
resumes() {
	here_is_the_store
	python3 -c 'import os; os.mkdir("t"); [open("t/%d" % i, "wb").write(os.urandom(6000)) for i in range(500)]'
	tar -cf t.tar t
	mkfifo pipe
	"$VIV" image import -q - <pipe >out 2>err &
	import=$!
	exec 9>pipe
	head -c 2000000 t.tar >&9
	stored() { (($(find "$store/objects" -type f 2>/dev/null | wc -l) > 200)); }
	soon stored
	kill -INT "$import"
	status=0
	wait "$import" || status=$?
	exec 9>&-
	is "$status" 130
	soon work_is_gone
	find "$store/objects" -type f -printf '%P %T@\n' | sort >first
	# One of them as a crash may have left it.
	torn=$(find "$store/objects" -type f | head -n 1)
	chmod u+w "$torn"
	printf torn | dd of="$torn" conv=notrunc status=none
	image import -q -t t t.tar
	find "$store/objects" -type f -printf '%P %T@\n' | sort >second
	is "$(comm -12 first second | wc -l)" $(($(wc -l <first) - 1)) 'objects that were there'
	is "$(wc -l <second)" 500
	exits 0 image verify
	head -c 2000000 /dev/urandom >new
	tar --append -f t.tar new
	truncate -s -1000000 t.tar
	exits 1 image import t.tar
	find "$store/objects" -type f -printf '%P %T@\n' | sort >third
	cmp second third
	tar -cf twice.tar new
	echo other >new
	tar --append -f twice.tar new
	image import -q twice.tar
	is "$(find "$store/objects" -type f | wc -l)" 501 'objects with one more that counts'
}
check 'import: what was interrupted is gone on with, what was refused leaves nothing @r' resumes

together() {
	here_is_the_store
	python3 -c 'import os; os.mkdir("t"); [open("t/%d" % i, "wb").write(b"%d" % (i % 300) * 500) for i in range(1000)]'
	tar -C t -cf t.tar .
	want=$(image import -q t)
	image rm "$want"
	for round in 1 2 3; do
		for i in 1 2 3; do image import -q t.tar >"out$i" 2>"err$i" & done
		image import -q -t "tag$round" t >out4 2>err4 &
		image gc -q &
		image gc -q &
		wait
		for i in 1 2 3; do is "$(cat "out$i" "err$i")" "$(image import -q t.tar)"; done
		is "$(cat out4 err4)" "$(image ls -q)"
		exits 0 image verify
		[[ $round == 3 ]] || image rm -f "$want"
	done
	is "$(image ls -q | wc -l)" 1
	is "$(ls -A "$store/tmp")" ''
}
check 'import: several at once and gc beside them @r' together

# ---- container images, Nix, Debian ----

containers() {
	here_is_the_store
	python3 "$E2E_DIR/containers.py" c
	cd c
	want=$(image import -q -t app plain)
	for f in gz zst first plain.tar gz.tar docker.tar docker-gz.tar docker-links.tar crane.tar jib.tar; do
		is "$(image import -q "$f")" "$want" "$f"
	done
	is "$(image import -q - <docker.tar)" "$want" 'by a pipe'
	is "$(gzip <docker.tar | image import -q -)" "$want" 'a compressed archive of it'
	is "$(image import -q --ref one many)" "$want" 'one of several, through an index of platforms'
	[[ $(image import -q --ref two many) != "$want" ]]
	exits 5 image import many
	like "$(cat err)" "viv: *2 images*--ref* of 'one', 'two'"
	exits 1 image import --ref three many
	exits 5 image import two.tar
	like "$(cat err)" "viv: *2 images*--ref* of 'app:1', 'app:2'"
	is "$(image import -q --ref app:2 two.tar)" "$want" 'one of several of an archive'
	is "$(image import -q --format docker unpacked)" "$want" 'an archive that was unpacked'
	for f in docker oci; do is "$(image import -q --format $f docker.tar)" "$want" "--format $f"; done
	image export app >app.tar
	python3 "$E2E_DIR/containers.py" --compare app.tar
	is "$(image inspect app --json | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["config"], sort_keys=True))')" \
		'{"architecture": "amd64", "cmd": ["arg", ""], "entrypoint": ["/bin/tool", "-x"], "env": ["PATH=/bin", "B=\u00e4"], "labels": {"a": "x=y", "z": "1"}, "os": "linux", "ports": ["80/tcp"], "stopsignal": "SIGINT", "user": "nobody:123", "volumes": ["/v"], "workdir": "/etc"}'
	# Out and in again, configuration and all.
	image export app --format oci -o layout
	is "$(image import -q layout)" "$want" 'an exported layout'
	image export app --format oci -o again
	diff -r layout again
	exits 5 image export app --format oci -o layout
	exits 2 image export app --format oci
	# As it is, when that is asked for.
	image import -q --format tar -t raw docker.tar
	is "$(image export raw | tar -tf - | grep -c layer.tar)" 3
}
check 'container images: layers, whiteouts, configuration, in and out again @r' containers

bad_containers() {
	here_is_the_store
	python3 "$E2E_DIR/containers.py" c
	cd c
	for f in bad-config bad-docker-digest.tar bad-docker-digest-gz.tar; do refused "$f" '*digest it should have'; done
	refused bad-layer '?*'
	refused bad-missing '*cannot be opened*'
	refused bad-link '*cannot be opened*'
	refused bad-arch '*linux/arm64*'
	refused bad-dotdot "*'..'"
	refused bad-json '*broken JSON*'
	refused bad-digest '*not a SHA-256 digest'
	refused bad-loop '*no image*'
	refused bad-none.tar '*no image*'
	for f in bad-parts bad-names; do refused "$f.tar" '*leads out of*'; done
	refused bad-crane.tar '*digest it should have'
	# Whoever says that it is one is not given something else.
	for f in web blobs; do refused "$f.tar" '*looks like a container image, but*; --format tar takes it as it is'; done
	tar -cf plain-root.tar plain
	for f in docker oci; do exits 1 image import --format $f plain-root.tar; done
	for f in plain-root.tar ../c; do
		exits 1 image import --ref one "$f"
		like "$(cat err)" '*not a container image; --ref does not fit'
	done
	for f in docker oci; do exits 1 image import --format $f ../c; done
	store_is_empty
	image import -q --format tar web.tar
	image rm "$(image ls -q)"
	exits 0 image gc
	is "$(find "$store/objects" -type f)" '' 'objects'
}
check 'container images: wrong digests and other lies are refused @r' bad_containers

# As docker uses it.
configured() {
	here_is_the_store
	mkdir -p root/bin root/etc
	cp /bin/busybox root/bin/busybox
	for f in sh id env pwd echo stat sleep; do ln -s busybox root/bin/$f; done
	printf 'root:x:0:0::/root:/bin/sh\napp:x:500:501::/home/app:/bin/sh\n' >root/etc/passwd
	printf 'root:x:0:\napp:x:501:\nmore:x:600:app\n' >root/etc/group
	tar -C root --owner=0 --group=0 -cf root.tar .
	says() { # configuration, wanted output, options and words of run
		rm -rf layout
		python3 "$E2E_DIR/containers.py" --configured layout root.tar "$1"
		image import -q -t c layout >/dev/null
		is "$(viv --image c "${@:3}" 2>&1)" "$2" "$1 ${*:3}"
	}
	says '{"Entrypoint": ["echo", "a"], "Cmd": ["b", ""]}' 'a b '
	says '{"Entrypoint": ["echo", "a"], "Cmd": ["b"]}' 'a x' -- x
	says '{"Entrypoint": ["echo", "a"], "Cmd": ["b"]}' '' --entrypoint echo
	says '{"Entrypoint": [""], "Cmd": ["echo", "b"]}' b
	says '{"Entrypoint": null, "Cmd": ["echo", "b"]}' b
	says '{"Cmd": ["sh", "-c", "id; echo $HOME"], "User": "app"}' $'uid=500(app) gid=501(app) groups=600(more)\n/home/app'
	says '{"Cmd": ["id"], "User": "500:600"}' 'uid=500(app) gid=600(more)'
	says '{"Cmd": ["id"], "User": "77"}' 'uid=77 gid=0(root)'
	says '{"Cmd": ["id", "-u"], "User": "app"}' 0 --user root
	says '{"Cmd": ["sh", "-c", "echo $A $B"], "Env": ["A=1", "B=2", "NONE", "A=3"]}' '3 b' --env B=b
	says '{"Cmd": ["pwd"], "WorkingDir": "/etc"}' /etc
	says '{"Cmd": ["pwd"], "WorkingDir": "/etc"}' /bin --workdir /bin
	# It is made, and root's; what cannot be made is told.
	says '{"Cmd": ["sh", "-c", "pwd; stat -c %u:%g:%a ."], "WorkingDir": "/a/b", "User": "app"}' $'/a/b\n0:0:755'
	says '{"Cmd": ["pwd"], "WorkingDir": "srv/x"}' /srv/x
	says '{"Cmd": ["pwd"], "WorkingDir": "/etc/passwd"}' 'viv: working directory /etc/passwd: Not a directory'
	says '{"Cmd": ["pwd"], "WorkingDir": "/a/b"}' 'viv: working directory /c: No such file or directory' --workdir /c
	says '{"Cmd": ["sh", "-c", "trap \"echo usr1; exit\" USR1; while :; do sleep 0.1; done"], "StopSignal": "SIGUSR1"}' $'usr1\nviv: the time is up' --timeout 6s
}
check 'container images: what a cell takes of their configuration @r' configured

nix_closure() {
	here_is_the_store
	export HOME=$PWD/home
	mkdir -p home src
	echo 'hello from nix' >src/data
	printf '#!/bin/sh\necho run\n' >src/tool
	chmod +x src/tool
	ln -s data src/link
	one=$(nix-store --store "$PWD/root" --add src 2>/dev/null)
	two=$(nix-store --store "$PWD/root" --add src/data 2>/dev/null)
	nix-store --store "$PWD/root" --query --requisites "$one" "$two" 2>/dev/null | sed "s|^|$PWD/root|" >list
	is "$(wc -l <list)" 2
	hash=$(image import -q --format nix -t n list)
	is "$(image import -q --format nix - <list)" "$hash"
	is "$(image export n | tar -xOf - "${one#/}/data" "${two#/}")" $'hello from nix\nhello from nix'
	is "$(image export n | tar -tvf - "${one#/}/link" "${one#/}/tool" | awk '{ print $1, $2 }' | tr '\n' ' ')" 'lrwxrwxrwx 0/0 -r-xr-xr-x 0/0 '
	# Nix links equal files when it likes; the image does not depend on it.
	nix-store --store "$PWD/root" --optimise 2>/dev/null
	is "$(image import -q --format nix list)" "$hash" 'after nix-store --optimise'
	echo /etc/passwd >list
	exits 1 image import --format nix list
	echo /nix/store/nosuchpath-x >list
	exits 3 image import --format nix list
	: >list
	exits 1 image import --format nix list
}
check 'Nix: a closure appears under /nix/store @r' nix_closure

# Two whole installations take minutes: with E2E_BOOTSTRAP=1.
bootstraps() {
	here_is_the_store
	LIMIT=900
	one=$(image bootstrap bookworm --variant apt -q -t deb)
	image rm deb
	image gc -q
	is "$(image bootstrap bookworm --variant apt -q)" "$one" 'the second one'
	image export "$one" | tar -tf - >list
	grep -qx usr/bin/apt-get list
	exits 0 image verify -q
}
bootstrap_usage() {
	here_is_the_store
	exits 2 image bootstrap
	exits 2 image bootstrap 'book worm'
	exits 2 image bootstrap bookworm --include 'a;b'
	PATH=/nowhere exits 1 "$VIV" image bootstrap bookworm
	like "$(cat err)" '*install the package*'
	mkdir bin
	printf '#!/bin/sh\necho "E: no such thing" >&2\nexit 7\n' >bin/mmdebstrap
	chmod +x bin/mmdebstrap
	PATH=$PWD/bin:$PATH exits 1 image bootstrap bookworm
	like "$(cat err)" 'E: no such thing*viv: mmdebstrap failed*'
	import_is_over
	store_is_empty
	printf '#!/bin/sh\necho "$SOURCE_DATE_EPOCH $*" >%s/args\nmkdir r; echo x >r/f; tar -C r -c .; exit "${STATUS-0}"\n' "$PWD" >bin/mmdebstrap
	PATH=$PWD/bin:$PATH exits 0 image bootstrap trixie --include a,b --variant custom --mirror http://m.invalid/debian -t t
	like "$(image inspect t --json)" '*"/bin/bash"*'
	like "$("$VIV" events --no-follow --since 0)" '*image.created*tag=t*'
	is "$(cat args)" '315619200 --format=tar --variant=custom --include=a,b --quiet trixie - deb http://m.invalid/debian trixie main'
	image rm t
	rm -r r
	# It does not go on when nobody waits for it.
	printf '#!/bin/sh\ntrap "echo ended >%s/ended; exit 1" TERM\necho $$ >%s/pid\nwhile :; do sleep 0.1; done\n' "$PWD" "$PWD" >bin/mmdebstrap
	flock -F -x "$store/lock" sleep 300 &
	sleeper=$!
	PATH=$PWD/bin:$PATH "$VIV" image bootstrap trixie --mirror http://m.invalid/debian 2>err &
	bootstrap=$!
	lock_waits() { grep -q -- "-> FLOCK.*:$(stat -c %i "$store/lock") " /proc/locks; }
	soon lock_waits
	soon test -s pid
	kill -TERM "$bootstrap"
	status=0
	wait "$bootstrap" || status=$?
	is "$status" 143
	soon test -e ended
	kill "$sleeper"
	wait "$sleeper" || true
	import_is_over
	printf '#!/bin/sh\nmkdir r; echo x >r/f; tar -C r -c .; exit "${STATUS-0}"\n' >bin/mmdebstrap
	STATUS=3 PATH=$PWD/bin:$PATH exits 1 image bootstrap trixie
	import_is_over
	store_is_empty
}
check 'bootstrap: how mmdebstrap is used, and what its failure says @r' bootstrap_usage
if [[ -n ${E2E_BOOTSTRAP-} ]]; then
	check 'bootstrap: two installations of Debian give one hash @r' bootstraps
else
	skip 'bootstrap: two installations of Debian give one hash @r' 'takes minutes; E2E_BOOTSTRAP=1 runs it'
fi

# ---- bad input ----

hostile() {
	here_is_the_store
	mkdir outside archives
	OUTSIDE=$PWD/outside python3 "$E2E_DIR/archives.py" archives
	cd archives
	for f in dotdot dotdot-inside dotdot-dir control; do refused "$f.tar" "*'..'"; done
	for f in link-out link-dotdot link-self; do refused "$f.tar" '*hard link to*not in the archive*'; done
	refused link-directory.tar '*hard link to a directory'
	refused link-loop.tar '*symbolic links*'
	refused device-wrong.tar '*device that does not exist'
	for f in sparse-8e sparse-1t; do LIMIT=5 refused "$f.tar" '*--max-size*'; done
	refused sparse-back.tar '*not in order'
	for f in cut-data cut-header size-lies; do refused "$f.tar" '*runcated*'; done
	refused cut-end.tar '*cut off*'
	refused cut.tar.gz '*runcated*'
	refused member-cut.tar.gz '*runcated*'
	for f in method block; do refused "member-$f.tar.gz" '*gzip stream is damaged*'; done
	for f in crc length bit; do refused "$f.tar.gz" '*gzip checksum*'; done
	for f in name-300 name-4096; do refused "$f.tar" '*names of at most 255'; done
	refused path-5000.tar '*4096 are possible'
	for f in uid uid-negative; do refused "$f.tar" '*owner that does not exist*'; done
	for f in size-negative size-8e longname pax-long root-file checksum empty text random; do refused "$f.tar" '?*'; done
	refused empty-name.tar '*without a name'
	refused xattr-large.tar '*attribute*'
	for f in pax-malformed pax-1M; do refused "$f.tar" '*header of*damaged*'; done
	for f in empty text; do refused "$f.tar" 'it is not a tar archive, or a broken one*'; done
	exits 1 image import -q --max-size 32M bomb.tar.gz
	like "$(cat err)" '*--max-size*'
	exits 1 image import -q --max-entries 1000 devices.tar
	like "$(cat err)" '*--max-entries*'
	store_is_empty
	is "$(ls -A ../outside)" '' 'files outside'
}
check 'hostile archives: refused with one line, nothing written outside @r' hostile

harmless() {
	here_is_the_store
	mkdir outside archives
	OUTSIDE=$PWD/outside python3 "$E2E_DIR/archives.py" archives
	for f in absolute through-link devices duplicates sparse-1g path-4090 utf8-ustar utf8-pax utf8-link xattr-many zeros good; do
		LIMIT=20 image import -q -t "$f" "archives/$f.tar"
	done
	for f in members behind; do is "$(image import -q "archives/$f.tar.gz")" "$(image import -q archives/good.tar)" "$f"; done
	exits 0 image verify
	is "$(image export absolute | tar -tf -)" $'./\nabs/\nabs/x'
	is "$(ls -A outside)" '' 'files outside'
	is "$(image export through-link | tar -xOf - "${PWD#/}/outside/evil" outside/evil)" evilevil
	is "$(image export duplicates | tar -tf - | tr '\n' ' ')" './ f g/ g/h '
	is "$(image export duplicates | tar -xOf - f g/h)" lastbelow
	is "$(image export devices | tar -tvf - | grep -c '^brw')" 2000
	is "$(image inspect sparse-1g --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["size"])')" 1073741824
	object=$(find "$store/objects" -size +1M -printf '%s %b\n' | awk '$1 == 1073741824 { print $2 }')
	((object < 1000)) || { echo "a sparse file takes $object blocks"; return 1; }
	is "$(image export utf8-pax | tar -tf - --quoting-style=escape | tail -n 1)" 'bad-\377\376\200-name'
	is "$(image inspect utf8-pax | head -n 1)" "$(image inspect utf8-ustar | head -n 1)"
	is "$(image inspect zeros --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["directories"])')" 1
}
check 'odd archives: imported harmlessly @r' harmless

million() {
	here_is_the_store
	local limit=(prlimit --as=$((700 << 20)))
	# A sanitized program reserves terabytes.
	! grep -q libasan "${VIV%/*}/viv-store" || limit=()
	python3 "$E2E_DIR/archives.py" --many 1000000 |
		"${limit[@]}" timeout 240 "$VIV" image import -q -t many - >out
	is "$(image inspect many --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["files"])')" 1000000
	# Its index is searched in place: nothing of it is read but what is asked for.
	exits 0 image verify many
}
check 'an archive of a million files, in bounded memory' million

usage() {
	here_is_the_store
	exits 2 image
	exits 2 image frobnicate
	exits 2 image import
	exits 2 image import a b
	exits 2 image import --frob .
	exits 2 image import --max-size x .
	exits 2 image import --owner root .
	exits 2 image import --tag
	exits 2 image tag x
	exits 2 image import --tag 'a b' .
	exits 3 image import nosuchfile
	exits 0 image --help
	exits 0 image import --help
	like "$(cat out)" '*--max-size*'
	XDG_DATA_HOME=relative exits 1 image ls
	like "$(cat err)" 'viv: XDG_DATA_HOME*'
	XDG_DATA_HOME=$PWD/data/nothing exits 0 image ls
	XDG_DATA_HOME='' HOME=$PWD/home exits 0 image ls
	[[ -d home/.local/share/vivarium ]]
	is "$(stat -c %a home/.local/share/vivarium)" 700
	touch file
	XDG_DATA_HOME=$PWD/file exits 1 image ls
	like "$(cat err)" 'viv: *file/vivarium*XDG_DATA_HOME*'
	mkdir t
	touch t/f
	image import -q --owner 7:8 -t owned t
	is "$(image export owned | tar --numeric-owner -tvf - | awk '{ print $2 }' | sort -u)" 7/8
	mkfifo t/fifo
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("t/sock")'
	exits 0 image import t
	like "$(cat err)" 'viv: *t/sock*socket*'
}
check 'usage: mistakes are answered in one line and with 2 @r' usage
