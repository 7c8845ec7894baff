# S3 mounts, with a server that does what few do (s3server.py). What a real one does is in tests/toolchains/s3.sh. shellcheck shell=bash

# The server of a test ends with it.
serve() { # options
	python3 "$E2E_DIR/s3server.py" port log "$@" &
	server=$!
	at_end 'kill $server'
	soon test -s port
}
s3() { # options and command of viv run
	AWS_ACCESS_KEY_ID=who AWS_SECRET_ACCESS_KEY=secretword viv --s3-endpoint "http://127.0.0.1:$(cat port)" "$@"
}

# Also where the server cannot say where the next page of the newer form begins.
pages() {
	serve "$@"
	is "$(s3 --mount s3://b:/s -- sh -c 'ls /s/many | wc -l; ls /s/many | sort -u | wc -l; cat /s/many/f01199; cat /s/many/f00600.d/x')" $'1201\n1201\n1199x'
	is "$(s3 --mount s3://b/many:/s -- sh -c 'ls /s | wc -l')" 1201 'the mounted directory itself'
}
check 'a directory of 1,201 entries @r' pages
check 'a directory of 1,201 entries, of a server that has the older form alone @r' pages --older

unkind() {
	serve
	exits 1 s3 --mount s3://b:/s -- cat /s/stale
	like "$(cat err)" '*Stale file handle*' 'an object that changes all the time'
	exits 2 s3 --mount s3://b:/s -- ls /s/cut
	like "$(cat err)" '*Input/output error*' 'half of a listing'
	exits 1 s3 --mount s3://b:/s -- cp /etc/hostname /s/full
	like "$(cat err)" '*No space left on device*' 'a full server'
	exits 1 s3 --mount s3://b:/s -- python3 -c 'open(b"/s/a\xff", "w")'
	like "$(cat err)" '*Invalid or incomplete multibyte*' 'a name that no key can be'
	exits 1 s3 --mount s3://b:/s -- python3 -c 'open(b"/s/a\xff")'
	like "$(cat err)" '*No such file*'
}
check 'answers that make no sense are errors @r' unkind

# What is only read is not waited for.
hanging() {
	serve
	AWS_ACCESS_KEY_ID=who AWS_SECRET_ACCESS_KEY=x "$VIV" run --s3-endpoint "http://127.0.0.1:$(cat port)" --mount s3://b:/s -- cat /s/hang &
	local pid=$!
	soon grep -qs 'GET hang' log
	kill "$pid"
	soon gone "$pid"
}
check 'a cell ends although the server does not answer @r' hanging

names() {
	serve
	is "$(s3 --mount s3://b/in:/s -- sh -c 'echo 1 >/s/a; mkdir /s/d; mv /s/a /s/d/b; cat /s/d/b /s/../etc/hostname; ls /s/.. | grep -c many; echo x >"/s/odd +%2F?&#;\"<é"; ls /s')" $'1\ncell\n0\nd\nodd +%2F?&#;"<é'
	is "$(grep -v ' in/' log | sort -u)" 'GET ' 'keys outside of the prefix'
	is "$(s3 --mount s3://b/in:/s -- sh -c 'cat "/s/odd +%2F?&#;\"<é"; env; cat /proc/*/environ /proc/mounts /proc/*/cmdline' | tr '\0' '\n' | grep -a -c -e secretword -e who)" 0 'the secret in the cell'
}
check 'keys: odd ones, and none outside of the prefix @r' names

# What the cell did since a listing was asked for counts, not the listing.
late() {
	serve
	is "$(s3 --mount s3://b:/s -- sh -c 'ls /s/late >first & echo new >/s/late/new; rm /s/late/old; mv /s/late/older /s/moved; test -e /s/go; wait; cat first; echo; ls /s/late; cat /s/late/new')" $'new\n\nnew\nnew'
}
check 'a listing that is older than a change @r' late

# A call that waits for the server is run again, and still shown once.
traced() {
	serve
	s3 --trace --mount s3://b/in:/s -- sh -c 'echo 1 >/s/a; mkdir /s/d; mv /s/a /s/d/b; cat /s/d/b; rm /s/d/b' 2>trace
	is "$(grep -E -- '-> [a-z]* ?[a-z]* "/s/' trace | sed 's/^[^>]*> //')" 'create file "/s/a"
open "/s/a"
create directory "/s/d"
rename file "/s/a" to "/s/d/b"
open "/s/d/b"
remove file "/s/d/b"'
}
check 'a trace of calls that wait for the server' traced
